"""Looks into the tree of a section."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from tokbench.report.document import Chooser, Details, Node, Pane, Rich, Section

T = TypeVar("T")


def nodes_of(place: Section | Pane | Sequence[Node], kind: type[T]) -> Iterator[T]:
    """Yield the nodes of a kind that a page shows, in their order."""
    for node in getattr(place, "nodes", place):
        if isinstance(node, kind):
            yield node
        if isinstance(node, Rich):
            yield from nodes_of(node.nodes() if callable(node.nodes) else node.nodes, kind)
        elif isinstance(node, Details):
            yield from nodes_of(node.nodes, kind)
        elif isinstance(node, Chooser):
            for pane in node.panes:
                yield from nodes_of(pane.nodes, kind)


def chooser(section: Section, name: str) -> Chooser:
    """Return a chooser of a section by its id."""
    return next(node for node in nodes_of(section, Chooser) if node.id == name)
