"""The family ``token_lengths``: the distribution of lengths of tokens."""

from __future__ import annotations

from typing import Final

import numpy as np

from tokbench.plugin import HasTokenBytes
from tokbench.plugin.metrics import EncodedShard, Metric, counted
from tokbench_research import Counts

_CLASSES: Final = {1: "at most 1", 2: "2", 3: "3", 4: "4", 5: "5 to 8", 9: "9 to 16", 17: "17 and more"}


def _count(encoded: EncodedShard, _: object) -> Counts:
    columns = {"tokens": encoded.tokens}
    if isinstance(encoded.tokenizer, HasTokenBytes):
        documents = np.repeat(np.arange(len(encoded.shard)), encoded.tokens)
        kinds = np.searchsorted([*_CLASSES][1:], encoded.loaded.byte_lengths(encoded.ids), side="right")
        for number, name in enumerate(_CLASSES.values()):
            columns[name] = np.bincount(documents[kinds == number], minlength=len(encoded.shard))
    return columns


def _metric(start: int, name: str) -> Metric:
    label = f"tokens of {name} bytes" if start > 1 else "tokens of 1 byte"
    unit, of = "share of tokens", (name, "tokens")
    return Metric(f"token_bytes_{start}", unit, "none", of=of, label=label, needs=(HasTokenBytes,)).means(
        f"tokens of {name} bytes in UTF-8 / tokens",
        "Share of the tokens of the text that have this length; the shares of all lengths add up to 1.",
    )


SPEC: Final = counted(
    "token_lengths",
    "distribution of token lengths: shares of tokens of 1, 2, 3, 4, 5 to 8, 9 to 16 and more bytes",
    _count,
    *(_metric(start, name) for start, name in _CLASSES.items()),
)
