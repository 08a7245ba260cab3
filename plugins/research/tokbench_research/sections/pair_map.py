"""The map of pairs: a heat map with its rows in the order of a dendrogram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.foundation.visible_text import visible
from tokbench.report.charts.svg import Drawing
from tokbench.report.escaping import cut
from tokbench.results.blocks import PairMatrix

_CELL: Final = (28, 18)
_CHAR: Final = 6.6
_LONGEST: Final = 28
_TREE: Final = 170
_LEVELS: Final = 9
_NARROWEST: Final = 960


class Joint(NamedTuple):
    """A joint of a dendrogram."""

    left: int
    right: int
    """The two parts: a thing by its number, or joint k as n + k for n things."""
    height: float


def average_linkage(distances: NDArray[np.float64]) -> list[Joint]:
    """Join the two closest clusters until one is left; their distance is the mean over their things.

    This is UPGMA (Sokal and Michener 1958, "A statistical method for evaluating systematic relationships"). Of pairs at
    the same distance the first is joined.

    Args:
        distances: float64[n, n], symmetric.

    >>> average_linkage(np.array([[0, 1, 4], [1, 0, 2.0], [4, 2, 0]]))
    [Joint(left=0, right=1, height=1.0), Joint(left=2, right=3, height=3.0)]
    """
    count = len(distances)
    table = np.array(distances, dtype=np.float64)
    np.fill_diagonal(table, np.inf)
    names, sizes = list(range(count)), np.ones(count)
    joints = []
    for number in range(count - 1):
        one, other = sorted(divmod(int(table.argmin()), count))
        height = float(table[one, other])
        left, right = sorted((names[one], names[other]))
        joints.append(Joint(left, right, height))
        mean = (sizes[one] * table[one] + sizes[other] * table[other]) / (sizes[one] + sizes[other])
        table[one], table[:, one] = mean, mean
        table[other], table[:, other] = np.inf, np.inf
        table[one, one] = np.inf
        sizes[one] += sizes[other]
        names[one] = count + number
    return joints


def leaves(joints: Sequence[Joint], count: int) -> list[int]:
    """Return the things from top to bottom, so that no lines of the dendrogram cross.

    >>> leaves([Joint(0, 2, 1.0), Joint(1, 3, 2.0)], 3)
    [1, 0, 2]
    """
    parts: list[list[int]] = [[k] for k in range(count)]
    for joint in joints:
        parts.append(parts[joint.left] + parts[joint.right])
    return parts[-1]


def full_table(matrix: PairMatrix) -> NDArray[np.float64]:
    """Return float64[n, n], NaN where a pair has no number."""
    count = len(matrix.names)
    table = np.full((count, count), np.nan)
    for row, numbers in enumerate(matrix.values):
        table[row, : row + 1] = [np.nan if number is None else number for number in numbers]
        table[: row + 1, row] = table[row, : row + 1]
    return table


def pair_map(matrix: PairMatrix, labels: Sequence[str], title: str) -> Drawing:
    """Return the map of a matrix; the more alike, the stronger the colour.

    Rows follow the dendrogram, or the order of the run if a number is missing.
    """
    table = full_table(matrix)
    apart = 1 - table if matrix.likeness else table
    off = ~np.eye(len(labels), dtype=np.bool_)
    joints = [] if np.isnan(apart[off]).any() else average_linkage(apart)
    order = leaves(joints, len(labels)) if joints else list(range(len(labels)))
    wide, high = _CELL
    names = [cut(visible(labels[k]), _LONGEST) for k in order]
    left = 16 + _CHAR * max(map(len, names))
    top = 26 + 0.75 * _CHAR * max(map(len, names))
    right = left + wide * len(names)
    slant = 0.75 * _CHAR * len(names[-1])
    width = right + max(slant, _TREE + 40 if joints else 0) + 12
    drawing = Drawing(max(_NARROWEST, round(width)), round(top + high * len(names) + 24), title, css="heatmap")
    for k, name in enumerate(names):
        turned = f"translate({left + wide * (k + 0.5):.1f} {top - 6:.1f}) rotate(-45)"
        drawing.draw("text", name, transform=turned)
        drawing.text(left - 8, round(top + high * k + 13, 1), name, "end")
    _cells(drawing, matrix, (table, apart), (order, labels), (left, top))
    if joints:
        _tree(drawing, joints, order, (right + 12, top))
    return drawing


def _cells(
    drawing: Drawing,
    matrix: PairMatrix,
    tables: tuple[NDArray[np.float64], NDArray[np.float64]],
    rows: tuple[Sequence[int], Sequence[str]],
    place: tuple[float, float],
) -> None:
    (table, apart), (order, labels), (left, top), (wide, high) = tables, rows, place, _CELL
    known = apart[~np.eye(len(order), dtype=np.bool_) & ~np.isnan(apart)]
    low, span = (float(known.min()), float(np.ptp(known))) if len(known) else (0.0, 0.0)
    for line, row in enumerate(order):
        for place_of, column in enumerate(order):
            value = float(table[row, column])
            x, y = round(left + wide * place_of, 1), round(top + high * line, 1)
            if np.isnan(value):
                continue
            near = 1 - min(max((float(apart[row, column]) - low) / span, 0.0), 1.0) if span else 0.5
            interval = _interval(matrix, *sorted((row, column), reverse=True))
            title = f"{labels[row]} and {labels[column]}: {value:.3f}{interval}"
            with drawing.group(f"h{round(near * (_LEVELS - 1))}", title):
                drawing.draw("rect", x=x, y=y, width=wide - 1, height=high - 1)
                drawing.text(x + wide / 2, round(y + 13, 1), f"{value:.2f}".removeprefix("0"), "middle")


def _interval(matrix: PairMatrix, row: int, column: int) -> str:
    low, high = (ends[row][column] if ends else None for ends in (matrix.ci_low, matrix.ci_high))
    return "" if low is None or high is None else f" [{low:.3f}, {high:.3f}]"


def _tree(drawing: Drawing, joints: Sequence[Joint], order: Sequence[int], place: tuple[float, float]) -> None:
    left, top = place
    high, longest = _CELL[1], joints[-1].height or 1.0
    ends = {thing: (left, top + high * (k + 0.5)) for k, thing in enumerate(order)}
    for number, joint in enumerate(joints):
        (x1, y1), (x2, y2) = ends[joint.left], ends[joint.right]
        x = left + _TREE * joint.height / longest
        drawing.draw("path", css="tree", d=f"M{x1:.1f} {y1:.1f}H{x:.1f}V{y2:.1f}H{x2:.1f}")
        ends[len(order) + number] = x, (y1 + y2) / 2
    below = round(top + high * len(order) + 14, 1)
    drawing.text(left, below, "0")
    drawing.text(left + _TREE, below, f"distance {longest:.2f}", "middle")
