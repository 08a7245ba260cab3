"""The theme of operators and delimiters of several characters: the share that is not cut."""

from __future__ import annotations

import re
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.words.find import Spans
from tokbench.measuring.counted import TOKEN_PLACES, Counts
from tokbench.measuring.encoded_shard import EncodedShard
from tokbench.measuring.metric import Metric
from tokbench.measuring.spans import cuts
from tokbench.plugin.metrics import Shard, find_spans, shard_bytes, sum_by_document

OPERATORS: Final = {
    "comparison": "== != <= >= === !== <=> <>",
    "assignment": "+= -= *= /= %= &= |= ^= **= //= <<= >>= ||= &&= ??= :=",
    "arrow": "-> => <- |>",
    "logic": "&& || ??",
    "arithmetic": "** // << >> ++ --",
    "path": ":: ?. .. ... ..=",
    "delimiter": "/* */ /** <!-- --> </ /> \"\"\" ''' #! ${ #{",
}

_CLASS: Final = {operator.encode(): kind for kind, listed in OPERATORS.items() for operator in listed.split()}


def _pattern() -> re.Pattern[bytes]:
    """Match the longest operator, unless its first or last character goes on, as in ``=====``."""
    listed = sorted(_CLASS, key=lambda operator: (-len(operator), operator))
    parts = (
        b"(?<!%b)%b(?!%b)" % (re.escape(operator[:1]), re.escape(operator), re.escape(operator[-1:]))
        for operator in listed
    )
    # Most places are ruled out by two characters, which makes the search thirty times as fast.
    first, second = (re.escape(bytes(sorted({operator[k] for operator in listed}))) for k in (0, 1))
    return re.compile(b"(?=[%b][%b])(?:%b)" % (first, second, b"|".join(parts)))


_PATTERN: Final = _pattern()


def _find(shard: Shard) -> tuple[Spans, NDArray[np.int64]]:
    spans = find_spans(shard, _PATTERN)
    data, kinds = shard_bytes(shard).tobytes(), list(OPERATORS)
    operators = (data[start:end] for start, end in zip(spans.starts.tolist(), spans.ends.tolist(), strict=True))
    return spans, np.fromiter(
        (kinds.index(_CLASS[operator]) for operator in operators), dtype=np.int64, count=len(spans.starts)
    )


def count(encoded: EncodedShard) -> Counts:
    """Count operators by class, and how they are cut."""
    spans, kinds = encoded.shard.cached("operators", lambda: _find(encoded.shard))
    whole = cuts(encoded, spans) == 0
    # White space around an operator may be in its token: places are compared by what is not white space before them.
    ink = encoded.shard.ink_before
    met = ink[encoded.boundaries]
    alone = whole & np.isin(ink[spans.starts], met) & np.isin(ink[spans.ends], met)
    columns = {"operators": sum_by_document(encoded, spans), "whole operators": sum_by_document(encoded, spans, whole)}
    columns["isolated operators"] = sum_by_document(encoded, spans, alone)
    for number, kind in enumerate(OPERATORS):
        columns[f"{kind} operators"] = sum_by_document(encoded, spans, kinds == number)
        columns[f"whole {kind} operators"] = sum_by_document(encoded, spans, whole & (kinds == number))
    return columns


_WHOLE: Final = "operators without a token boundary inside / operators"
_share = partial(Metric, unit="share of operators", direction="higher", needs=TOKEN_PLACES)

METRICS: Final = (
    _share("operators_whole", of=("whole operators", "operators")).means(
        _WHOLE,
        "Share of the operators and delimiters of two characters and more that lie inside one token, in code, "
        "strings and comments alike. The longest at a place counts; longer rows of one character, as in =====, "
        "do not count.",
    ),
    _share("operators_isolated", of=("isolated operators", "operators")).means(
        "operators that one token has alone, but for white space / operators",
        "Share of the operators and delimiters of two characters and more that are a token of their own.",
    ),
    *(
        _share(f"operators_whole_{kind}", of=(f"whole {kind} operators", f"{kind} operators")).means(
            f"{_WHOLE}, of {listed}", "The same for one class."
        )
        for kind, listed in OPERATORS.items()
    ),
)
