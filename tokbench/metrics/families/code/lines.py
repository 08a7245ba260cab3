"""Lines of code, and the white space they begin with."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin import Shard, Spans, find_spans, shard_bytes

__all__ = ["Lines", "lines_of"]

_LINE_STARTS: Final = re.compile(rb"(?m)^[ \t]*(?=[^\s])")
_TAB, _SPACE = 9, 32
_SMALLEST_UNIT: Final = 2
"""One column more is no level: so begin the further lines of ``/* */``."""


class Lines(NamedTuple):
    """The lines that are not blank.

    Attributes:
        margins: the tabs and spaces that each begins with, which may be none.
        tabs, spaces: int64[l], how many of either.
        levels: int64[l], the depth of indentation: tabs, or spaces by the document's unit, rounded down; 0 if mixed.
    """

    margins: Spans
    tabs: NDArray[np.int64]
    spaces: NDArray[np.int64]
    levels: NDArray[np.int64]


def lines_of(shard: Shard) -> Lines:
    r"""The lines of a shard, found once.

    >>> from tokbench.plugin import Document
    >>> text = "if x:\n  y\n\n  if z:\n    w\n\tv\n"
    >>> lines = lines_of(Shard("c", "python", 0, [Document(text, "python", "0", "c:1")], by_key=False))
    >>> lines.spaces.tolist(), lines.tabs.tolist(), lines.levels.tolist()
    ([0, 2, 2, 4, 0], [0, 0, 0, 0, 1], [0, 1, 1, 2, 1])
    """
    return shard.cached("lines of code", lambda: _find(shard))


def _find(shard: Shard) -> Lines:
    margins = find_spans(shard, _LINE_STARTS)
    before = np.concatenate([[0], np.cumsum(shard_bytes(shard) == _TAB)])
    tabs = before[margins.ends] - before[margins.starts]
    spaces = margins.ends - margins.starts - tabs
    ends = np.searchsorted(margins.documents, np.arange(len(shard)), side="right")[:-1]
    lines = zip(np.split(spaces, ends), np.split(tabs, ends), strict=True)
    units = np.array([_unit(*each) for each in lines], dtype=np.int64)
    by_spaces = spaces // units[margins.documents]
    return Lines(margins, tabs, spaces, np.where(tabs == 0, by_spaces, np.where(spaces == 0, tabs, 0)))


def _unit(spaces: NDArray[np.int64], tabs: NDArray[np.int64]) -> int:
    """How many spaces a level of a document has: the most frequent step to the right from one line to the next."""
    steps = np.diff(spaces[tabs == 0])
    steps = steps[steps >= _SMALLEST_UNIT]
    return int(np.argmax(np.bincount(steps))) if len(steps) else _SMALLEST_UNIT
