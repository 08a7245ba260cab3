"""The theme of lines: tokens of a line and its indentation."""

from __future__ import annotations

import re
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.words.find import Spans
from tokbench.measuring.counted import TOKEN_PLACES, Counts
from tokbench.measuring.encoded_shard import EncodedShard
from tokbench.measuring.metric import Metric
from tokbench.measuring.spans import tokens_within
from tokbench.plugin.metrics import Shard, find_spans, shard_bytes, sum_by_document

_LINE_STARTS: Final = re.compile(rb"(?m)^[ \t]*(?=[^\s])")
_TAB, _SPACE = 9, 32
_SMALLEST_UNIT: Final = 2
"""Lines inside ``/* */`` begin with one space."""
_DEEPEST: Final = 4
_SPENT: Final = (
    "Tokens count as indentation if they hold nothing but tabs and spaces before the first character of a "
    "line; a token that also holds a line end or the first word of the line does not count."
)
_LEVEL: Final = "A level is a tab, or the most frequent increase of indentation in the document, two spaces at least."


class Lines(NamedTuple):
    """Lines that are not blank."""

    margins: Spans
    tabs: NDArray[np.int64]
    spaces: NDArray[np.int64]
    levels: NDArray[np.int64]
    """Tabs, or spaces by the document's unit, rounded down; 0 if mixed."""


def lines_of(shard: Shard) -> Lines:
    r"""Return the lines of a shard, found once.

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
    units = np.array([_unit(*line) for line in lines], dtype=np.int64)
    by_spaces = spaces // units[margins.documents]
    return Lines(margins, tabs, spaces, np.where(tabs == 0, by_spaces, np.where(spaces == 0, tabs, 0)))


def _unit(spaces: NDArray[np.int64], tabs: NDArray[np.int64]) -> int:
    steps = np.diff(spaces[tabs == 0])
    steps = steps[steps >= _SMALLEST_UNIT]
    return int(np.argmax(np.bincount(steps))) if len(steps) else _SMALLEST_UNIT


def count(encoded: EncodedShard) -> Counts:
    """Count lines and the tokens of their indentation."""
    margins, tabs, spaces, levels = lines_of(encoded.shard)
    spent = tokens_within(encoded, margins)
    by_spaces, by_tabs = (spaces > 0) & (tabs == 0), (tabs > 0) & (spaces == 0)
    columns = {
        "lines": sum_by_document(encoded, margins),
        "tokens": np.where(encoded.token_ends.aligned, encoded.tokens, 0),
        "indentation tokens": sum_by_document(encoded, margins, spent),
    }
    for name, chosen in (("spaces", by_spaces), ("tabs", by_tabs)):
        deep = chosen & (levels > 0)
        columns |= {
            f"{name} tokens": sum_by_document(encoded, margins, spent * chosen),
            f"lines indented with {name}": sum_by_document(encoded, margins, chosen),
            f"{name} tokens at levels": sum_by_document(encoded, margins, spent * deep),
            f"levels of {name}": sum_by_document(encoded, margins, levels * deep),
        }
    columns["spaces of indentation"] = sum_by_document(encoded, margins, spaces * by_spaces)
    for depth in range(1, _DEEPEST + 1):
        here = np.minimum(levels, _DEEPEST) == depth
        columns[f"tokens at level {depth}"] = sum_by_document(encoded, margins, spent * here)
        columns[f"lines at level {depth}"] = sum_by_document(encoded, margins, here)
    return columns


_WITHIN: Final = "Σ tokens within indentation"
_lower = partial(Metric, direction="lower", needs=TOKEN_PLACES)


def _per_line(name: str) -> Metric:
    of = f"{name} tokens", f"lines indented with {name}"
    return _lower(f"indent_{name}_per_line", "tokens/line", of=of).means(
        f"{_WITHIN} / Σ lines, over lines indented with {name} alone",
        f"Tokens of indentation per line, over lines indented with {name}. {_SPENT}",
    )


def _per_level(name: str) -> Metric:
    of = f"{name} tokens at levels", f"levels of {name}"
    return _lower(f"indent_{name}_per_level", "tokens/level", of=of).means(
        f"{_WITHIN} / Σ levels, over lines indented with {name} alone by a level or more",
        f"Tokens per level of indentation. {_LEVEL} {_SPENT}",
    )


def _at_level(depth: int) -> Metric:
    of = f"tokens at level {depth}", f"lines at level {depth}"
    return _lower(f"indent_level_{depth}", "tokens/line", of=of).means(
        f"{_WITHIN} / Σ lines, over lines at level {depth}" + (" and deeper" if depth == _DEEPEST else ""),
        f"Tokens of indentation per line, by depth. {_LEVEL} {_SPENT}",
    )


METRICS: Final = (
    _lower("tokens_per_line", "tokens/line", of=("tokens", "lines")).means(
        "Σ tokens / Σ lines that are not blank", "Tokens per line of code; tokens of blank lines are included."
    ),
    _lower("indent_share", "share of tokens", of=("indentation tokens", "tokens")).means(
        f"{_WITHIN} / Σ tokens", f"Share of all tokens that are indentation. {_SPENT}"
    ),
    _lower(
        "indent_tokens_per_space", "tokens/space", of=("spaces tokens", "spaces of indentation"), headline=True
    ).means(
        f"{_WITHIN} / Σ spaces, over lines indented with spaces alone",
        f"1 if every space is a token of its own, near 0 if a run of any length is one token. {_SPENT}",
    ),
    *(metric(name) for name in ("spaces", "tabs") for metric in (_per_line, _per_level)),
    *(_at_level(depth) for depth in range(1, _DEEPEST + 1)),
)
