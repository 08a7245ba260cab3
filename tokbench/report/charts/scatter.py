"""Compression against speed as a picture: only geometry, the drawing is the template's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tokbench.report.cells import DisplayCell, legends
from tokbench.report.charts.axis import Axis, Tick
from tokbench.report.charts.labels import Box, Label, place
from tokbench.report.escaping import cut, plain, visible
from tokbench.report.tables import Tables
from tokbench.results.cells import Cell

__all__ = ["HEIGHT", "WIDTH", "Point", "Scatter", "scatter"]

WIDTH, HEIGHT = 960, 520
LEFT, RIGHT, TOP, BOTTOM = 56.0, 944.0, 14.0, 470.0
SHAPES = ("circle", "square", "diamond", "up", "down", "cross")
COLOURS = 8
X, Y = "encode_mb_per_s", "compression_ratio"
_LONGEST = 24
_REACH = 7.0


@dataclass(frozen=True, slots=True)
class Point:
    """One tokenizer; the bars end where its intervals end."""

    name: str
    title: str
    x: float
    y: float
    x_bar: tuple[float, float] | None
    y_bar: tuple[float, float] | None
    style: int
    shape: str
    label: Label


@dataclass(frozen=True, slots=True)
class Scatter:
    """The picture of one corpus.

    Attributes:
        corpus: its name.
        width, height, frame: of the picture, and left, top, right, bottom of its plane.
        x_ticks, y_ticks, points: what is in it.
        backends: name, number of the style, shape.
        legends: what the marks beside the names say.
        left_out: tokenizers with many unknown tokens, whose compression compares with no other.
    """

    corpus: str
    width: int
    height: int
    frame: tuple[float, float, float, float]
    x_ticks: Sequence[Tick]
    y_ticks: Sequence[Tick]
    points: Sequence[Point]
    backends: Sequence[tuple[str, int, str]]
    legends: Sequence[str]
    left_out: Sequence[str]


def scatter(tables: Tables, corpus: str) -> Scatter | None:
    """The picture of a corpus, or ``None`` where no tokenizer has both a speed and a compression."""
    x_cells, y_cells = tables.series(X, corpus).cells, tables.series(Y, corpus).cells
    both = [n for n in tables.tokenizers if x_cells[n].value and y_cells[n].value is not None]
    names = [name for name in both if not y_cells[name].unknown]
    if not names:
        return None
    pairs = {name: (_cell(tables, X, corpus, name), _cell(tables, Y, corpus, name)) for name in names}
    x_axis = _log_axis([end for cell, _ in pairs.values() for end in _ends(cell)])
    y_axis = _linear_axis([end for _, cell in pairs.values() for end in _ends(cell)])
    spots = {name: (x_axis.at(x.value or 0), y_axis.at(y.value or 0)) for name, (x, y) in pairs.items()}
    short = {name: cut(visible(name), _LONGEST) + y_cells[name].marks for name in names}
    labels = place([(*spots[name], short[name]) for name in names], Box(LEFT, TOP, RIGHT, BOTTOM))
    backends = [plain(tables.results.tokenizers.get(name, {}).get("backend", "")) for name in names]
    styles = {backend: number for number, backend in enumerate(dict.fromkeys(backends))}
    points = [
        Point(
            name=name,
            title=_title(name, backend, x_cells[name], y_cells[name]),
            x=spots[name][0],
            y=spots[name][1],
            x_bar=_bar(pairs[name][0], x_axis),
            y_bar=_bar(pairs[name][1], y_axis),
            style=styles[backend] % COLOURS,
            shape=SHAPES[styles[backend] % len(SHAPES)],
            label=label,
        )
        for name, backend, label in zip(names, backends, labels, strict=True)
    ]
    return Scatter(
        corpus=corpus,
        width=WIDTH,
        height=HEIGHT,
        frame=(LEFT, TOP, RIGHT, BOTTOM),
        x_ticks=x_axis.ticks(),
        y_ticks=y_axis.ticks(),
        points=points,
        backends=[(name, n % COLOURS, SHAPES[n % len(SHAPES)]) for name, n in styles.items()],
        legends=legends(y_cells[name] for name in names),
        left_out=[name for name in both if y_cells[name].unknown],
    )


def _cell(tables: Tables, metric: str, corpus: str, name: str) -> Cell:
    cell = tables.cell(metric, corpus, "*", name)
    assert cell is not None
    return cell


def _ends(cell: Cell) -> list[float]:
    return [end for end in (cell.ci_low, cell.value, cell.ci_high) if end is not None]


def _log_axis(values: Sequence[float]) -> Axis:
    positive = [value for value in values if value > 0]
    return Axis(min(positive) / 1.3, max(positive) * 1.5, LEFT, RIGHT, log=True)


def _linear_axis(values: Sequence[float]) -> Axis:
    # No zero line: compression starts at about 1, and the differences are what counts.
    margin = (max(values) - min(values)) * 0.06 or 0.5
    return Axis(min(values) - margin, max(values) + margin, BOTTOM, TOP)


def _bar(cell: Cell, axis: Axis) -> tuple[float, float] | None:
    if cell.ci_low is None or cell.ci_high is None:
        return None
    ends = axis.at(cell.ci_low), axis.at(cell.ci_high)
    # A bar that its own point hides is only ink.
    return ends if abs(ends[1] - ends[0]) > _REACH else None


def _title(name: str, backend: str, speed: DisplayCell, compression: DisplayCell) -> str:
    return f"{name} ({backend}): {compression.title}; {speed.title}"
