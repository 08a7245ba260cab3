"""Looks into the tree of a section."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from tokbench.report.charts.svg import Drawing
from tokbench.report.document import (
    Cards,
    Chooser,
    Details,
    Figure,
    Multiples,
    Node,
    Note,
    Pane,
    Rich,
    Section,
    TokenChooser,
)

T = TypeVar("T")


def nodes_of(place: Section | Pane | Sequence[Node], kind: type[T]) -> Iterator[T]:
    """Yield the nodes of a kind that a page shows, in their order."""
    for node in getattr(place, "nodes", place):
        if isinstance(node, kind):
            yield node
        for inner in _inside(node):
            yield from nodes_of(inner, kind)


def _inside(node: Node) -> Sequence[Pane | Sequence[Node]]:
    """Return the lists of nodes that a node holds."""
    match node:
        case Rich():
            return [node.made()]
        case Details() | Note():
            return [node.nodes]
        case Chooser():
            return node.panes
        case TokenChooser():
            return node.texts
        case Cards():
            return node.cards
    return []


def chooser(section: Section, name: str) -> Chooser:
    """Return a chooser of a section by its id."""
    return next(node for node in nodes_of(section, Chooser) if node.id == name)


def drawings_of(section: Section) -> list[Drawing]:
    """Return the charts of a section; the marks in its text are none."""
    several = [chart for node in nodes_of(section, Multiples) for chart in node.pictures]
    figures = [*nodes_of(section, Figure), *(chart for chart in several if isinstance(chart, Figure))]
    return [*(figure.picture for figure in figures), *(chart for chart in several if not isinstance(chart, Figure))]
