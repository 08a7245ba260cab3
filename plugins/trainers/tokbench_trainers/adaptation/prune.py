"""Pruning: removes tokens that a text does not use, so that a model needs fewer rows of embedding and output.

Only a *leaf*, a token that no other token is merged from, can be removed; then its parts may become leaves.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from tokbench_plugins.bpe import Pair, Vocabulary, merge_ids


class Pruned(NamedTuple):
    """A vocabulary with fewer tokens."""

    vocabulary: Vocabulary
    """The remaining ids do not change."""

    removed: list[int]

    tokens: list[int]


def prune(vocabulary: Vocabulary, chunks: Mapping[str, int], n_fewer: int | None = None) -> Pruned:
    """Remove tokens: always the leaf that the text uses least, among equals the highest id.

    The 256 bytes stay. ``n_fewer=None`` removes all that the text does not need.

    >>> base = Vocabulary.trained([(108, 111), (256, 119), (257, 101), (104, 105)])  # lo, low, lowe, hi
    >>> pruned = prune(base, {"low": 3, "lot": 1})
    >>> pruned.removed, pruned.tokens, pruned.vocabulary.merges
    ([259, 258], [5, 5, 5], ((108, 111, 256), (256, 119, 257)))
    >>> prune(base, {"low": 3, "lot": 1}, 4).tokens
    [5, 5, 5, 8, 12]
    """
    text = _PrunedText(vocabulary, chunks)
    removed, tokens = list[int](), [text.size]
    total = len(vocabulary.merges) if n_fewer is None else n_fewer
    while len(removed) < total and (leaf := text.least_used(unused=n_fewer is None)) is not None:
        text.remove(leaf)
        removed.append(leaf)
        tokens.append(text.size)
    return Pruned(text.vocabulary(), removed, tokens)


class _PrunedText:
    def __init__(self, vocabulary: Vocabulary, chunks: Mapping[str, int]) -> None:
        self._before = vocabulary
        self._gone: set[int] = set()
        self._rank_of = {(left, right): rank for rank, (left, right, _) in enumerate(vocabulary.merges)}
        self._made = [made for _, _, made in vocabulary.merges]
        self._whole = {vocabulary.tokens[token_id]: token_id for token_id in vocabulary.whole_chunks}
        self._pairs = defaultdict[int, list[Pair]](list)  # from which an id is merged
        self._needed = Counter[int]()  # how many merges an id is a part of
        for left, right, made in vocabulary.merges:
            self._pairs[made].append((left, right))
            self._needed.update({left, right})
        self._chunks = [(chunk.encode(), count) for chunk, count in chunks.items()]
        self._used = Counter[int]()
        self._users = defaultdict[int, set[int]](set)  # the chunks that have an id
        for number, (chunk, count) in enumerate(self._chunks):
            for token_id in self._encode(chunk):
                self._used[token_id] += count
                self._users[token_id].add(number)
        self.size = self._used.total()
        ids = {*self._made, *vocabulary.whole_chunks}
        self._leaves = [self._entry(token_id) for token_id in ids if self._is_leaf(token_id)]
        heapq.heapify(self._leaves)

    def _encode(self, chunk: bytes) -> list[int]:
        if chunk in self._whole:
            return [self._whole[chunk]]
        return merge_ids([self._before.byte_ids[byte] for byte in chunk], self._rank_of, self._made)

    def _is_leaf(self, token_id: int) -> bool:
        removable = token_id in self._pairs or token_id in self._before.whole_chunks
        return removable and token_id not in self._gone and not self._needed[token_id]

    def _entry(self, leaf: int) -> tuple[int, int]:
        return self._used[leaf], -leaf

    def least_used(self, *, unused: bool) -> int | None:
        while self._leaves:
            entry = self._leaves[0]
            leaf = -entry[1]
            if self._is_leaf(leaf) and entry == self._entry(leaf):
                return None if unused and entry[0] else leaf
            heapq.heappop(self._leaves)
        return None

    def remove(self, leaf: int) -> None:
        changed: set[int] = set()
        users = self._users.pop(leaf, set[int]())
        before = {number: self._encode(self._chunks[number][0]) for number in users}
        self._gone.add(leaf)
        self._whole.pop(self._before.tokens[leaf], None)
        for pair in self._pairs[leaf]:
            del self._rank_of[pair]
            for part in set(pair):
                self._needed[part] -= 1
                changed.add(part)
        for number in users:
            changed.update(self._exchange(number, before[number], self._encode(self._chunks[number][0])))
        for token_id in changed:
            if self._is_leaf(token_id):
                heapq.heappush(self._leaves, self._entry(token_id))

    def _exchange(self, number: int, before: list[int], after: list[int]) -> set[int]:
        count = self._chunks[number][1]
        self.size += (len(after) - len(before)) * count
        for token_id in before:
            self._used[token_id] -= count
            self._users[token_id].discard(number)
        for token_id in after:
            self._used[token_id] += count
            self._users[token_id].add(number)
        return {*before, *after}

    def vocabulary(self) -> Vocabulary:
        gone, whole = self._gone, self._before
        return replace(
            whole,
            tokens=tuple(b"" if token_id in gone else token for token_id, token in enumerate(whole.tokens)),
            merges=tuple(merge for merge in whole.merges if merge[2] not in gone),
            whole_chunks=whole.whole_chunks - gone,
        )
