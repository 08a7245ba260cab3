"""The theme of lines: what they cost, and what their indentation does."""

from __future__ import annotations

from typing import Final

import numpy as np

from tokbench.metrics.families.code.lines import lines_of
from tokbench.metrics.families.code.theme import Columns, Theme, Values, over, value
from tokbench.plugin import EncodedShard, Sums, sum_by_document, tokens_within

__all__ = ["THEME"]

_DEEPEST: Final = 4
_SPENT: Final = (
    "Tokens are spent on indentation if they lie in the tabs and spaces before the first character of a line and "
    "nowhere else; one that also holds the line's end or its first word costs nothing more."
)
_LEVEL: Final = (
    "A level is a tab, or as many spaces as most often come on from one line of the document to the next, two at least."
)


def _measure(encoded: EncodedShard) -> Columns:
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


def _finish(sums: Sums, n: int) -> Values:
    values = {
        "tokens_per_line": over(sums, "tokens", "lines", n),
        "indent_share": over(sums, "indentation tokens", "tokens", n, share=True),
        "indent_tokens_per_space": over(sums, "spaces tokens", "spaces of indentation", n),
    }
    for name in ("spaces", "tabs"):
        values[f"indent_{name}_per_line"] = over(sums, f"{name} tokens", f"lines indented with {name}", n)
        values[f"indent_{name}_per_level"] = over(sums, f"{name} tokens at levels", f"levels of {name}", n)
    for depth in range(1, _DEEPEST + 1):
        values[f"indent_level_{depth}"] = over(sums, f"tokens at level {depth}", f"lines at level {depth}", n)
    return values


_VALUES: Final = (
    value(
        "tokens_per_line",
        "tokens/line",
        "lower",
        "Σ tokens / Σ lines that are not blank",
        "What a line of code costs, its share of blank lines included.",
    ),
    value(
        "indent_share",
        "share of tokens",
        "lower",
        "Σ tokens within indentation / Σ tokens",
        f"Share of all tokens that is spent on indentation. {_SPENT}",
    ),
    value(
        "indent_tokens_per_space",
        "tokens/space",
        "lower",
        "Σ tokens within indentation / Σ spaces, over lines indented with spaces alone",
        f"1 if every space is a token of its own, near 0 if a run of any length is one token. {_SPENT}",
    ),
    *(
        spec
        for name in ("spaces", "tabs")
        for spec in (
            value(
                f"indent_{name}_per_line",
                "tokens/line",
                "lower",
                f"Σ tokens within indentation / Σ lines, over lines indented with {name} alone",
                f"What it costs that a line is indented with {name}. {_SPENT}",
            ),
            value(
                f"indent_{name}_per_level",
                "tokens/level",
                "lower",
                f"Σ tokens within indentation / Σ levels, over lines indented with {name} alone by a level or more",
                f"What a level of indentation costs. {_LEVEL} {_SPENT}",
            ),
        )
    ),
    *(
        value(
            f"indent_level_{depth}",
            "tokens/line",
            "lower",
            f"Σ tokens within indentation / Σ lines, over lines at level {depth}"
            + (" and deeper" if depth == _DEEPEST else ""),
            f"How the cost grows with the depth. {_LEVEL} {_SPENT}",
        )
        for depth in range(1, _DEEPEST + 1)
    ),
)

THEME: Final = Theme(_VALUES, _measure, _finish)
