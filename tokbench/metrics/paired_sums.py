"""Sums for comparing tokenizers on the same documents: tokens, and documents that do not come back."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

from tokbench.contracts.metric import CorpusStates
from tokbench.metrics.encoded_shard import EncodedShard
from tokbench.metrics.sums import Sums
from tokbench.results.cells import WHOLE


class PairedSums:
    """The common part of the families that compare tokenizers on the same documents."""

    def map(self, encoded: EncodedShard) -> Sums:
        """Return the sums of one shard."""
        return Sums.of(encoded.shard, tokens=encoded.tokens, lossy=~encoded.comes_back)

    def merge(self, one: Sums, other: Sums) -> Sums:
        """Return the sums of both."""
        return one + other

    def raw(self, state: Sums) -> Any:
        """Return the sums as JSON data."""
        return state.raw()


def sums_of(states: CorpusStates, name: str, group: str) -> Sums | None:
    """Return the sums of a group, or of the whole corpus; ``None`` if it was not measured."""
    parts = [states.states.get((name, each)) for each in (states.groups if group == WHOLE else [group])]
    known = [part for part in parts if part is not None]
    return reduce(add, known) if len(known) == len(parts) else None


def shortcoming(name: str, sums: Sums | None) -> str:
    """Return the reason why a tokenizer cannot be compared with others, or an empty string if it can.

    A tokenizer that loses text needs fewer tokens, which is no merit.
    """
    if sums is None:
        return f"{name} was not measured"
    lossy = int(sums.columns["lossy"].sum())
    if lossy:
        return f"{name} does not give {lossy:,} of {sums.documents:,} documents back: fewer tokens are no merit"
    return "" if sums.columns["tokens"].sum() else f"{name} has no tokens"
