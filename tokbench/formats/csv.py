"""The tables in CSV: ``results.csv`` of all cells, ``curve.csv`` of vocabulary sizes, others of pairs."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from tokbench.report.csv_text import csv_text
from tokbench.results.cells import COLUMNS
from tokbench.results.reporter import ReporterSpec

if TYPE_CHECKING:
    from tokbench.results.model import Results

PAIR_COLUMNS = (
    "corpus", "group", "tokenizer", "other", "tokens", "tokens_other", "difference", "ci_low", "ci_high", "n", "p",
    "p_holm", "differ",
)  # fmt: skip


MATRIX_COLUMNS = ("metric", "corpus", "within", "one", "other", "value", "ci_low", "ci_high")


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


def overlap_csv(results: Results) -> str:
    """Return the overlap of every two groups, and of each with itself, by tokenizer."""
    return csv_text(MATRIX_COLUMNS, _matrix_rows(results, "groups"))


def agreement_csv(results: Results) -> str:
    """Return the agreement of every two tokenizers in each group."""
    return csv_text(MATRIX_COLUMNS, _matrix_rows(results, "tokenizers"))


def _matrix_rows(results: Results, of: str) -> Iterator[list[Any]]:
    for matrix in results.matrices:
        for row, name in enumerate(matrix.names) if matrix.of == of else ():
            for column, other in enumerate(matrix.names[: row + 1]):
                if row == column and of == "tokenizers":
                    continue
                ends = (end[row][column] if end else None for end in (matrix.ci_low, matrix.ci_high))
                yield [matrix.metric, matrix.corpus, matrix.within, other, name, matrix.values[row][column], *ends]


SPECS: Final = tuple(
    ReporterSpec(name=name, summary=summary, filename=filename, render=render)
    for name, filename, render, summary in (
        ("csv", "results.csv", results_csv, "every cell in one tidy table"),
        ("pairs", "pairs.csv", pairs_csv, "differences between every two tokenizers, in one tidy table"),
        ("overlap", "overlap.csv", overlap_csv, "numbers of every two groups under each tokenizer, in one tidy table"),
        (
            "agreement",
            "agreement.csv",
            agreement_csv,
            "numbers of every two tokenizers in each group, in one tidy table",
        ),
    )
)
