"""What a corpus makes of a vocabulary: ids in use, seldom used, only built on the way, never met."""

from __future__ import annotations

from enum import StrEnum
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.protocol import HasSpecialTokens, HasTokenBytes, Tokenizer

__all__ = ["ACTIVE", "SURVIVAL", "MergeTable", "Usage", "formed_counts", "merge_table", "usage_classes"]

ACTIVE: Final = 5e-6
"""An id is active from this share of all tokens on: five in a million."""

SURVIVAL: Final = 0.1
"""An id that is emitted in a smaller share of the times it is built is scaffold."""


class MergeTable(NamedTuple):
    """The merges of a tokenizer in flat arrays, in order of rank.

    Attributes:
        made: int64[m], the id that each merge makes.
        parts: int64[p], the ids of the parts of all merges, one after the other.
        offsets: int64[m + 1]; merge ``k`` has ``parts[offsets[k]:offsets[k + 1]]``.
    """

    made: NDArray[np.int64]
    parts: NDArray[np.int64]
    offsets: NDArray[np.int64]


class Usage(StrEnum):
    """What a corpus makes of an id; each id is of one class.

    Attributes:
        ACTIVE: at least five in a million of the corpus' tokens.
        RARE: emitted, but less often, and no scaffold.
        SCAFFOLD: less often, and in less than a tenth of the times it is built: its place is on the way to others.
        UNSEEN: not even built; where merges are not told, not emitted.
    """

    ACTIVE = "active"
    RARE = "rare"
    SCAFFOLD = "scaffold"
    UNSEEN = "unseen"


def merge_table(tokenizer: Tokenizer) -> MergeTable | None:
    """The merges with the ids that they make; ``None`` where they are not told, or not in order of rank.

    >>> import tokbench
    >>> merge_table(tokbench.load("utf8_bytes")) is None
    True
    """
    if not isinstance(tokenizer, HasTokenBytes):
        return None
    merges = getattr(tokenizer, "merges", None)  # which may raise, and then there are none
    if merges is None:
        return None
    special = set(tokenizer.special_ids.values()) if isinstance(tokenizer, HasSpecialTokens) else set()
    data = [tokenizer.token_bytes(i) for i in range(tokenizer.vocab_size)]
    ids = {data[i]: i for i in reversed(range(len(data))) if i not in special}
    made = [ids[b"".join([data[part] for part in parts])] for parts in merges]
    offsets = np.cumsum([0, *map(len, merges)], dtype=np.int64)
    return MergeTable(np.array(made, np.int64), np.array(list(chain.from_iterable(merges)), np.int64), offsets)


def formed_counts(emitted: NDArray[np.int64], merges: MergeTable) -> NDArray[np.int64]:
    """How often each id was built, to be emitted or to be merged further.

    Every id that was built by a merge took one of each of its parts. Taken from the last merge
    to the first, each id's count is complete when its turn comes.

    Args:
        emitted: int64[v], how often each id is in the encoded text.
        merges: as :func:`merge_table` gives them.

    >>> merges = MergeTable(np.array([2, 3]), np.array([0, 1, 2, 0]), np.array([0, 2, 4]))  # ab, aba
    >>> formed_counts(np.array([1, 0, 0, 4]), merges).tolist()
    [9, 4, 4, 4]
    """
    formed: list[int] = emitted.tolist()
    parts, offsets = merges.parts.tolist(), merges.offsets.tolist()
    for rank, made in reversed(list(enumerate(merges.made.tolist()))):
        count = formed[made]
        for part in parts[offsets[rank] : offsets[rank + 1]]:
            formed[part] += count
    return np.array(formed, dtype=np.int64)


def usage_classes(emitted: NDArray[np.int64], formed: NDArray[np.int64] | None) -> dict[Usage, NDArray[np.int64]]:
    """The ids of each class, rising; the classes share all ids out among them.

    Args:
        emitted: int64[v], how often each id is in the encoded text.
        formed: int64[v], how often it was built; ``None`` where that is not known: then there is no scaffold.

    >>> emitted, formed = np.array([10**6, 4, 3, 0, 0]), np.array([10**6, 4, 31, 7, 0])
    >>> {usage.value: ids.tolist() for usage, ids in usage_classes(emitted, formed).items()}
    {'active': [0], 'rare': [1], 'scaffold': [2, 3], 'unseen': [4]}
    """
    built = emitted if formed is None else formed
    active = (emitted > 0) & (emitted >= ACTIVE * emitted.sum())
    unseen = built == 0
    scaffold = ~active & ~unseen & (emitted < SURVIVAL * built)
    masks = {
        Usage.ACTIVE: active,
        Usage.RARE: ~active & ~unseen & ~scaffold,
        Usage.SCAFFOLD: scaffold,
        Usage.UNSEEN: unseen,
    }
    return {usage: np.flatnonzero(mask) for usage, mask in masks.items()}
