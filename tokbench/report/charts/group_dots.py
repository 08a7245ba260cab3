"""Dots by group: a row per language, a dot per tokenizer, the leading ones in colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tokbench.foundation.visible_text import visible
from tokbench.measuring.metric import Role
from tokbench.report.cells import Series
from tokbench.report.charts.labels import Box
from tokbench.report.charts.plane import linear_axis, log_axis
from tokbench.report.charts.svg import Axis, Drawing, Tick
from tokbench.report.escaping import cut
from tokbench.report.tables import CellTables
from tokbench.results.cells import group_name

_WIDTH, _ROW, _TOP, _BOTTOM, _LEFT, _RIGHT = 760, 20, 8, 44, 170, 745
_COLOURED: Final = 4
_FEWEST: Final = 3
_LONGEST: Final = 22


@dataclass(frozen=True, slots=True)
class GroupDots:
    """The chart of one corpus."""

    drawing: Drawing
    keys: Sequence[tuple[str, Drawing]]
    title: str


def group_dots(tables: CellTables, corpus: str) -> GroupDots | None:
    """Return the chart of a corpus; ``None`` with fewer than three groups or two tokenizers.

    It shows premiums where groups are translations, else compression, without lossy tokenizers.
    """
    premium, ratio = tables.with_role(Role.PREMIUM), tables.with_role(Role.TEXT_PER_TOKEN)
    parallel = bool(premium) and tables.corpus(corpus).parallel
    metric = premium if parallel else ratio
    if not metric:
        return None
    best = tables.in_sight(tables.series(ratio or metric, corpus).ranked())
    in_order = [name for name in tables.tokenizers if name in set(best)]
    rows = [
        tables.series(metric, corpus, group, names=in_order)
        for group in tables.groups(metric, corpus)
        if tables.is_shown(corpus, group)
    ]
    rows = [row for row in rows if any(_has_dot(row, name) for name in row.cells)]
    ranked = [name for name in best if any(_has_dot(row, name) for row in rows)]
    if len(rows) < _FEWEST or len(ranked) < 2:  # noqa: PLR2004 - one alone cannot be compared
        return None
    leading = {name: f"p{number}" for number, name in enumerate(ranked[:_COLOURED])}
    values = [row.cells[name].value or 0.0 for row in rows for name in ranked if _has_dot(row, name)]
    axis = (log_axis if parallel else linear_axis)(values, _LEFT, _RIGHT)
    what = f"{rows[0].label}, {rows[0].unit_label}"
    title = f"{what}, on {corpus}: a row a group, a dot a tokenizer; the numbers are in the tables"
    drawing = _drawn(tables, rows, leading, axis, title)
    return GroupDots(drawing, [(name, _dot(look)) for name, look in leading.items()], what)


def _has_dot(row: Series, name: str) -> bool:
    cell = row.cells[name]
    return cell.value is not None and not (cell.aside or cell.much_lost or cell.baseline)


def _drawn(tables: CellTables, rows: Sequence[Series], leading: dict[str, str], axis: Axis, title: str) -> Drawing:
    height = _TOP + len(rows) * _ROW + _BOTTOM
    drawing = Drawing(_WIDTH, height, title, css="dots")
    best = {row.group: max(row.cells[name].value or 0.0 for name in row.cells if _has_dot(row, name)) for row in rows}
    order = sorted(rows, key=lambda row: -best[row.group])
    levels = []
    for number, row in enumerate(order):
        name = group_name(row.group)
        language = tables.language(row.corpus, row.group)
        levels.append(Tick(_TOP + (number + 0.5) * _ROW, cut(visible(language or name), _LONGEST)))
    ticks = [Tick(tick.at, tick.text, strong=tick.text == "1" and axis.log) for tick in axis.ticks()]
    frame = Box(_LEFT, _TOP, _RIGHT, height - _BOTTOM)
    drawing.grid(frame, ticks, levels, titles=(f"{rows[0].label}, {rows[0].unit_label}", ""))
    for row, level in zip(order, levels, strict=True):
        # Those in colour are drawn last, above the others.
        for name in sorted(row.cells, key=lambda name: name in leading):
            if _has_dot(row, name):
                cell = row.cells[name]
                with drawing.group(leading.get(name, "p7 other"), f"{name}, {level.text}: {cell.title}"):
                    drawing.draw("circle", css="mark", cx=axis.at(cell.value or 0.0), cy=level.at, r=4)
    return drawing


def _dot(look: str) -> Drawing:
    drawing = Drawing(13, 13, css=look, origin=(-6.5, -6.5))
    drawing.draw("circle", css="mark", cx=0, cy=0, r=4)
    return drawing
