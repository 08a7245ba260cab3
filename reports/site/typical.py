"""Write ``typical.csv``: the range of every text metric over published vocabularies, on the shipped texts.

``python reports/site/typical.py`` runs ``typical.yaml``, three minutes of two cores, and writes the file.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import tokbench

FOLDER = Path(__file__).parent


def rows(results: tokbench.Results) -> list[tuple[str, str, str, str, str, str, str]]:
    """Return a row for each metric and corpus: the lowest value, the median and the highest, with two tokenizers."""
    table = results.frame
    table = table[(table["group"] == "*") & (table["status"] == "ok")]
    ranges = []
    for (metric, corpus), part in table.groupby(["metric", "corpus"], sort=True):
        values = part.sort_values(["value", "tokenizer"])
        low, high = values.iloc[0], values.iloc[-1]
        ends = [f"{value:.4g}" for value in (low["value"], values["value"].median(), high["value"])]
        ranges.append((metric, corpus, *ends, low["tokenizer"], high["tokenizer"]))
    return ranges


def main(arguments: list[str]) -> None:
    """Run the configuration, or read the results of a run that is named."""
    results = tokbench.Results.read(arguments[0]) if arguments else tokbench.run(FOLDER / "typical.yaml")
    with (FOLDER / "typical.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("metric", "corpus", "lowest", "median", "highest", "lowest_of", "highest_of"))
        writer.writerows(rows(results))


if __name__ == "__main__":
    main(sys.argv[1:])
