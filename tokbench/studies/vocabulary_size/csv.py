"""The CSV table ``curve.csv`` of every size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from tokbench.measuring.metric import Role
from tokbench.report.csv_text import csv_text
from tokbench.report.report import Report
from tokbench.results.cells import WHOLE
from tokbench.results.reporter import ReporterSpec

if TYPE_CHECKING:
    from tokbench.report.tables import CellTables
    from tokbench.results.model import Results
    from tokbench.studies.vocabulary_size.size_lines import SizeLines

CURVE_COLUMNS = (
    "tokenizer", "corpus", "group", "vocab_size", "tokens", "compression_ratio", "ci_low", "ci_high", "fertility",
    "fertility_low", "fertility_high", "word", "entropy", "used", "gain_per_1000", "in_sample", "in_range",
)  # fmt: skip

_OF_ROW = (
    "vocab_size", "tokens", "compression_ratio", "ci_low", "ci_high", "fertility", "fertility_low", "fertility_high",
    "unit", "entropy", "used", "gain",
)  # fmt: skip


def curve_csv(results: Results) -> str:
    """Return the rows; with ``points: all``, further sizes have fewer columns."""
    from tokbench.studies.vocabulary_size.size_lines import SizeLines  # not with the list of formats

    return csv_text(CURVE_COLUMNS, _rows(SizeLines(results), Report(results).tables))


def _rows(lines: SizeLines, tables: CellTables) -> Iterator[list[Any]]:
    ratio = tables.with_role(Role.TEXT_PER_TOKEN)
    for line in lines.lines:
        for corpus in lines.corpora:
            for group in [*lines.groups(corpus), WHOLE]:
                cell = tables.cell(ratio, corpus, group, line.tokenizers[0])
                for row in _of_group(lines, line.line, corpus, group):
                    in_sample = cell.in_sample if cell else None
                    yield [line.line, corpus, group, *row, in_sample, _in_range(lines, line.line, row[0])]


def _in_range(lines: SizeLines, line: str, size: int) -> bool | None:
    sizes = lines.study.recommendation.range if lines.study.recommendation else None
    return None if sizes is None else line == sizes.line and sizes.smallest <= size <= sizes.largest


def _of_group(lines: SizeLines, name: str, corpus: str, group: str) -> Iterator[list[Any]]:
    [line] = [line for line in lines.lines if line.line == name]
    rows = {row.vocab_size: [getattr(row, column) for column in _OF_ROW] for row in lines.rows(name, corpus, group)}
    trace = lines.trace(line, corpus, group) if lines.study.points == "all" else None
    if trace is None:
        yield from rows.values()
        return
    unit = lines.rows(name, corpus, group)[0].unit
    for k, (size, tokens) in enumerate(zip(trace.sizes.tolist(), trace.tokens.tolist(), strict=True)):
        fertility = tokens / trace.words if trace.words else None
        entropy = None if trace.entropy is None else float(trace.entropy[k])
        between = [size, tokens, float(trace.ratio[k]), None, None, fertility, None, None, unit, entropy, None, None]
        yield rows.get(size, between)


SPEC: Final = ReporterSpec(
    name="curve",
    filename="curve.csv",
    render=curve_csv,
    summary="compression over vocabulary sizes, one row for each size",
)
