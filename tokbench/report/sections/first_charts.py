"""The charts of the first screen, per corpus: ranked bars, and compression against vocabulary size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tokbench.measuring.metric import Role
from tokbench.report.charts.ranked_bars import ranked_bars
from tokbench.report.charts.size_front import size_front
from tokbench.report.document import Chooser, Figure, Multiples, Node, Pane
from tokbench.report.section import Chart
from tokbench.report.tables import CellTables

_BROAD_BARS, _BROAD_FRONT, _NARROW = 760, 520, 370
_FRONT: Final = "Is it only larger? Compression and size"


def first_charts(tables: CellTables) -> list[Node]:
    """Return the charts of all corpora, of which a reader chooses one."""
    panes = [Pane(corpus, nodes) for corpus in tables.corpora if (nodes := _of_corpus(tables, corpus))]
    return [Chooser("Corpus of the charts", "first", panes)] if panes else []


def _of_corpus(tables: CellTables, corpus: str) -> list[Node]:
    broad, narrow = (ranked_bars(tables, corpus, width) for width in (_BROAD_BARS, _NARROW))
    if broad is None:
        return []
    unit = tables.series(tables.with_role(Role.TEXT_PER_TOKEN), corpus).unit_label.replace("/", " per ")
    intervals = "" if tables.corpus(corpus).designed else ", with 95% intervals"  # of curated texts there are none
    figures = [Figure(broad, f"{unit.capitalize()}, summed over the corpus{intervals}", narrow=narrow)]
    front, narrow_front = (size_front(tables, corpus, width) for width in (_BROAD_FRONT, _NARROW))
    if front is not None:
        figures.append(Figure(front, _FRONT, narrow=narrow_front))
    return [Multiples(figures, "first")]


def first_pictures(tables: CellTables) -> Iterator[Chart]:
    """Yield the charts of each corpus as pictures."""
    for corpus in tables.corpora:
        if bars := ranked_bars(tables, corpus, _BROAD_BARS):
            yield Chart(f"ranked-{corpus}", bars, headings=(f"Compression on {corpus}",))
        if front := size_front(tables, corpus, _BROAD_FRONT):
            yield Chart(f"size-{corpus}", front, headings=(f"Compression and vocabulary size on {corpus}",))
