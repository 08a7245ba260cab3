r"""``tables.tex``: the main tables and premiums for a paper, for ``\input``; they need booktabs and longtable."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

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
% In the preamble: \usepackage{{booktabs,longtable}}
% Then: \input{{tables}}
% pdfLaTeX shows letters of other scripts by their codes; LuaLaTeX and XeLaTeX show them in a font that has them.
\DeclareRobustCommand\tokbenchchar[2]{{\ifdefined\Umathchar #1\else #2\allowbreak\fi}}
"""
_INTERVALS: Final = "In brackets: 95% intervals"
_NO_CELL: Final = "--"
_LINE: Final = 340.0
"""The points of a line, in the class article; more columns become another table."""
_BETWEEN: Final = 12.0
"""Points between two columns."""
_BOLD, _SMALL = 1.15, 0.8
"""How wide bold and small text is, beside other text."""
_FIRST, _LONGEST = 130.0, 90.0
"""The widest name of a row, and of a column; longer ones are broken."""
_RUN: Final = re.compile(r"[^\W_]{1,6}|.", re.DOTALL)
"""What is not broken."""


class _Column(NamedTuple):
    """A column in LaTeX; the first line of the head may be broken."""

    head: Sequence[str]
    cells: Sequence[str]
    width: float


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
        _column(
            [column.short_label, f"({column.unit_label})" if column.unit_label else ""],
            [column.cells[name] for name in order],
            _ARROWS[column.direction],
        )
        for column in series
    ]
    return _tables(_names("tokenizer", order), columns, caption, "whole-" + corpus)


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
        _column([name], [row.cells[k][0] for row in rows], interval=False)
        for k, name in enumerate(shown_map.tokenizers)
    ]
    names = [tables.language(corpus, row.group) or group_name(row.group) for row in rows]
    return _tables(_names(what, names, _ARROWS[shown_map.direction]), columns, caption, f"{what}s-{corpus}")


def _names(head: str, names: Sequence[str], after: str = "") -> _Column:
    cells = [_broken(name, _FIRST, "right") for name in names]
    return _Column([latex_text(head) + after], cells, min(max(_width(head + "xx"), *map(_width, names)), _FIRST))


def _column(head: Sequence[str], cells: Sequence[DisplayCell], after: str = "", *, interval: bool = True) -> _Column:
    ends = [f" [{cell.interval}]" if interval and cell.interval else "" for cell in cells]
    shown = [_BOLD * _width(cell.text + cell.marks) for cell in cells]
    shown += [wide + _SMALL * _width(end) for wide, end in zip(shown, ends, strict=True)]
    first, *below = head
    width = max(min(_width(first + "xx"), _LONGEST), *shown, *map(_width, below))
    numbers = [_number(cell) + _small(end) for cell, end in zip(cells, ends, strict=True)]
    return _Column([_broken(first, _LONGEST, "left") + after, *map(latex_text, below)], numbers, width)


def _number(cell: DisplayCell) -> str:
    if cell.value is None:
        return rf"\textit{{{latex_text(cell.text)}}}" if not cell.unbound else _NO_CELL
    text = latex_text(cell.text)
    text = rf"\textbf{{{text}}}" if cell.best else text
    return text + latex_text(cell.marks)


def _small(text: str) -> str:
    return rf"{{\scriptsize{latex_text(text)}}}" if text else ""


def _width(text: str) -> float:
    """Return about how wide a text is in points, in Computer Modern of 10 points.

    >>> _width("illi"), _width("0.25"), _width("WM"), _width("я")
    (12.0, 19.5, 20.0, 40.0)
    """
    points = dict.fromkeys("iljtfrI.,:;!|'()[] ", 3.0) | dict.fromkeys("mwMW@%&", 10.0)
    shown, codes = visible(text), latex_text(text).count(r"\tokbenchchar")
    return sum(points.get(char, 7.5 if char.isupper() else 5.5) for char in shown) + 34.5 * codes


def _broken(text: str, widest: float = _LONGEST, ragged: Literal["left", "right", ""] = "") -> str:
    """Return a text in LaTeX whose wide words may be broken; ``ragged``, in a box of that width if it is wider."""
    if ragged and _width(text) <= widest:
        return latex_text(text)
    words = (_RUN.findall(word) if _width(word) > widest else [word] for word in visible(text).split(" "))
    pieces = " ".join(r"\allowbreak{}".join(map(latex_text, runs)) for runs in words)
    return rf"\parbox[t]{{{widest:g}pt}}{{\ragged{ragged}\hspace{{0pt}}{pieces}}}" if ragged else pieces


def _tables(first: _Column, columns: Sequence[_Column], caption: Sequence[str], label: str) -> str:
    """Return as many tables as it takes that none is wider than a line."""
    parts: list[list[_Column]] = [[]]
    for column in columns:
        if parts[-1] and first.width + sum(_BETWEEN + each.width for each in [*parts[-1], column]) > _LINE - _BETWEEN:
            parts.append([])
        parts[-1].append(column)
    made = []
    for number, part in enumerate(parts, 1):
        title = f"{caption[0]} ({number} of {len(parts)})" if len(parts) > 1 else caption[0]
        made.append(_table(first, part, [title, *caption[1:]], label + (f"-{number}" if number > 1 else "")))
    return "\n".join(made)


def _legend(report: Report, cells: Sequence[DisplayCell], *, intervals: bool = False) -> list[str]:
    bold = report.tables.best_legend
    shown = [_INTERVALS] if intervals and any(cell.interval for cell in cells) else []
    return [bold[0].upper() + bold[1:], *shown, *legends(cells)]


def _table(first: _Column, columns: Sequence[_Column], caption: Sequence[str], label: str) -> str:
    safe = "".join(char if char.isascii() and char.isalnum() else "-" for char in label)
    heads = zip_longest(*(column.head for column in (first, *columns)), fillvalue="")
    heading = "\n".join(" & ".join(line) + r" \\" for line in heads)
    body = "\n".join(" & ".join(row) + r" \\" for row in zip(first.cells, *(c.cells for c in columns), strict=True))
    text = " ".join(f"{_broken(sentence)}." for sentence in caption)
    return "\n".join([
        r"\begingroup\emergencystretch=9em",
        rf"\begin{{longtable}}{{l{'r' * len(columns)}}}",
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
        r"\endgroup",
        "",
    ])  # fmt: skip


SPEC = ReporterSpec(
    name="latex",
    summary="the main tables for a paper, in LaTeX with booktabs",
    filename="tables.tex",
    render=render,
)
