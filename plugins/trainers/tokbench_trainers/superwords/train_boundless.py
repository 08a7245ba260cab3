"""Training of BoundlessBPE.

Ordinary merges are trained first, because supermerges do not change them. Then both kinds take their turns. The pairs
of a chunk wait for the merge that makes it one token.
"""

from __future__ import annotations

import heapq
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from tokbench import plugin
from tokbench_plugins.bpe import FIRST_MERGE, Encoder, Pair, Splitter, Tie, Vocabulary
from tokbench_trainers.continued import DisjointText
from tokbench_trainers.extend import MergeRule, extend
from tokbench_trainers.superwords.rules import BoundlessMerges, is_word_like

_END: Final = -1  # of a run
_REPORTS: Final = 200  # calls of ``progress``, about


def train_boundless(
    documents: Iterable[str],
    vocab_size: int,
    pattern: str | None,
    *,
    tie: Tie = "first",
    progress: plugin.TrainProgress = plugin.silent,
) -> BoundlessMerges:
    """Train ordinary merges and supermerges, whichever is done more often.

    >>> train_boundless(["in a, in a, in a"], 260, "gpt4")
    BoundlessMerges(merges=[(105, 110), (32, 97), (32, 256), (258, 257)], supermerges=[3])
    """
    counted = ((document, 1) for document in documents)
    return train_on_counted(counted, vocab_size, pattern, tie=tie, progress=progress).learned


def train_on_counted(
    documents: Iterable[tuple[str, int]],
    vocab_size: int,
    pattern: str | None,
    *,
    tie: Tie = "first",
    progress: plugin.TrainProgress = plugin.silent,
) -> TrainedBoundless:
    """Train on different documents with their counts, in the order of first occurrence."""
    chunks, text = _numbered(documents, pattern)
    ordinary = learn_ordinary(chunks, vocab_size, tie, progress)
    runs = _runs(ordinary.vocabulary, chunks, text)
    return _take_turns(ordinary, _Superwords(runs, tie, _Inside(chunks)), vocab_size - FIRST_MERGE, progress)


class Ordinary(NamedTuple):
    """The merges within chunks."""

    vocabulary: Vocabulary

    times: list[int]
    """How often each is done."""


class TrainedBoundless(NamedTuple):
    """What was learned."""

    learned: BoundlessMerges

    rarest: int
    """How often the rarest merge was done; 0 if there was no pair left."""


def learn_ordinary(
    chunks: Mapping[str, int], vocab_size: int, tie: Tie, progress: plugin.TrainProgress = plugin.silent
) -> Ordinary:
    """Learn the merges within chunks, which supermerges do not change."""
    rule = MergeRule(tie, overlapping=False)
    learned = extend(Vocabulary.trained([]), chunks, vocab_size - FIRST_MERGE, FIRST_MERGE, rule, progress)
    return Ordinary(learned.vocabulary, [before - after for before, after in pairwise(learned.tokens)])


class _Numbered(NamedTuple):
    chunks: dict[str, int]
    """The count of each chunk, in order of first occurrence."""

    documents: list[tuple[array[int], int]]
    """The numbers of the chunks of each, and its count."""


def _numbered(documents: Iterable[tuple[str, int]], pattern: str | None) -> _Numbered:
    split = Splitter(pattern)
    numbers: dict[str, int] = {}
    counts: list[int] = []
    numbered: list[tuple[array[int], int]] = []
    for document, count in documents:
        text = array("i")
        for chunk in split(document):
            number = numbers.setdefault(chunk, len(numbers))
            if number == len(counts):
                counts.append(0)
            counts[number] += count
            text.append(number)
        if len(text) > 1:  # a chunk alone is no run
            numbered.append((text, count))
    return _Numbered(dict(zip(numbers, counts, strict=True)), numbered)


