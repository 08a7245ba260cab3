"""Places labels of points so that they cover neither one another nor the points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

_CHAR, _LINE = 6.6, 13.0

_POINT = 5.5
_DIRECTIONS = ((1, 0), (1, -0.8), (1, 0.8), (-1, 0), (-1, -0.8), (-1, 0.8), (0, -1), (0, 1))
_DISTANCES = (9.0, 17.0, 28.0, 42.0, 60.0, 80.0)
_LEADER = 14.0


class Box(NamedTuple):
    """A rectangle; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: Box) -> float:
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return width * height if width > 0 and height > 0 else 0.0

    def inside(self, other: Box) -> bool:
        return (
            self.left >= other.left
            and self.top >= other.top
            and self.right <= other.right
            and self.bottom <= other.bottom
        )


@dataclass(frozen=True, slots=True)
class Label:
    """A placed label; its ``anchor`` is at ``x``, and a distant one has a leader."""

    text: str
    x: float
    y: float
    anchor: str
    leader: tuple[float, float, float, float] | None = None


def place(points: Sequence[tuple[float, float, str]], frame: Box) -> list[Label]:
    """Return a label for each ``(x, y, text)``, the most crowded points first.

    Each takes the nearest of a few dozen places where it covers nothing, else where it covers least.
    """
    dots = [Box(x - _POINT, y - _POINT, x + _POINT, y + _POINT) for x, y, _ in points]
    crowd = [sum(abs(x - a) < 90 and abs(y - b) < 40 for a, b, _ in points) for x, y, _ in points]  # noqa: PLR2004
    taken: list[Box] = []
    labels: dict[int, Label] = {}
    for number in sorted(range(len(points)), key=lambda k: -crowd[k]):
        label, box = _best_place(points[number], frame, dots, taken)
        taken.append(box)
        labels[number] = label
    return [labels[number] for number in range(len(points))]


def _best_place(
    point: tuple[float, float, str], frame: Box, dots: Sequence[Box], taken: Sequence[Box]
) -> tuple[Label, Box]:
    best: tuple[float, Label, Box] | None = None
    for distance in _DISTANCES:
        for order, direction in enumerate(_DIRECTIONS):
            label, box = _candidate(point, distance, direction)
            cost = sum(3 * box.overlap(other) for other in taken) + sum(box.overlap(dot) for dot in dots)
            cost += distance / 10 + order / 100 + (0 if box.inside(frame) else 10_000)
            if best is None or cost < best[0]:
                best = cost, label, box
    assert best is not None
    return best[1], best[2]


def _candidate(point: tuple[float, float, str], distance: float, direction: tuple[float, float]) -> tuple[Label, Box]:
    x, y, text = point
    width = _CHAR * len(text)
    at_x, at_y = x + direction[0] * distance, y + direction[1] * distance
    anchor, left = {
        1: ("start", at_x),
        -1: ("end", at_x - width),
        0: ("middle", at_x - width / 2),
    }[round(direction[0])]
    box = Box(left - 1, at_y - _LINE / 2, left + width + 1, at_y + _LINE / 2)
    leader = (x, y, round(at_x, 1), round(at_y, 1)) if distance > _LEADER else None
    return Label(text, round(at_x, 1), round(at_y + 3.8, 1), anchor, leader), box
