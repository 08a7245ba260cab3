"""The textbook loops of PickyBPE (Chizhov et al. 2024, *BPE Gets Picky*, arXiv:2409.04599), short and slow.

PickyBPE looks at both halves after each merge. The *intersection over self* of a half is the share of its occurrences
that the merge took: IoS = times merged / occurrences before. If it reaches the threshold, the half is removed, and its
other occurrences are split into existing tokens. A single byte is never removed. A removed token may be made again.

Training is a list of *events*, merges and removals, in order. Encoding repeats them in this order.

Training ends at every threshold. List how many tokens of each length the text has, the longest first. A merge makes a
token of length a + b, and the removals after it replace tokens of the lengths a and b by shorter ones. So the first
number that changes grows: the lists rise in lexicographic order, and the text has finitely many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from tokbench_plugins.bpe import FIRST_MERGE, Pair
from tokbench_plugins.bpe.literal import Tie, count_pairs, merge_pair, most_frequent


class Event(NamedTuple):
    """A merge or a removal.

    Ids are the ids of training: 0 to 255 are the bytes, and each new string of bytes gets the next one.
    """

    before: tuple[int, ...]
    """The two ids of a merge, or the removed id."""

    after: tuple[int, ...]
    """The one id that the merge makes, or the ids that replace the removed one."""

    @property
    def is_merge(self) -> bool:
        return len(self.before) > 1


def train_picky_literally(
    chunks: Iterable[bytes], vocab_size: int, threshold: float, tie: Tie = "first"
) -> list[Event]:
    """Merge the most frequent pair, remove the halves that it uses up, and repeat until enough tokens are present.

    >>> for event in train_picky_literally([b"abc", b"abc"], 258, 0.9):
    ...     print(event)
    Event(before=(97, 98), after=(256,))
    Event(before=(256, 99), after=(257,))
    Event(before=(256,), after=(97, 98))
    """
    sequences = [list(chunk) for chunk in chunks]
    tokens = [bytes([byte]) for byte in range(FIRST_MERGE)]
    halves: dict[int, Pair] = {}
    present = set(range(FIRST_MERGE))
    events: list[Event] = []
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
        events.append(Event(pair, (made,)))
        for half in dict.fromkeys(pair):
            if half >= FIRST_MERGE and times / occurrences[half] >= threshold:
                present.remove(half)
                events.append(Event((half,), parts_of(half, halves, present)))
                sequences = [replay(sequence, events[-1]) for sequence in sequences]
    return events


def parts_of(token_id: int, halves: Mapping[int, Pair], present: set[int]) -> tuple[int, ...]:
    """Return the tokens that replace a removed one: its halves, or the halves of a missing half.

    >>> parts_of(257, {256: (97, 98), 257: (256, 99)}, set(range(256)))
    (97, 98, 99)
    """
    if token_id in present:
        return (token_id,)
    left, right = halves[token_id]
    return parts_of(left, halves, present) + parts_of(right, halves, present)


def replay(ids: Sequence[int], event: Event) -> list[int]:
    """Do one event in one chunk.

    >>> replay([97, 98, 99], Event((97, 98), (256,))), replay([256, 99], Event((256,), (97, 98)))
    ([256, 99], [97, 98, 99])
    """
    if event.is_merge:
        left, right = event.before
        return merge_pair(ids, (left, right), event.after[0])
    return [part for token in ids for part in (event.after if (token,) == event.before else (token,))]


def encode_picky_literally(chunk: bytes, events: Iterable[Event]) -> list[int]:
    """Encode one chunk: do all events in order. The ids are the ids of training.

    >>> events = train_picky_literally([b"abc", b"abc"], 258, 0.9)
    >>> encode_picky_literally(b"abcab", events)
    [257, 97, 98]
    """
    ids = list(chunk)
    for event in events:
        ids = replay(ids, event)
    return ids
