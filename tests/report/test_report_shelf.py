"""The published studies of reports/: each belongs to a configuration, and every figure of its page stands in its tables."""

import csv
import json
import re
from pathlib import Path
from statistics import mean

import numpy as np
import pytest
from fed_tokenizers import FED, LEAST, OF_IDS, TRAINING_TOKENS, fed

from tokbench.config.suites import shipped_suites
from tokbench.results.cells import COLUMNS, WHOLE
from tokbench.studies.validity.rank_correlation import rank_correlations, rho_interval
from tokbench.studies.vocabulary_size.csv import CURVE_COLUMNS

SHELF = Path(__file__).parents[2] / "reports"
STUDIES = sorted(path.parent.name for path in SHELF.glob("*/run.json"))
PUBLISHED = sorted(path.name for path in SHELF.iterdir() if path.name in [*STUDIES, "engine_matrix"])


def page(study):
    return (SHELF / study / "README.md").read_text(encoding="utf-8")


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_list_names_every_study_and_its_command():
    text = (SHELF / "README.md").read_text(encoding="utf-8")
    assert len(STUDIES) >= 3
    for study in PUBLISHED:
        line = next(line for line in text.splitlines() if line.startswith(f"| [{study}]({study}/README.md) |"))
        assert study in line.rpartition("`python tests/helpers/")[2] or study in line.rpartition("tokbench run ")[2]


@pytest.mark.parametrize("folder", ["", *PUBLISHED])
def test_links_hold_and_pictures_are_shown(folder):
    links = re.findall(r"\]\(([^)#]+)\)", page(folder))
    for link in links:
        assert (SHELF / folder / link).exists(), link
    assert {path.name for path in (SHELF / folder).glob("*.svg")} <= set(links)


@pytest.mark.parametrize("study", PUBLISHED)
def test_a_study_is_of_a_configuration_that_ships(study):
    assert study in shipped_suites()
    if study in STUDIES:
        facts = json.loads((SHELF / study / "run.json").read_text(encoding="utf-8"))
        assert facts["configuration"] == study
        assert all(len(corpus["sha256"]) == 64 for corpus in facts["corpora"].values())


def of_both_bodies(*studies):
    """Return how alike two studies rank the same tokenizers by bits per byte, with the interval over tokenizers."""
    bits = [{}, {}]
    for by_metric, study in zip(bits, studies, strict=True):
        for row in rows(study / "table.csv"):
            if row["metric"].startswith("transformer_") and row["group"] == WHOLE:
                by_metric.setdefault(row["metric"], {})[row["tokenizer"]] = float(row["value"])
    figures = {}
    for metric, one in bits[0].items():
        other = bits[1][metric]
        assert set(one) == set(other)
        pair = [np.array([[values[name] for name in one]]) for values in (one, other)]
        rho = rank_correlations(*pair, np.ones(len(one))).rho.item()
        interval = rho_interval(np.array([rho]), len(one))
        for end, value in (("rho", interval.value), ("ci_low", interval.low), ("ci_high", interval.high)):
            figures["all", "text", "transformer", f"{metric} of both bodies, {end}"] = value
    return figures


def of_the_fed(study):
    """Return the figures of tokenizers whose ids have training tokens enough."""
    figures = {}
    if not (SHELF / study / FED).exists():
        return figures
    for row in rows(SHELF / study / FED):
        place = f"{row['class']}, {LEAST:g} training tokens an id", "text", "transformer"
        for end in ("rho", "ci_low", "ci_high"):
            figures[*place, f"{row['metric']} with {row['model']}, {end}"] = row[end]
    return figures


def of_the_ids(study):
    """Return the training tokens of every tokenizer: of a file that was made later, or of the run's own."""
    figures = {}
    for path in (SHELF / study / TRAINING_TOKENS, SHELF / study / "validity_tokenizers.csv"):
        for row in rows(path) if path.exists() else []:
            place = row["tokenizer"], "text", row.get("family", "transformer")
            figures |= {(*place, name): row[name] for name in OF_IDS[1:]}
    return figures


@pytest.mark.parametrize("study", sorted(path.parent.name for path in SHELF.glob(f"*/{FED}")))
def test_tokenizers_that_count_are_correlated_again(study):
    again = [{name: str(value) for name, value in row.items()} for row in fed(study)]
    assert rows(SHELF / study / FED) == again
    listed = {row["tokenizer"] for row in rows(SHELF / study / TRAINING_TOKENS)}
    assert listed == {row["tokenizer"] for row in rows(SHELF / study / "table.csv")}


@pytest.mark.parametrize("study", STUDIES)
def test_figures_stand_in_the_tables(study):
    table = rows(SHELF / study / "table.csv")
    assert tuple(table[0]) == COLUMNS
    known = {(row["tokenizer"], row["corpus"], row["group"], row["metric"]): row["value"] for row in table}
    if (SHELF / study / "curve.csv").exists():
        curve = rows(SHELF / study / "curve.csv")
        assert tuple(curve[0]) == CURVE_COLUMNS
        for row in curve:
            metric = f"compression_ratio at {row['vocab_size']}"
            known[row["tokenizer"], row["corpus"], row["group"], metric] = row["compression_ratio"]
    if (SHELF / study / "validity.csv").exists():
        for row in rows(SHELF / study / "validity.csv"):
            metric = f"{row['metric']} with {row['model']}"
            for end in ("rho", "ci_low", "ci_high"):
                known[row["class"], row["corpus"], row["family"], f"{metric}, {end}"] = row[end] or "nan"
    known |= of_the_fed(study) | of_the_ids(study)
    if study == "validity_narrow":
        known |= of_both_bodies(SHELF / study, SHELF / "validity")
    if (SHELF / study / "sizes.csv").exists():
        seeds = {}
        for row in rows(SHELF / study / "sizes.csv"):
            place = row["line"], row["body"], f"share {row['share']}", f"bits_per_byte at {row['vocab_size']}"
            seeds.setdefault(place, []).append(float(row["bits_per_byte"]))
        known |= {place: mean(of_seeds) for place, of_seeds in seeds.items()}
    prose, _, rest = page(study).partition("<!-- figures -->")
    lines = [line.strip("| ").split(" | ") for line in rest.partition("<!-- /figures -->")[0].strip().splitlines()[2:]]
    for *place, figure in lines:
        digits = len(figure.partition(".")[2])
        assert f"{float(known[tuple(place)]):.{digits}f}" == figure, place
    said = set(re.findall(r"(?<![\w.])-?\d+\.\d+(?!\.\d)", prose.partition("\n- ")[2]))
    assert said == {figure for *_, figure in lines}, "the page says what its table of figures has, and nothing else"


def test_the_shelf_is_small():
    files = [path for study in PUBLISHED for path in (SHELF / study).rglob("*") if path.is_file()]
    kept = [path for path in files if path.suffix in {".md", ".csv", ".svg"} or path.name == "run.json"]
    assert sum(path.stat().st_size for path in kept) < 7_000_000