def _runs(
    vocabulary: Vocabulary, chunks: Iterable[str], documents: Iterable[tuple[array[int], int]]
) -> dict[tuple[int, ...], int]:
    encode = Encoder(vocabulary, None)
    encoded = map(encode, chunks)
    tokens = [ids[0] if len(ids) == 1 and is_word_like(vocabulary.tokens[ids[0]]) else _END for ids in encoded]
    runs: defaultdict[tuple[int, ...], int] = defaultdict(int)
    for text, count in documents:
        for run in _between_ends([tokens[number] for number in text]):
            runs[run] += count
    return dict(runs)


def _between_ends(ids: Sequence[int]) -> Iterator[tuple[int, ...]]:
    start = 0
    while start < len(ids):
        try:
            end = ids.index(_END, start)
        except ValueError:
            end = len(ids)
        if end - start > 1:
            yield tuple(ids[start:end])
        start = end + 1


class _Inside:
    def __init__(self, chunks: Iterable[str]) -> None:
        data = [chunk.encode() for chunk in chunks]
        self._neighbours = {pair for chunk in data for pair in pairwise(chunk)}
        self._all = b"\xff".join(data)  # no text has the byte 0xff

    def __call__(self, left: bytes, right: bytes) -> bool:
        return (left[-1], right[0]) in self._neighbours and left + right in self._all


class _Superwords(DisjointText):
    """The runs, merged so far; a pair enters the heap when both of its tokens exist."""

    def __init__(self, runs: Mapping[tuple[int, ...], int], tie: Tie, inside: _Inside) -> None:
        self.inside = inside
        self.ranked = {byte: byte for byte in range(FIRST_MERGE)}
        """The final id of each existing token, by its id in the runs."""
        self.waiting: defaultdict[int, list[Pair]] = defaultdict(list)
        super().__init__(runs.items(), tie)

    def enter(self, pair: Pair) -> None:
        self.positions[pair].reverse()
        self._enter_if_ready(pair)

    def _enter_if_ready(self, pair: Pair) -> None:
        missing = next((token for token in pair if token not in self.ranked), None)
        if missing is None:
            self.put_back(pair)
        else:
            self.waiting[missing].append(pair)

    def put_back(self, pair: Pair) -> None:
        heapq.heappush(self.heap, self.entry(pair))

    def entry(self, pair: Pair) -> tuple[int, int, Pair]:
        if self.first_wins:
            return super().entry(pair)
        return -self.times(pair), self.ranked[pair[0]] << 32 | self.ranked[pair[1]], pair

    def exists(self, token: int, final_id: int) -> None:
        self.ranked[token] = final_id
        for pair in self.waiting.pop(token, ()):
            self._enter_if_ready(pair)


def _take_turns(ordinary: Ordinary, text: _Superwords, total: int, progress: plugin.TrainProgress) -> TrainedBoundless:
    vocabulary, times = ordinary
    tokens = list(vocabulary.tokens)
    exist: set[bytes] = set()  # superwords; no ordinary token has the bytes of one
    merges: list[Pair] = []
    supermerges: list[int] = []
    done, rarest = 0, 0  # ordinary merges; how often the last one was done
    stride = max(1, total // _REPORTS)
    while len(merges) < total:
        if len(merges) % stride == 0:
            progress(len(merges), total)
        pair = text.pop_best()
        if pair is not None:
            left, right = tokens[pair[0]], tokens[pair[1]]
            if left + right in exist or text.inside(left, right):
                continue
        made = FIRST_MERGE + len(merges)
        if pair is not None and (done == len(times) or text.times(pair) >= times[done]):
            rarest = text.times(pair)
            supermerges.append(len(merges))
            merges.append((text.ranked[pair[0]], text.ranked[pair[1]]))
            tokens.append(left + right)
            exist.add(left + right)
            text.ranked[len(tokens) - 1] = made
            text.merge(pair, len(tokens) - 1)
        elif done < len(times):
            if pair is not None:
                text.put_back(pair)
            *parts, token = vocabulary.merges[done]
            rarest = times[done]
            merges.append((text.ranked[parts[0]], text.ranked[parts[1]]))
            text.exists(token, made)
            done += 1
        else:
            rarest = 0
            break
    progress(len(merges), len(merges))
    return TrainedBoundless(BoundlessMerges(merges, supermerges), rarest)
