"""Tokenizers beside one another: tokens by jackknife group, and whether all text came back."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

from tokbench.contracts.metric import CorpusStates
from tokbench.metrics.encoded_shard import EncodedShard
from tokbench.metrics.sums import Sums
from tokbench.results.cells import WHOLE

__all__ = ["PairedSums", "shortcoming", "sums_of"]


class PairedSums:
    """The part that families share which compare tokenizers on the same documents."""

    def map(self, encoded: EncodedShard) -> Sums:
        """The sums of one shard."""
        return Sums.of(encoded.shard, tokens=encoded.tokens, lossy=~encoded.comes_back)

    def merge(self, one: Sums, other: Sums) -> Sums:
        """The sums of both."""
        return one + other

    def raw(self, state: Sums) -> Any:
        """The sums."""
        return state.raw()


def sums_of(states: CorpusStates, name: str, group: str) -> Sums | None:
    """The sums of a group, or of the whole corpus; ``None`` if it was not measured."""
    parts = [states.states.get((name, each)) for each in (states.groups if group == WHOLE else [group])]
    known = [part for part in parts if part is not None]
    return reduce(add, known) if len(known) == len(parts) else None


def shortcoming(name: str, sums: Sums | None) -> str:
    """Why a tokenizer cannot be compared with others, whose fewer tokens would be a merit; ``""`` if it can."""
    if sums is None:
        return f"{name} was not measured"
    lossy = int(sums.columns["lossy"].sum())
    if lossy:
        return f"{name} does not give {lossy:,} of {sums.documents:,} documents back: fewer tokens are no merit"
    return "" if sums.columns["tokens"].sum() else f"{name} has no tokens"
