"""Repeats the correlations of a published study of validity over tokenizers whose ids have training tokens enough.

python tests/helpers/fed_tokenizers.py validity_languages RUN

The studies were measured when all tokenizers counted. RUN is a finished run of the same configuration with n-grams alone, which
tells how many training tokens the ids have; bits per byte of transformers are those of the table that is published. Two files are
written beside it: ``training_tokens.csv`` and ``fed.csv``. A study that is measured again has both in its own tables, with
intervals that take documents and trainings into account, too; those here are over tokenizers alone.
"""

import csv
import fnmatch
import sys
from pathlib import Path

import numpy as np

from tokbench.config.read import read_config
from tokbench.results.cells import WHOLE
from tokbench.studies.validity.csv import TOKENIZER_COLUMNS
from tokbench.studies.validity.options import ALL_TOKENIZERS, ValidityStudy
from tokbench.studies.validity.rank_correlation import LEAST_TOKENIZERS, rank_correlations, rho_interval

SHELF = Path(__file__).parents[2] / "reports"
TRAINING_TOKENS = "training_tokens.csv"
FED = "fed.csv"
FED_COLUMNS = ("class", "metric", "model", "tokenizers", "rho", "ci_low", "ci_high")
LEAST = ValidityStudy().least_tokens_per_id
OF_IDS = ("tokenizer", *TOKENIZER_COLUMNS[5:11])
MODELS = "transformer_"
NO_METRICS = ("tokens", "roundtrip_exact")


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(path, columns, lines):
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        table.writerows(lines)


def fed(study):
    """Return the rows of ``fed.csv``: every metric with every budget of the transformer, over sizes and within one."""
    values = {}
    for row in rows(SHELF / study / "table.csv"):
        if row["group"] == WHOLE and row["value"] and row["metric"] not in NO_METRICS:
            turned = -1 if row["metric"].startswith(("compression", "renyi")) else 1
            values.setdefault(row["metric"], {})[row["tokenizer"]] = turned * float(row["value"])
    trained = rows(SHELF / study / TRAINING_TOKENS)
    own = [row for row in trained if not row["tokenizer"].startswith("published-")]  # the others stand apart
    enough = [row["tokenizer"] for row in own if float(row["tokens_per_id"]) >= LEAST]
    classes = read_config(Path(study)).located.data["study"]["validity"]["classes"]
    return [
        row
        for name, globs in {ALL_TOKENIZERS: ["*"], **classes}.items()
        for metric in values
        for model in values
        if model.startswith(MODELS) and metric != model
        for members in [[one for one in enough if any(fnmatch.fnmatch(one, glob) for glob in globs)]]
        for row in correlation(
            values[metric], values[model], members, {"class": name, "metric": metric, "model": model}
        )
    ]


def correlation(metric, model, members, row):
    """Yield a row with its correlation, unless the tokenizers are too few or all alike."""
    both = [name for name in members if name in metric and name in model]
    if len(both) < LEAST_TOKENIZERS:
        return
    x, y = (np.array([[numbers[name] for name in both]]) for numbers in (metric, model))
    rho = rank_correlations(x, y, np.ones(len(both))).rho.item()
    if np.isfinite(rho):
        interval = rho_interval(np.array([rho]), len(both))
        ends = {"rho": interval.value, "ci_low": interval.low, "ci_high": interval.high}
        yield row | {"tokenizers": len(both)} | {name: round(value, 4) for name, value in ends.items()}


def main(study, run):
    lines = {row["tokenizer"]: row for row in rows(Path(run) / "validity_tokenizers.csv")}
    write(SHELF / study / TRAINING_TOKENS, OF_IDS, lines.values())
    write(SHELF / study / FED, FED_COLUMNS, fed(study))


if __name__ == "__main__":
    main(*sys.argv[1:])
