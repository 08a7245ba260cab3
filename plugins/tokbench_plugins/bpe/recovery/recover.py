"""The merges behind bare ranks.

When a token was made, all earlier merges had been done, on its bytes too. So encode its bytes with the merges of lower
rank: what is left are its two halves.

If more than two parts are left, no merge can build the token. An engine looks each chunk up among such tokens before
it merges.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from heapq import heappop, heappush
from itertools import accumulate, pairwise
from operator import itemgetter
from typing import Final

from tokbench.tokenizers.batch import check_highest
from tokbench_plugins.bpe.fast.encode import merge_ids
from tokbench_plugins.bpe.literal import merge_pair
from tokbench_plugins.bpe.recovery.late import GroupMerge, check_group
from tokbench_plugins.bpe.recovery.recovered import Candidate, Recovered, WholeChunk
from tokbench_plugins.bpe.recovery.stored import recovered_once
from tokbench_plugins.bpe.vocabulary import FIRST_MERGE, Merge, Pair, Vocabulary, check_bytes

_WORTH_KEEPING: Final = 32_768
"""Units of all candidates: fewer are recovered as fast as they are read from the store."""


def is_merged(parts: Sequence[int], pair: Pair | tuple[()] | None) -> bool:
    """Return True if parts are the two halves of a candidate."""
    return len(parts) == 2 and (pair is None or pair == tuple(parts))  # noqa: PLR2004 - a left and a right half


def vocabulary_of_ranks(ranks: Mapping[bytes, int]) -> Vocabulary:
    """Make the vocabulary of bare ranks, tiktoken's format; an empty token is an unused id.

    >>> ranks = {bytes([255 - i]): i for i in range(256)} | {b"hi": 300, b"hi!": 301}
    >>> vocabulary = vocabulary_of_ranks(ranks)
    >>> vocabulary.merges, vocabulary.tokens[151], vocabulary.tokens[299]
    (((151, 150, 300), (300, 222, 301)), b'h', b'')
    """
    highest = max(ranks.values(), default=0)
    check_highest(highest, len(ranks))
    _check(ranks)
    listed = [b""] * (highest + 1)
    for token, token_id in ranks.items():
        listed[token_id] = token
    tokens, byte_ids = tuple(listed), tuple(ranks[bytes([byte])] for byte in range(FIRST_MERGE))
    make = partial(_all_merges, ranks, tokens)
    merges, whole_chunks = make() if sum(map(len, ranks)) < _WORTH_KEEPING else recovered_once(ranks.items(), make)
    return Vocabulary(tokens, byte_ids, tuple(merges), _ids(whole_chunks))


def _ids(whole_chunks: Iterable[WholeChunk]) -> frozenset[int]:
    return frozenset(chunk.made for chunk in whole_chunks)


def _all_merges(ranks: Mapping[bytes, int], tokens: tuple[bytes, ...]) -> Recovered:
    merges, whole_chunks = recover(ranks)
    return Recovered(_with_halves_that_come_later(merges, whole_chunks, tokens, ranks), whole_chunks)


def _with_halves_that_come_later(
    merges: list[Merge], whole_chunks: Sequence[WholeChunk], tokens: Sequence[bytes], ranks: Mapping[bytes, int]
) -> list[Merge]:
    """Add the merges of tokens whose halves have higher ranks, each at the rank of its token.

    For every token with a whole chunk in it, each way to cut it into two tokens becomes a merge. Only one is ever done.
    """
    lengths = set(map(len, ranks)) - {0}  # to look up each part of a token of a million bytes would take hours

    def cuts(token_id: int) -> list[Merge]:
        token = tokens[token_id]
        ends = sorted(end for end in lengths if len(token) - end in lengths)
        pairs = ((ranks.get(token[:end]), ranks.get(token[end:])) for end in ends)
        return [(left, right, token_id) for left, right in pairs if left is not None and right is not None]

    late = [tokens[chunk.made] for chunk in whole_chunks if cuts(chunk.made)]
    if not late:
        return merges
    with_late = _with_one_of(late, tokens)
    known = {made: (left, right, made) for left, right, made in merges}
    return [
        merge
        for token_id in sorted({*known, *_ids(whole_chunks)})
        for merge in (cuts(token_id) if token_id in with_late else [known[token_id]] if token_id in known else [])
    ]


def _with_one_of(parts: Iterable[bytes], tokens: Sequence[bytes]) -> set[int]:
    """Return the ids of the tokens that contain one of the parts."""
    joined, ends = b"".join(tokens), list(accumulate(map(len, tokens)))
    having = set()
    for part in parts:
        place = joined.find(part)
        while place >= 0:
            token_id = bisect_right(ends, place)
            if place + len(part) <= ends[token_id]:
                having.add(token_id)
            place = joined.find(part, place + 1)
    return having


def recover(ranks: Mapping[bytes, int]) -> Recovered:
    """Find the last merge of every token of several bytes.

    >>> ranks = {bytes([i]): i for i in range(256)} | {b"ab": 256, b"abc": 257, b"xyz": 258}
    >>> merges, whole_chunks = recover(ranks)
    >>> merges, whole_chunks[0].made, whole_chunks[0].parts
    ([(97, 98, 256), (256, 99, 257)], 258, (120, 121, 122))
    """
    return Recovery(candidates_of_ranks(ranks), late=False).run()


def candidates_of_ranks(ranks: Mapping[bytes, int]) -> list[Candidate]:
    """Return the tokens of several bytes."""
    id_of = {token[0]: token_id for token, token_id in ranks.items() if len(token) == 1}
    in_order = sorted(ranks.items(), key=itemgetter(1))
    if sorted(id_of.values()) == list(range(FIRST_MERGE)):  # as in most vocabularies: the ids of bytes are bytes too
        table = bytes(id_of[byte] for byte in range(FIRST_MERGE))
        return [Candidate(token_id, token.translate(table)) for token, token_id in in_order if len(token) > 1]
    return [Candidate(token_id, [id_of[byte] for byte in token]) for token, token_id in in_order if len(token) > 1]


def recover_from(candidates: Iterable[Candidate], *, late: bool = False) -> Recovered:
    """Find the merges of tokens in order of rank.

    A candidate may be repeated with other pairs. ``late`` allows a token to be made after its halves of higher rank, as
    in engines.
    """
    candidates = list(candidates)
    recovery = Recovery(candidates, late=late)
    if sum(len(candidate.units) for candidate in candidates) >= _WORTH_KEEPING:
        return recovered_once(candidates, recovery.run, late=late)
    return recovery.run()


class Recovery:
    """One pass over candidates; arguments as :func:`recover_from`."""

    def __init__(self, candidates: Sequence[Candidate], *, late: bool) -> None:
        self._candidates = candidates
        self._merges: list[Merge] = []
        self._rank_of: dict[Pair, int] = {}
        self._made: list[int] = []  # by each merge
        self._built: set[int] = set()  # the same, to look an id up
        self._left_over: list[WholeChunk] = []  # that were no two halves when their turn came
        self._late = late
        self._waiting: dict[Pair, list[int]] = {}  # by two neighbours among the parts: places in left_over
        self._parts: dict[int, list[int]] = {}  # by place in left_over: what is left of it by now

    def run(self) -> Recovered:
        for token_id, units, pair in self._candidates:
            parts = merge_ids(list(units), self._rank_of, self._made)
            if len(parts) == 1:
                continue  # made already
            if is_merged(parts, pair):
                self._add(parts[0], parts[1], token_id)
                self._add_late((parts[0], parts[1], token_id))
                continue
            if self._late and pair != ():
                self._wait(len(self._left_over), parts)
            self._left_over.append(WholeChunk(token_id, tuple(parts), len(self._merges), pair))
        return Recovered(self._merges, self._left_over)

    def _add(self, left: int, right: int, made: int) -> None:
        self._rank_of[left, right] = len(self._merges)
        self._made.append(made)
        self._built.add(made)
        self._merges.append((left, right, made))

    def _wait(self, place: int, parts: list[int]) -> None:
        self._parts[place] = parts
        for neighbours in pairwise(parts):
            self._waiting.setdefault(neighbours, []).append(place)

    def _add_late(self, first: Merge) -> None:
        if first[:2] not in self._waiting:
            return
        group = [GroupMerge(*first, place=len(self._left_over))]
        ready: list[int] = []
        self._wake(first, ready)
        while ready:
            place = heappop(ready)
            made = self._left_over[place].made
            if made in self._built:
                continue  # from two other halves, which are there before these wherever its bytes are
            left, right = self._parts[place]
            self._add(left, right, made)
            group.append(GroupMerge(left, right, made, place))
            self._wake((left, right, made), ready)
        check_group(group)

    def _wake(self, merge: Merge, ready: list[int]) -> None:
        left, right, made = merge
        for place in set(self._waiting.pop((left, right), ())):
            before = self._parts[place]
            parts = merge_pair(before, (left, right), made)
            if len(parts) == len(before) or len(parts) == 1:
                continue  # other merges have taken these neighbours
            self._wait(place, parts)
            if is_merged(parts, self._left_over[place].pair):
                heappush(ready, place)


def _check(ranks: Mapping[bytes, int]) -> None:
    if len(set(ranks.values())) < len(ranks) or min(ranks.values(), default=0) < 0:
        raise ValueError("two tokens have the same id, or one has an id below 0")
    check_bytes(ranks)
