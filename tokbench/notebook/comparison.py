"""A comparison of two runs as a notebook shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Self

from tokbench.comparison.compare import CellChange, Comparison
from tokbench.comparison.render import HEAD, ComparisonPage, texts_of
from tokbench.foundation.visible_text import visible
from tokbench.report.document import Code, Column, Inline, Name, Node, Paragraph, Row, Strong, Table
from tokbench.report.escaping import cut

_FEW, _LONGEST_LINE, _LONGEST_CELL = 8, 200, 40


@dataclass(kw_only=True, repr=False)
class NotebookComparison(Comparison):
    """A comparison that shows itself in a notebook: the value of ``tokbench.compare``.

    >>> NotebookComparison(baseline="old", other="new")
    Comparison: new against old
    Nothing to compare.
    next: .frame
    """

    @classmethod
    def of(cls, comparison: Comparison) -> Self:
        return cls(**{field.name: getattr(comparison, field.name) for field in fields(comparison)})

    def __repr__(self) -> str:
        page = ComparisonPage(self, (), 0)
        lines = [f"Comparison: {page.title}", page.summary, "next: .frame" + (", .refused" if self.refused else "")]
        return "\n".join(cut(visible(line), _LONGEST_LINE) for line in lines)

    def _repr_html_(self) -> str:
        """Return the largest changes as HTML of less than 20 kB."""
        from tokbench.report.html_nodes import HtmlNodes

        page = ComparisonPage(self, (), 0)
        refused: list[Inline] = [", ", Code(".refused")] if self.refused else []
        nodes = [
            Paragraph([Name(cut(page.title, _LONGEST_LINE), strong=True), f": {page.summary}"]),
            *(_table(heading, changes) for heading, changes in page.changes.items()),
            *(_paragraph(heading, sentences) for heading, sentences in page.facts.items()),
            Paragraph(["Next: ", Code(".frame"), *refused, "."]),
        ]
        return f'<div class="tokbench">\n{HtmlNodes().nodes(nodes)}</div>\n'


def _more(heading: str, items: Sequence[object]) -> str:
    return f"{heading}, and {len(items) - _FEW} more" if len(items) > _FEW else heading


def _table(heading: str, changes: Sequence[CellChange]) -> Node:
    rows = [
        Row([Name(cut(text, _LONGEST_CELL)) for text in texts_of(change)], named=False) for change in changes[:_FEW]
    ]
    return Table(_more(heading, changes), [Column(head) for head in HEAD], rows)


def _paragraph(heading: str, sentences: Sequence[str]) -> Node:
    shown = "; ".join(cut(sentence, _LONGEST_LINE) for sentence in sentences[:_FEW])
    return Paragraph([Strong(_more(heading, sentences)), f": {shown}."])
