"""The textbook loops of PickyBPE, short and slow: the oracles of the tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

from tokbench_plugins.bpe import FIRST_MERGE, Pair
from tokbench_plugins.bpe.literal import Tie, count_pairs, merge_pair, most_frequent
from tokbench_trainers.picky.events import PickyEvent, parts_of


def train_picky_literally(
    chunks: Iterable[bytes], vocab_size: int, threshold: float, tie: Tie = "first"
) -> list[PickyEvent]:
    """Merge the most frequent pair, remove the halves that it uses up, and repeat until enough tokens are present.

    >>> for event in train_picky_literally([b"abc", b"abc"], 258, 0.9):
    ...     print(event)
    PickyEvent(before=(97, 98), after=(256,))
    PickyEvent(before=(256, 99), after=(257,))
    PickyEvent(before=(256,), after=(97, 98))
    """
    sequences = [list(chunk) for chunk in chunks]
    tokens = [bytes([byte]) for byte in range(FIRST_MERGE)]
    halves: dict[int, Pair] = {}
    present = set(range(FIRST_MERGE))
    events: list[PickyEvent] = []
    while len(present) < vocab_size and (counts := count_pairs(sequences)):
        pair = most_frequent(counts, tie)
        token = tokens[pair[0]] + tokens[pair[1]]
        if token not in tokens:
            halves[len(tokens)] = pair
            tokens.append(token)
        made = tokens.index(token)
        occurrences = Counter(chain.from_iterable(sequences))
        merged = [merge_pair(sequence, pair, made) for sequence in sequences]
        times = sum(map(len, sequences)) - sum(map(len, merged))
        sequences = merged
        present.add(made)
        events.append(PickyEvent(pair, (made,)))
        for half in dict.fromkeys(pair):
            if half >= FIRST_MERGE and times / occurrences[half] >= threshold:
                present.remove(half)
                events.append(PickyEvent((half,), parts_of(half, halves, present)))
                sequences = [replay(sequence, events[-1]) for sequence in sequences]
    return events


def replay(ids: Sequence[int], event: PickyEvent) -> list[int]:
    """Do one event in one chunk.

    >>> replay([97, 98, 99], PickyEvent((97, 98), (256,))), replay([256, 99], PickyEvent((256,), (97, 98)))
    ([256, 99], [97, 98, 99])
    """
    if event.is_merge:
        left, right = event.before
        return merge_pair(ids, (left, right), event.after[0])
    return [part for token in ids for part in (event.after if (token,) == event.before else (token,))]


def encode_picky_literally(chunk: bytes, events: Iterable[PickyEvent]) -> list[int]:
    """Encode one chunk: do all events in order. The ids are the ids of training.

    >>> events = train_picky_literally([b"abc", b"abc"], 258, 0.9)
    >>> encode_picky_literally(b"abcab", events)
    [257, 97, 98]
    """
    ids = list(chunk)
    for event in events:
        ids = replay(ids, event)
    return ids
