"""The published studies of reports/: each belongs to a configuration, and every figure of its page stands in its tables."""

import json
import re
from pathlib import Path

import pytest

from tokbench.config.suites import shipped_suites

SHELF = Path(__file__).parents[2] / "reports"
STUDIES = sorted(path.parent.name for path in SHELF.glob("*/run.json"))
PUBLISHED = sorted(path.name for path in SHELF.iterdir() if path.name in [*STUDIES, "engine_matrix"])


def page(study):
    return (SHELF / study / "README.md").read_text(encoding="utf-8")


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


@pytest.mark.parametrize("study", PUBLISHED)
def test_a_study_is_of_a_configuration_that_ships(study):
    assert study in shipped_suites()
    if study in STUDIES:
        facts = json.loads((SHELF / study / "run.json").read_text(encoding="utf-8"))
        assert facts["configuration"] == study
        assert all(len(corpus["sha256"]) == 64 for corpus in facts["corpora"].values())


@pytest.mark.parametrize("study", STUDIES)
def test_prose_has_the_figures_of_its_table(study):
    prose, _, rest = page(study).partition("<!-- figures -->")
    lines = rest.partition("<!-- /figures -->")[0].strip().splitlines()[2:]
    figures = {line.strip("| ").split(" | ")[-1] for line in lines}
    assert figures == set(re.findall(r"(?<![\w.])-?\d+\.\d+(?!\.\d)", prose.partition("\n- ")[2]))
