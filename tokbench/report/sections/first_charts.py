"""The charts of the first screen, over all texts that count: ranked bars, and compression against vocabulary size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tokbench.report.answer.answer import Answer, answer_of
from tokbench.report.answer.ranking import bars, rank
from tokbench.report.answer.slices import text_slices, weighting
from tokbench.report.charts.ranked_bars import ranked_bars
from tokbench.report.charts.size_front import size_front
from tokbench.report.document import Figure, Multiples, Node
from tokbench.report.section import Chart
from tokbench.report.tables import CellTables

_BROAD_BARS, _BROAD_FRONT, _NARROW = 760, 520, 370
_BARS: Final = "Bytes per token over these texts"
_INTERVALS: Final = ", with 95% intervals of the difference from the best"
_FRONT: Final = "Is it only larger? Compression and size"


def first_charts(tables: CellTables, answer: Answer) -> list[Node]:
    """Return both charts."""
    shown = bars(tables, answer.ranking)
    broad = ranked_bars(shown, _BROAD_BARS)
    if broad is None:
        return []
    caption = _BARS + _INTERVALS * any(bar.ends for bar in shown)
    figures = [Figure(broad, caption, narrow=ranked_bars(shown, _NARROW))]
    if front := size_front(tables, shown, _BROAD_FRONT):
        figures.append(Figure(front, _FRONT, narrow=size_front(tables, shown, _NARROW)))
    return [Multiples(figures, "first")]


def first_pictures(tables: CellTables) -> Iterator[Chart]:
    """Yield both charts as pictures; of several corpora the bars of each, too."""
    answer = answer_of(tables)
    shown = bars(tables, answer.ranking)
    if chart := ranked_bars(shown, _BROAD_BARS):
        yield Chart("ranked", chart, headings=(f"Compression, all texts with {weighting(tables.results.config)}",))
    if front := size_front(tables, shown, _BROAD_FRONT):
        yield Chart("size", front, headings=("Compression and vocabulary size",))
    corpora = dict.fromkeys(corpus for part in answer.slices for corpus in part.corpora)
    for corpus in corpora if len(corpora) > 1 else ():
        ranking = rank(tables, text_slices(tables, tables.results.config.weights, corpus), tables.tokenizers)
        if chart := ranked_bars(bars(tables, ranking), _BROAD_BARS):
            yield Chart(f"ranked-{corpus}", chart, headings=(f"Compression on {corpus}",))
