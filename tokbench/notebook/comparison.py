"""A comparison of two runs as a notebook shows it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self

from tokbench.comparison.compare import Comparison
from tokbench.comparison.render import HEAD, ChangeTable, ComparisonPage, Facts
from tokbench.foundation.visible_text import visible
from tokbench.report.document import Code, Column, Inline, Name, Node, Paragraph, Row, Strong, Table
from tokbench.report.escaping import cut

_FEW, _LONGEST_LINE, _LONGEST_CELL = 8, 200, 40


@dataclass(kw_only=True, repr=False)
class NotebookComparison(Comparison):
    """A comparison that shows itself in a notebook: the value of ``tokbench.compare``."""

    @classmethod
    def of(cls, comparison: Comparison) -> Self:
        return cls(**{field.name: getattr(comparison, field.name) for field in fields(comparison)})

    def __repr__(self) -> str:
        return three_lines(self)

    def _repr_html_(self) -> str:
        return small_page(self)


def three_lines(comparison: Comparison) -> str:
    """Return the runs, the number of changes of each sort, and what to do next, in a line each.

    >>> print(three_lines(Comparison(baseline="old", other="new")))
    Comparison: new against old
    Nothing to compare.
    next: .frame
    """
    page = ComparisonPage(comparison, (), 0)
    lines = [f"Comparison: {page.title}", page.summary, "next: .frame" + ", .refused" * bool(comparison.refused)]
    return "\n".join(cut(visible(line), _LONGEST_LINE) for line in lines)


def small_page(comparison: Comparison) -> str:
    """Return the largest changes as HTML of less than 20 kB."""
    from tokbench.report.html_nodes import HtmlNodes

    page = ComparisonPage(comparison, (), 0)
    refused: list[Inline] = [", ", Code(".refused")] if comparison.refused else []
    nodes = [
        Paragraph([Name(cut(page.title, _LONGEST_LINE), strong=True), f": {page.summary}"]),
        *map(_table, page.tables),
        *map(_paragraph, page.facts),
        Paragraph(["Next: ", Code(".frame"), *refused, "."]),
    ]
    return f'<div class="tokbench">\n{HtmlNodes().nodes(nodes)}</div>\n'


def _table(table: ChangeTable) -> Node:
    more = table.more + max(len(table.rows) - _FEW, 0)
    rows = [Row([Name(cut(text, _LONGEST_CELL)) for text in row.texts], named=False) for row in table.rows[:_FEW]]
    caption = table.heading + (f", and {more} more" if more else "")
    return Table(caption, [Column(head) for head in HEAD], rows)


def _paragraph(facts: Facts) -> Node:
    sentences = "; ".join(cut(sentence, _LONGEST_LINE) for sentence in facts.sentences[:_FEW])
    more = len(facts.sentences) - _FEW
    return Paragraph([Strong(facts.heading), f": {sentences}{f'; and {more} more' if more > 0 else ''}."])
