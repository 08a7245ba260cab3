r"""``tables.tex``: the main tables for a paper, for ``\input``; they need booktabs and longtable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from tokbench.engine.reports import report_of
from tokbench.foundation.visible_text import visible
from tokbench.measuring.metric import Role
from tokbench.report.cells import legends
from tokbench.report.charts.heat import heat_map
from tokbench.report.escaping import latex_text
from tokbench.report.sections.overview import main_columns
from tokbench.results.cells import group_name
from tokbench.results.reporter import ReporterSpec

if TYPE_CHECKING:
    from tokbench.report.cells import DisplayCell
    from tokbench.report.report import Report
    from tokbench.results.model import Results

_ARROWS: Final = {"higher": r" $\uparrow$", "lower": r" $\downarrow$", "none": ""}
_HEAD: Final = r"""% Tables of {name}, written by tokbench.
% In the preamble: \usepackage{{booktabs,longtable}}
% Then: \input{{tables}}
% Names that are not in Latin script need LuaLaTeX or XeLaTeX, and a font that has their letters.
"""
_INTERVALS: Final = "In brackets: 95% intervals"
_NO_CELL: Final = "--"
_LINE: Final = 72
"""The characters of a line; more columns become another table."""
_BETWEEN: Final = 3
_NARROWEST: Final = 6
"""Characters of a number with a mark."""


def render(results: Results) -> str:
    """Return the headline metrics of whole corpora, and compression by group."""
    report = report_of(results)
    name = " ".join(visible(results.name).split())
    parts = [_HEAD.format(name=name), *(_overview(report, corpus) for corpus in report.tables.corpora)]
    metric = report.tables.with_role(Role.TEXT_PER_TOKEN)
    parts += [_by_group(report, metric, corpus) for corpus in report.tables.corpora]
    return "\n".join(filter(None, parts))


def _overview(report: Report, corpus: str) -> str:
    columns = [column for column in main_columns(report.tables) if column.corpus == corpus]
    if not columns:
        return ""
    order = [name for name in columns[0].ranked() if not columns[0].cells[name].unbound]
    rows = [[latex_text(name), *(_number(column.cells[name]) for column in columns)] for name in order]
    cells = [column.cells[name] for column in columns for name in order]
    caption = [f"Headline metrics on {corpus}", *_legend(report, cells, intervals=True)]
    head = [["tokenizer", *(latex_text(column.short_label) + _ARROWS[column.direction] for column in columns)]]
    head += [["", *(f"({latex_text(column.unit_label)})" if column.unit_label else "" for column in columns)]]
    return _table(head, rows, caption, "whole-" + corpus)


def _by_group(report: Report, metric: str, corpus: str) -> str:
    shown_map = heat_map(report.tables, corpus, metric)
    if not shown_map:
        return ""
    unit = f", {shown_map.unit}" if shown_map.unit else ""
    caption = [f"{shown_map.label}{unit}, by group of {corpus}"]
    caption += _legend(report, [cell for row in shown_map.rows for cell, _ in row.cells])
    if shown_map.left_out:
        caption.append(shown_map.left_out.removesuffix("."))
    names = [group_name(row.group) for row in shown_map.rows]
    parts = list(_columns_that_fit(shown_map.tokenizers, _LINE - max(map(len, names))))
    tables = []
    for number, columns in enumerate(parts, 1):
        head = [["group" + _ARROWS[shown_map.direction], *(latex_text(shown_map.tokenizers[k]) for k in columns)]]
        rows = [
            [latex_text(name), *(_number(row.cells[k][0], interval=False) for k in columns)]
            for name, row in zip(names, shown_map.rows, strict=True)
        ]
        part = [f"{caption[0]} ({number} of {len(parts)})" if len(parts) > 1 else caption[0], *caption[1:]]
        tables.append(_table(head, rows, part, f"groups-{corpus}" + (f"-{number}" if number > 1 else "")))
    return "\n".join(tables)


def _columns_that_fit(names: Sequence[str], width: int) -> Iterator[range]:
    """Yield the columns of each table, one at least, whose names fit into ``width`` characters.

    >>> list(_columns_that_fit(["cl100k", "o200k", "llama3"], 20))
    [range(0, 2), range(2, 3)]
    """
    first = used = 0
    for k, name in enumerate(names):
        size = max(_NARROWEST, len(name)) + _BETWEEN
        if k > first and used + size > width:
            yield range(first, k)
            first, used = k, 0
        used += size
    yield range(first, len(names))


def _number(cell: DisplayCell, *, interval: bool = True) -> str:
    if cell.value is None:
        return rf"\textit{{{latex_text(cell.text)}}}" if not cell.unbound else _NO_CELL
    text = latex_text(cell.text)
    text = rf"\textbf{{{text}}}" if cell.best else text
    ends = rf" {{\scriptsize{{[}}{latex_text(cell.interval)}{{]}}}}" if interval and cell.interval else ""
    return text + latex_text(cell.marks) + ends


def _legend(report: Report, cells: Sequence[DisplayCell], *, intervals: bool = False) -> list[str]:
    bold = report.tables.best_legend
    shown = [_INTERVALS] if intervals and any(cell.interval for cell in cells) else []
    return [bold[0].upper() + bold[1:], *shown, *legends(cells)]


def _table(head: Sequence[Sequence[str]], rows: Sequence[Sequence[str]], caption: Sequence[str], label: str) -> str:
    safe = "".join(char if char.isascii() and char.isalnum() else "-" for char in label)
    heading = "\n".join(" & ".join(line) + r" \\" for line in head)
    body = "\n".join(" & ".join(row) + r" \\" for row in rows)
    text = " ".join(f"{latex_text(sentence)}." for sentence in caption)
    return "\n".join([
        rf"\begin{{longtable}}{{l{'r' * (len(head[0]) - 1)}}}",
        rf"\caption{{{text}}}\label{{tab:{safe}}}\\",
        r"\toprule",
        heading,
        r"\midrule",
        r"\endfirsthead",
        r"\toprule",
        heading,
        r"\midrule",
        r"\endhead",
        r"\bottomrule",
        r"\endfoot",
        body,
        r"\end{longtable}",
        "",
    ])  # fmt: skip


SPEC = ReporterSpec(
    name="latex",
    summary="the main tables for a paper, in LaTeX with booktabs",
    filename="tables.tex",
    render=render,
)
