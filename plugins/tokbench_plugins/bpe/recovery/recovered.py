"""The candidates from which merges are recovered, and the merges that are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tokbench_plugins.bpe.vocabulary import Merge, Pair


class Candidate(NamedTuple):
    """A token that may be made of others.

    Attributes:
        made: its id.
        units: the ids that its text begins as: those of its bytes, or of its characters.
        pair: the two ids that it is merged from; ``None`` where any two will do that have its bytes together, and
            ``()`` where it is never merged.
    """

    made: int
    units: Sequence[int]
    pair: Pair | tuple[()] | None = None


class WholeChunk(NamedTuple):
    """A token that no merge builds.

    Attributes:
        made: its id.
        parts: what the merges of lower rank leave of its bytes.
        rank: how many merges these are.
        pair: as it was given.
    """

    made: int
    parts: tuple[int, ...]
    rank: int
    pair: Pair | tuple[()] | None = None


class Recovered(NamedTuple):
    """The merges that an order of tokens implies.

    Attributes:
        merges: (left id, right id, made id) in order of rank.
        whole_chunks: tokens of more than one unit that no merge builds, in order of rank.
    """

    merges: list[Merge]
    whole_chunks: list[WholeChunk]
