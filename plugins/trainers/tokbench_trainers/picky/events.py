"""The events of PickyBPE (Chizhov et al. 2024, *BPE Gets Picky*, arXiv:2409.04599).

PickyBPE looks at both halves after each merge. The *intersection over self* of a half is the share of its occurrences
that the merge took: IoS = times merged / occurrences before. If it reaches the threshold, the half is removed, and its
other occurrences are split into existing tokens. A single byte is never removed. A removed token may be made again.

Training is a list of *events*, merges and removals, in order. Encoding repeats them in this order.

Training ends at every threshold. List how many tokens of each length the text has, the longest first. A merge makes a
token of length a + b, and the removals after it replace tokens of the lengths a and b by shorter ones. So the first
number that changes grows: the lists rise in lexicographic order, and the text has finitely many.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tokbench_plugins.bpe import Pair


class PickyEvent(NamedTuple):
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


def parts_of(token_id: int, halves: Mapping[int, Pair], present: set[int]) -> tuple[int, ...]:
    """Return the tokens that replace a removed one: its halves, or the halves of a missing half.

    >>> parts_of(257, {256: (97, 98), 257: (256, 99)}, set(range(256)))
    (97, 98, 99)
    """
    if token_id in present:
        return (token_id,)
    left, right = halves[token_id]
    return parts_of(left, halves, present) + parts_of(right, halves, present)
