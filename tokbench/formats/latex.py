r"""``tables.tex``: the main tables and premiums for a paper, for ``\input``; they need booktabs and graphicx."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from tokbench.engine.reports import report_of
from tokbench.foundation.visible_text import visible
from tokbench.measuring.metric import Role
from tokbench.report.cells import legends
from tokbench.report.charts.heat import heat_map
from tokbench.report.escaping import latex_text
from tokbench.report.sections.overview import main_columns
from tokbench.results.cells import WHOLE, group_name
from tokbench.results.reporter import ReporterSpec

if TYPE_CHECKING:
    from tokbench.report.cells import DisplayCell
    from tokbench.report.report import Report
    from tokbench.results.model import Results

_ARROWS: Final = {"higher": r" $\uparrow$", "lower": r" $\downarrow$", "none": ""}
_HEAD: Final = r"""% Tables of {name}, written by tokbench.
% In the preamble: \usepackage{{booktabs,graphicx}}
% Then: \input{{tables}}; a table that is wider than a line is scaled to it.
% pdfLaTeX shows letters of other scripts by their codes; LuaLaTeX and XeLaTeX show them in a font that has them.
\DeclareRobustCommand\tokbenchchar[2]{{\ifdefined\Umathchar #1\else #2\allowbreak\fi}}
"""
_INTERVALS: Final = "In brackets: 95% intervals"
_NO_CELL: Final = "--"
_LONG: Final = 16
"""Longer words of a caption may be broken between these runs of letters."""
_RUN: Final = re.compile(r"[^\W_]{1,6}|.", re.DOTALL)


def render(results: Results) -> str:
    """Return the headline metrics of whole corpora, compression by group, and premiums by language."""
    report = report_of(results)
    name, corpora = " ".join(visible(results.name).split()), report.tables.corpora
    parts = [_HEAD.format(name=name), *(_overview(report, corpus) for corpus in corpora)]
    parts += [_by_group(report, role, corpus) for role in (Role.TEXT_PER_TOKEN, Role.PREMIUM) for corpus in corpora]
    return "\n".join(filter(None, parts))


def _overview(report: Report, corpus: str) -> str:
    series = [column for column in main_columns(report.tables) if column.corpus == corpus]
    if not series:
        return ""
    order = [name for name in series[0].ranked() if not series[0].cells[name].unbound]
    cells = [column.cells[name] for column in series for name in order]
    caption = [f"Headline metrics on {corpus}", *_legend(report, cells, intervals=True)]
    columns = [
        [
            latex_text(column.short_label) + _ARROWS[column.direction],
            latex_text(f"({column.unit_label})" if column.unit_label else ""),
            *(_number(column.cells[name], interval=True) for name in order),
        ]
        for column in series
    ]
    return _table([["tokenizer", "", *map(latex_text, order)], *columns], caption, "whole-" + corpus, heads=2)


def _by_group(report: Report, role: Role, corpus: str) -> str:
    tables = report.tables
    shown_map = heat_map(tables, corpus, tables.with_role(role))
    if not shown_map:
        return ""
    what, about, groups = "group", f"group of {corpus}", dict.fromkeys(row.group for row in shown_map.rows)
    if role == Role.PREMIUM:  # not those of scripts, which are means
        what, about = "language", f"language of {corpus}, {tables.corpus(corpus).reference} being 1"
        groups = {WHOLE: None} | dict.fromkeys(tables.corpus(corpus).groups)
    rows = [row for row in shown_map.rows if row.group in groups]
    unit = f", {shown_map.unit}" if shown_map.unit else ""
    caption = [
        f"{shown_map.label[:1].upper()}{shown_map.label[1:]}{unit}, by {about}",
        *_legend(report, [cell for row in rows for cell, _ in row.cells]),
    ]
    caption += [shown_map.left_out.removesuffix(".")] if shown_map.left_out else []
    columns = [
        [latex_text(name), *(_number(row.cells[k][0]) for row in rows)] for k, name in enumerate(shown_map.tokenizers)
    ]
    names = [latex_text(tables.language(corpus, row.group) or group_name(row.group)) for row in rows]
    return _table([[what + _ARROWS[shown_map.direction], *names], *columns], caption, f"{what}s-{corpus}")


def _number(cell: DisplayCell, *, interval: bool = False) -> str:
    if cell.value is None:
        return rf"\textit{{{latex_text(cell.text)}}}" if not cell.unbound else _NO_CELL
    text = latex_text(cell.text)
    ends = rf"{{\scriptsize{latex_text(f' [{cell.interval}]')}}}" if interval and cell.interval else ""
    return (rf"\textbf{{{text}}}" if cell.best else text) + latex_text(cell.marks) + ends


def _legend(report: Report, cells: Sequence[DisplayCell], *, intervals: bool = False) -> list[str]:
    bold = report.tables.best_legend
    shown = [_INTERVALS] if intervals and any(cell.interval for cell in cells) else []
    return [bold[0].upper() + bold[1:], *shown, *legends(cells)]


def _table(columns: Sequence[Sequence[str]], caption: Sequence[str], label: str, heads: int = 1) -> str:
    safe = "".join(char if char.isascii() and char.isalnum() else "-" for char in label)
    lines = [" & ".join(line) + r" \\" for line in zip_longest(*columns, fillvalue="")]
    words = (_RUN.findall(word) if len(word) > _LONG else [word] for word in visible(". ".join(caption)).split(" "))
    text = " ".join(r"\allowbreak{}".join(map(latex_text, runs)) for runs in words)
    return "\n".join([
        r"\begin{table}\centering\emergencystretch=9em",
        rf"\caption{{{text}.}}\label{{tab:{safe}}}",
        r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{l{'r' * (len(columns) - 1)}}}",
        r"\toprule",
        *lines[:heads],
        r"\midrule",
        *lines[heads:],
        r"\bottomrule",
        r"\end{tabular}}",
        r"\end{table}",
        "",
    ])  # fmt: skip


SPEC = ReporterSpec(
    name="latex",
    summary="the main tables for a paper, in LaTeX with booktabs",
    filename="tables.tex",
    render=render,
)
