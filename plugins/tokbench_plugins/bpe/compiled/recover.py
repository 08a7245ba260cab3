"""The recovery of merges, compiled: :class:`..recovery.recover.Ranks` for many candidates at a time.

Importing this file needs numba. Pairs and the ranks of their merges stand in a table of open
addressing that is never more than half full; a second one has the pairs that are watched. Long tokens are merged by
the heap of :mod:`.encode_merge`, in near-linear time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tokbench.plugin import compiled
from tokbench_plugins.bpe.compiled.encode_merge import merge_by_heap
from tokbench_plugins.bpe.compiled.hashing import GOLDEN
from tokbench_plugins.bpe.compiled.pair_tables import NO_RANK
from tokbench_plugins.bpe.vocabulary import Merge, Pair

if TYPE_CHECKING:
    from tokbench_plugins.bpe.recovery.recovered import Candidate

_EMPTY: Final = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
_LONGEST_SCANNED: Final = 256  # parts; above, the heap is faster
_ANY, _NEVER = -1, -2  # instead of the left half of a pair
_ROOM: Final = 1 << 10


@compiled
def _find(table: Any, key: Any) -> Any:
    """Return the row of a key, or the free one where it would stand."""
    mask = np.uint64(len(table) - 1)
    row = (key * GOLDEN >> np.uint64(20)) & mask
    while table[row] != key and table[row] != _EMPTY:
        row = (row + np.uint64(1)) & mask
    return row


@compiled
def _key(left: Any, right: Any) -> Any:
    return np.uint64(left) << np.uint64(32) | np.uint64(right)


@compiled
def _rank(table: Any, ranks: Any, left: Any, right: Any) -> Any:
    row = _find(table, _key(left, right))
    return np.uint32(ranks[row]) if table[row] != _EMPTY else NO_RANK


@compiled
def _add(tables: Any, left: Any, right: Any, token: Any, rank: Any) -> None:
    table, ranks, merges, built = tables
    row = _find(table, _key(left, right))
    table[row] = _key(left, right)
    ranks[row] = rank
    merges[rank, 0], merges[rank, 1], merges[rank, 2] = left, right, token
    built[token] = True


@compiled
def _merged_by_scan(parts: Any, lows: Any, count: Any, table: Any, ranks: Any, merges: Any) -> Any:
    while count > 1:
        at = 0
        for k in range(1, count - 1):
            if lows[k] < lows[at]:
                at = k
        if lows[at] == NO_RANK:
            return count
        parts[at] = merges[lows[at], 2]
        for k in range(at + 1, count - 1):
            parts[k] = parts[k + 1]
        for k in range(at, count - 2):
            lows[k] = lows[k + 1]
        count -= 1
        if at > 0:
            lows[at - 1] = _rank(table, ranks, parts[at - 1], parts[at])
        if at < count - 1:
            lows[at] = _rank(table, ranks, parts[at], parts[at + 1])
    return count


@compiled
def _merged(parts: Any, lows: Any, count: Any, table: Any, ranks: Any, merges: Any) -> Any:
    """Do all merges of some parts in place, and return how many parts are left."""
    for k in range(count - 1):
        lows[k] = _rank(table, ranks, parts[k], parts[k + 1])
    if count <= _LONGEST_SCANNED:
        return _merged_by_scan(parts, lows, count, table, ranks, merges)
    lows[count - 1] = NO_RANK
    return merge_by_heap(parts[:count], lows[:count], table, ranks, merges[:, 2], _rank)


@compiled
def _advance(first: Any, candidates: Any, tables: Any, known: Any, watched: Any, room: Any) -> Any:
    """Go through candidates up to one that is left over, or whose pair is watched.

    Returns:
        ``(candidate, parts, merges)``: where it stopped, how many parts are left there (0 at the end), and how many
        merges are known.
    """
    units, offsets, wanted, pairs = candidates
    parts, lows = room
    table, ranks, merges, _ = tables
    for k in range(first, len(wanted)):
        count = offsets[k + 1] - offsets[k]
        parts[:count] = units[offsets[k] : offsets[k + 1]]
        count = _merged(parts, lows, count, table, ranks, merges)
        if count == 1:
            continue
        left, right = parts[0], parts[1]
        as_wanted = pairs[k, 0] == _ANY or (pairs[k, 0] == left and pairs[k, 1] == right)
        if count > 2 or not as_wanted:  # noqa: PLR2004 - two halves
            return k, count, known
        _add(tables, left, right, wanted[k], known)
        known += 1
        if watched[_find(watched, _key(left, right))] != _EMPTY:
            return k, count, known
    return len(wanted), 0, known


class CompiledRanks:
    """The merges that are known while others are recovered; see :class:`..recovery.recover.Ranks`.

    Args:
        candidates: the tokens of more than one unit, in order of rank.
    """

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        lengths = np.fromiter((len(candidate.units) for candidate in candidates), np.int64, len(candidates))
        self._candidates = candidates
        self._longest = int(lengths.max(initial=0))
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        units = np.fromiter(
            chain.from_iterable(candidate.units for candidate in candidates), np.int64, int(lengths.sum())
        )
        wanted = np.fromiter((candidate.made for candidate in candidates), np.int64, len(candidates))
        pairs = np.array([_wanted(candidate.pair) for candidate in candidates], np.int64).reshape(-1, 2)
        self._arrays = units, offsets, wanted, pairs
        # There are never more merges than candidates.
        rows = 1 << (2 * len(candidates) + 2).bit_length()
        self._merges = np.zeros((len(candidates) + 1, 3), np.int64)
        self._built = np.zeros(int(wanted.max(initial=0)) + 1, np.bool_)
        self._tables = np.full(rows, _EMPTY), np.zeros(rows, np.int64), self._merges, self._built
        self._watched, self._watching = np.full(_ROOM, _EMPTY), 0
        self.known = 0

    @property
    def merges(self) -> list[Merge]:
        """See :attr:`..recovery.recover.Ranks.merges`."""
        left, right, made = self._merges[: self.known].T.tolist()
        return list(zip(left, right, made, strict=True))

    def built(self, token_id: int) -> bool:
        """See :meth:`..recovery.recover.Ranks.built`."""
        return bool(self._built[token_id])

    def add(self, left: int, right: int, made: int) -> None:
        """See :meth:`..recovery.recover.Ranks.add`."""
        _add(self._tables, left, right, made, self.known)
        self.known += 1

    def watch(self, pair: Pair) -> None:
        """See :meth:`..recovery.recover.Ranks.watch`."""
        if 2 * self._watching >= len(self._watched):
            before = self._watched[self._watched != _EMPTY]
            self._watched = np.full(2 * len(self._watched), _EMPTY)
            for key in before:
                self._watched[_find(self._watched, key)] = key
        row = _find(self._watched, _key(*pair))
        self._watching += int(self._watched[row] == _EMPTY)
        self._watched[row] = _key(*pair)

    def events(self) -> Iterator[tuple[Candidate, list[int]]]:
        """See :meth:`..recovery.recover.Ranks.events`."""
        at = 0
        parts, lows = np.zeros(self._longest, np.int64), np.zeros(self._longest, np.uint32)
        while at < len(self._candidates):
            at, count, self.known = _advance(at, self._arrays, self._tables, self.known, self._watched, (parts, lows))
            if count:
                yield self._candidates[at], parts[:count].tolist()
            at += 1


def _wanted(pair: Pair | tuple[()] | None) -> Pair:
    if pair is None:
        return _ANY, _ANY
    return pair or (_NEVER, _NEVER)
