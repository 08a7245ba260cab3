"""The merges that are known while others are recovered, and the parts that they leave of the next tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tokbench_plugins.bpe.fast.encode import merge_ids
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


class Ranks:
    """The merges that are known while others are recovered.

    Args:
        candidates: the tokens of more than one unit, in order of rank.

    Attributes:
        merges: (left id, right id, made id) in order of rank.
    """

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self.merges: list[Merge] = []
        self._candidates = candidates
        self._rank_of: dict[Pair, int] = {}
        self._made: list[int] = []
        self._built: set[int] = set()
        self._watched: set[Pair] = set()

    @property
    def known(self) -> int:
        """The number of merges so far."""
        return len(self._made)

    def built(self, token_id: int) -> bool:
        """Return True if a merge makes an id."""
        return token_id in self._built

    def add(self, left: int, right: int, made: int) -> None:
        """Add a merge."""
        self._rank_of[left, right] = len(self._made)
        self._made.append(made)
        self._built.add(made)
        self.merges.append((left, right, made))

    def watch(self, pair: Pair) -> None:
        """Watch a pair: from now on :meth:`events` yields when its merge is found."""
        self._watched.add(pair)

    def events(self) -> Iterator[tuple[Candidate, list[int]]]:
        """Go through the candidates, and add the merge of each that is left in two parts, those that it wants.

        Yields:
            those that are left in other parts; and those whose merge was just added, where its pair is watched.
        """
        for candidate in self._candidates:
            parts = merge_ids(list(candidate.units), self._rank_of, self._made)
            if len(parts) == 1:
                continue  # made already
            if not is_merged(parts, candidate.pair):
                yield candidate, parts
                continue
            self.add(parts[0], parts[1], candidate.made)
            if (parts[0], parts[1]) in self._watched:
                yield candidate, parts


def is_merged(parts: Sequence[int], pair: Pair | tuple[()] | None) -> bool:
    """Return True if parts are the two halves that a candidate is to be merged from."""
    return len(parts) == 2 and (pair is None or pair == tuple(parts))  # noqa: PLR2004 - a left and a right half
