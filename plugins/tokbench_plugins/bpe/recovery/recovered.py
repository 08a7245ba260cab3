"""The candidates from which merges are recovered, and the merges that are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tokbench_plugins.bpe.vocabulary import Merge, Pair


class Candidate(NamedTuple):
    """A token that may be made of others."""

    made: int
    """Its id."""

    units: Sequence[int]
    """The ids that its text begins as: those of its bytes, or of its characters."""

    pair: Pair | tuple[()] | None = None
    """The two ids that it is merged from; ``None`` where any two will do that have its bytes together, and ``()`` where
    it is never merged."""


class WholeChunk(NamedTuple):
    """A token that no merge builds."""

    made: int
    """Its id."""

    parts: tuple[int, ...]
    """The ids that the merges of lower rank leave of its bytes."""

    rank: int
    """The number of these merges."""

    pair: Pair | tuple[()] | None = None
    """As it was given."""


class Recovered(NamedTuple):
    """The merges that an order of tokens implies."""

    merges: list[Merge]
    """(left id, right id, made id) in order of rank."""

    whole_chunks: list[WholeChunk]
    """Tokens of more than one unit that no merge builds, in order of rank."""
