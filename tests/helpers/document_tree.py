"""Looks into the tree of a section."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from tokbench.report import document as doc
from tokbench.report.charts.svg import Drawing

T = TypeVar("T")


def nodes_of(place: doc.Section | doc.Pane | Sequence[doc.Node], kind: type[T]) -> Iterator[T]:
    """Yield the nodes of a kind that a page shows, in their order."""
    for node in getattr(place, "nodes", place):
        if isinstance(node, kind):
            yield node
        for inner in _inside(node):
            yield from nodes_of(inner, kind)


def _inside(node: doc.Node) -> Sequence[doc.Pane | Sequence[doc.Node]]:
    """Return the lists of nodes that a node holds."""
    match node:
        case doc.Rich():
            return [node.made()]
        case doc.Details():
            return [node.nodes]
        case doc.Chooser():
            return node.panes
        case doc.TokenChooser():
            return node.texts
        case doc.Cards():
            return node.cards
    return []


def chooser(section: doc.Section, name: str) -> doc.Chooser:
    """Return a chooser of a section by its id."""
    return next(node for node in nodes_of(section, doc.Chooser) if node.id == name)


def drawings_of(section: doc.Section) -> list[Drawing]:
    """Return the charts of a section; the marks in its text are none."""
    several = [chart for node in nodes_of(section, doc.Multiples) for chart in node.pictures]
    figures = [*nodes_of(section, doc.Figure), *(chart for chart in several if isinstance(chart, doc.Figure))]
    return [*(figure.picture for figure in figures), *(chart for chart in several if not isinstance(chart, doc.Figure))]
