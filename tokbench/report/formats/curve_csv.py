"""``curve.csv``: one row for each line, corpus, group and size: the sizes asked for, or every size there is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tokbench.plugin import WHOLE, Report, ReporterSpec, Results, Role
from tokbench.report.formats.csv import table_text

COLUMNS = (
    "tokenizer", "corpus", "group", "vocab_size", "tokens", "compression_ratio", "ci_low", "ci_high", "fertility",
    "fertility_low", "fertility_high", "word", "entropy", "used", "gain_per_1000", "in_sample",
)  # fmt: skip

_OF_ROW = (
    "vocab_size", "tokens", "compression_ratio", "ci_low", "ci_high", "fertility", "fertility_low", "fertility_high",
    "unit", "entropy", "used", "gain",
)  # fmt: skip


def render(results: Results) -> str:
    """Return the rows; with ``points: all``, those between the sizes asked for have fewer columns."""
    return table_text(COLUMNS, _rows(Report(results)))


def _rows(report: Report) -> Iterator[list[Any]]:
    lines, ratio = report.size_lines, report.tables.with_role(Role.TEXT_PER_TOKEN)
    for line in lines.lines:
        for corpus in lines.corpora:
            for group in [*lines.groups(corpus), WHOLE]:
                cell = report.tables.cell(ratio, corpus, group, line.tokenizers[0])
                for row in _of_group(report, line.line, corpus, group):
                    yield [line.line, corpus, group, *row, cell.in_sample if cell else None]


def _of_group(report: Report, name: str, corpus: str, group: str) -> Iterator[list[Any]]:
    lines = report.size_lines
    [line] = [line for line in lines.lines if line.line == name]
    rows = {row.vocab_size: [getattr(row, each) for each in _OF_ROW] for row in lines.rows(name, corpus, group)}
    trace = lines.trace(line, corpus, group) if lines.found.points == "all" else None
    if trace is None:
        yield from rows.values()
        return
    unit = lines.rows(name, corpus, group)[0].unit
    for k, (size, tokens) in enumerate(zip(trace.sizes.tolist(), trace.tokens.tolist(), strict=True)):
        fertility = tokens / trace.words if trace.words else None
        entropy = None if trace.entropy is None else float(trace.entropy[k])
        between = [size, tokens, float(trace.ratio[k]), None, None, fertility, None, None, unit, entropy, None, None]
        yield rows.get(size, between)


SPEC = ReporterSpec(
    name="curve",
    summary="compression over vocabulary sizes, one row for each size",
    filename="curve.csv",
    render=render,
)
