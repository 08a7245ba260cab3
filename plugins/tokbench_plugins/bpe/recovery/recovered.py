"""The candidates from which merges are recovered, and the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tokbench_plugins.bpe.vocabulary import Merge, Pair


class Candidate(NamedTuple):
    """A token that may be made of others."""

    made: int

    units: Sequence[int]
    """The ids of its bytes or characters."""

    pair: Pair | tuple[()] | None = None
    """The two ids of its halves; ``None`` for any two with its bytes, ``()`` if it is never merged."""


class WholeChunk(NamedTuple):
    """A token that no merge builds."""

    made: int

    parts: tuple[int, ...]
    """The ids that the merges of lower rank leave of its bytes."""

    rank: int
    """The number of these merges."""

    pair: Pair | tuple[()] | None = None
    """The pair of the candidate."""


class Recovered(NamedTuple):
    """The merges that an order of tokens implies."""

    merges: list[Merge]
    """(left id, right id, made id) in order of rank."""

    whole_chunks: list[WholeChunk]
    """Tokens of several units that no merge builds, in order of rank."""
