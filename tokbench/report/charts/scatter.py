"""The charts of compression against speed and against inequality, one point per tokenizer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tokbench.foundation.visible_text import visible
from tokbench.measuring.metric import Role
from tokbench.report.cells import DisplayCell, legends
from tokbench.report.charts.labels import Box, place
from tokbench.report.charts.plane import Plane, ends_of, linear_axis, log_axis
from tokbench.report.charts.svg import COLOURS, Drawing
from tokbench.report.document import ChartKey, Figure, Node, Paragraph, legend_lines, names_line
from tokbench.report.escaping import cut, plain
from tokbench.report.tables import CellTables
from tokbench.statistics.front import pareto_front

_WIDTH, _HEIGHT, _FRAME = 960, 520, Box(56.0, 14.0, 944.0, 470.0)
_SHAPES: Final = {
    "circle": "",
    "square": "M-4-4H4V4H-4Z",
    "diamond": "M0-5.6L5.6 0 0 5.6-5.6 0Z",
    "up": "M0-5.4L5.2 4H-5.2Z",
    "down": "M0 5.4L5.2-4H-5.2Z",
    "cross": "M-5-1.8H-1.8V-5H1.8V-1.8H5V1.8H1.8V5H-1.8V1.8H-5Z",
}
_LONGEST: Final = 24
_FEWEST: Final = 2


@dataclass(frozen=True, slots=True)
class Scatter:
    """The chart of one corpus."""

    corpus: str
    drawing: Drawing
    backends: Sequence[tuple[str, Drawing]]
    legends: Sequence[str]
    left_out: Sequence[str]
    """Tokenizers that lose too much text to compare their compression."""
    more: str = ""


def scatter(tables: CellTables, corpus: str) -> Scatter | None:
    """Return the chart of a corpus; ``None`` without both a speed and a compression."""
    speed, ratio = tables.with_role(Role.ENCODING_SPEED), tables.with_role(Role.TEXT_PER_TOKEN)
    x_cells, y_cells = tables.series(speed, corpus).cells, tables.series(ratio, corpus).cells
    both = [n for n in tables.tokenizers if x_cells[n].value and y_cells[n].value is not None]
    title = f"Compression ratio against encoding speed on {corpus}; the numbers are in the tables"
    return _scatter(tables, corpus, speed, both, title, "encoding, MB/s")


def scatter_nodes(chart: Scatter, label: str) -> list[Node]:
    """Return a chart with its key and legends."""
    lossy = "Not in the chart, because they are lossy: "
    return [
        Figure(chart.drawing, [ChartKey(mark, backend) for backend, mark in chart.backends], label),
        *legend_lines(chart.legends),
        *([Paragraph(names_line(lossy, chart.left_out), "legend")] if chart.left_out else []),
        *([Paragraph(chart.more, "legend")] if chart.more else []),
    ]


def parity_chart(tables: CellTables, corpus: str) -> Scatter | None:
    """Return compression against inequality, without baselines; ``None`` for fewer than two tokenizers."""
    inequality, ratio = tables.with_role(Role.INEQUALITY), tables.with_role(Role.TEXT_PER_TOKEN)
    x_cells, y_cells = tables.series(inequality, corpus).cells, tables.series(ratio, corpus).cells
    both = [
        name
        for name in tables.tokenizers
        if x_cells[name].value is not None and y_cells[name].value is not None and not y_cells[name].baseline
    ]
    if sum(not y_cells[name].much_lost for name in both) < _FEWEST:
        return None
    label = tables.series(inequality, corpus).label
    title = f"Compression ratio against {label} on {corpus}; the line is the front; the numbers are in the tables"
    competing = [name for name in both if y_cells[name].competes and x_cells[name].competes]
    return _scatter(
        tables, corpus, inequality, both, title, f"{label}, 0: all languages need as many tokens", competing
    )


def _scatter(
    tables: CellTables,
    corpus: str,
    across: str,
    both: Sequence[str],
    title: str,
    x_title: str,
    competing: Sequence[str] | None = None,
) -> Scatter | None:
    ratio = tables.with_role(Role.TEXT_PER_TOKEN)
    x_cells, y_cells = tables.series(across, corpus).cells, tables.series(ratio, corpus).cells
    known = [name for name in both if not y_cells[name].much_lost]
    if not known:
        return None
    names = _in_sight(tables, known, x_cells, y_cells, tables.metric(across).direction)
    pairs = [(tables.whole_cell(across, corpus, name), tables.whole_cell(ratio, corpus, name)) for name in names]
    x_ends = [end for cell, _ in pairs for end in ends_of(cell)]
    axis = log_axis if competing is None else linear_axis
    y_axis = linear_axis([end for _, cell in pairs for end in ends_of(cell)], _FRAME.bottom, _FRAME.top)
    plane = Plane(_FRAME, axis(x_ends, _FRAME.left, _FRAME.right), y_axis)
    spots = [(plane.x.at(x.value or 0), plane.y.at(y.value or 0)) for x, y in pairs]
    short = [cut(visible(name), _LONGEST) + y_cells[name].marks for name in names]
    labels = place([(x, y, text) for (x, y), text in zip(spots, short, strict=True)], _FRAME)
    backends = [plain(tables.tokenizer(name).backend) for name in names]
    styles = {backend: number for number, backend in enumerate(dict.fromkeys(backends))}
    drawing = Drawing(_WIDTH, _HEIGHT, title)
    drawing.grid(_FRAME, plane.x.ticks(), plane.y.ticks(), titles=(x_title, "compression, bytes/token"))
    if competing:
        values = {name: (x.value or 0, y.value or 0) for name, (x, y) in zip(names, pairs, strict=True)}
        plane.draw_front(drawing, [values[name] for name in competing if name in values])
    for name, backend, spot, cells, label in zip(names, backends, spots, pairs, labels, strict=True):
        tooltip = f"{name} ({backend}): {y_cells[name].title}; {x_cells[name].title}"
        lossy = " lossy" if y_cells[name].lossy else ""
        with drawing.group(f"p{styles[backend] % COLOURS}{lossy}", tooltip):
            plane.draw_level_interval(drawing, spot, cells[0])
            plane.draw_upright_interval(drawing, spot, cells[1])
            drawing.label(label)  # its leader begins below the mark
            _mark(drawing, styles[backend], spot)
    left_out = [name for name in both if y_cells[name].much_lost]
    keys = [(backend, _key(style)) for backend, style in styles.items()]
    return Scatter(
        corpus, drawing, keys, legends(y_cells[name] for name in names), left_out, tables.out_of_sight(known)
    )


def _in_sight(
    tables: CellTables,
    names: Sequence[str],
    across: Mapping[str, DisplayCell],
    upright: Mapping[str, DisplayCell],
    better: str,
) -> list[str]:
    points = [(across[name].value or 0.0, upright[name].value or 0.0) for name in names]
    front = pareto_front(points, ["lower" if better == "lower" else "higher", "higher"])
    order = sorted(range(len(names)), key=lambda k: (upright[names[k]].lossy, not front[k], -points[k][1]))
    kept = set(tables.in_sight([names[k] for k in order]))
    return [name for name in names if name in kept]


def _mark(drawing: Drawing, style: int, spot: tuple[float, float]) -> None:
    path = list(_SHAPES.values())[style % len(_SHAPES)]
    if path:
        drawing.draw("path", css="mark", transform=f"translate({spot[0]} {spot[1]})", d=path)
    else:
        drawing.draw("circle", css="mark", cx=spot[0], cy=spot[1], r=4.5)


def _key(style: int) -> Drawing:
    drawing = Drawing(13, 13, css=f"p{style % COLOURS}", origin=(-6.5, -6.5))
    _mark(drawing, style, (0, 0))
    return drawing
