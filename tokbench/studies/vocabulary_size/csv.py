"""The CSV table ``curve.csv`` of every size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from tokbench.report.csv_text import csv_text
from tokbench.results.cells import WHOLE
from tokbench.results.reporter import ReporterSpec

if TYPE_CHECKING:
    from tokbench.results.model import Results

CURVE_COLUMNS = (
    "tokenizer", "corpus", "group", "vocab_size", "tokens", "compression_ratio", "ci_low", "ci_high", "fertility",
    "fertility_low", "fertility_high", "word", "entropy", "used", "gain_per_1000", "in_sample", "in_range",
)  # fmt: skip

_OF_ROW: Final = (
    "vocab_size", "tokens", "compression_ratio", "ci_low", "ci_high", "fertility", "fertility_low", "fertility_high",
    "unit", "entropy", "used", "gain",
)  # fmt: skip


def curve_csv(results: Results) -> str:
    """Return the rows."""
    return csv_text(CURVE_COLUMNS, _rows(results))


def _rows(results: Results) -> Iterator[list[Any]]:
    from tokbench.studies.vocabulary_size.size_lines import SizeLines  # not with the list of formats

    lines = SizeLines(results)
    taken = lines.study.best
    for line in lines.lines:
        for corpus in lines.corpora:
            for group in [*lines.groups(corpus), WHOLE]:
                for row in lines.rows(line.line, corpus, group):
                    inside = taken and line.line == taken.line and taken.pick.low <= row.vocab_size <= taken.pick.high
                    numbers = [getattr(row, name) for name in _OF_ROW]
                    yield [line.line, corpus, group, *numbers, lines.seen(line, corpus, group), inside]


SPEC: Final = ReporterSpec(
    name="curve",
    filename="curve.csv",
    render=curve_csv,
    needs="vocabulary_size",
    summary="compression over vocabulary sizes, one row for each size",
)
