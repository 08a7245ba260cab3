"""The tables in CSV: ``results.csv`` of all cells, ``pairs.csv`` of every two tokenizers."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Final

from tokbench.report.csv_text import csv_text
from tokbench.results.cells import COLUMNS
from tokbench.results.reporter import ReporterSpec

if TYPE_CHECKING:
    from tokbench.results.model import Results

PAIR_COLUMNS = (
    "corpus", "group", "tokenizer", "other", "tokens", "tokens_other", "difference", "ci_low", "ci_high", "n", "p",
    "p_holm", "differ",
)  # fmt: skip


def results_csv(results: Results) -> str:
    """Return the cells as a tidy table with the columns :data:`~tokbench.results.cells.COLUMNS`."""
    return csv_text(COLUMNS, map(attrgetter(*COLUMNS), results.cells))


def pairs_csv(results: Results) -> str:
    """Return the pairs of tokenizers; the one with fewer tokens comes first."""
    rows = (
        [
            *(pair.corpus, pair.group, pair.tokenizer, pair.other, *pair.tokens),
            *(pair.difference, pair.ci_low, pair.ci_high, pair.n, pair.p, pair.p_holm, str(pair.differ).lower()),
        ]
        for pair in results.pairs
    )
    return csv_text(PAIR_COLUMNS, rows)


SPECS: Final = (
    ReporterSpec(name="csv", filename="results.csv", render=results_csv, summary="every result in one tidy table"),
    ReporterSpec(
        name="pairs",
        filename="pairs.csv",
        render=pairs_csv,
        summary="differences between every two tokenizers, in one tidy table",
        needs="pairs",
    ),
)
