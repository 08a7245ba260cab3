"""What a corpus makes of a vocabulary: ids in use, seldom used, only built on the way, never met."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tokbench.protocol import HasTokenBytes, Tokenizer

__all__ = ["ACTIVE", "SURVIVAL", "HasMerges", "Usage", "formed_counts", "merge_table", "usage_classes"]

ACTIVE: Final = 5e-6
"""An id is active from this share of all tokens on: five in a million."""

SURVIVAL: Final = 0.1
"""An id that is emitted in a smaller share of the times it is built is scaffold."""


@runtime_checkable
class HasMerges(Protocol):
    """Capability: tells its merges, as BPE has them."""

    @property
    def merges(self) -> Sequence[tuple[int, int]]:
        """Pairs (left id, right id) in order of rank; the bytes of both are those of the id that is made."""


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


def merge_table(tokenizer: Tokenizer) -> NDArray[np.int32] | None:
    """int32[m, 3], left, right and made id of each merge in order of rank; ``None`` where they are not told.

    >>> import tokbench
    >>> merge_table(tokbench.load("utf8_bytes")) is None
    True
    """
    if not isinstance(tokenizer, HasMerges) or not isinstance(tokenizer, HasTokenBytes):
        return None
    data = [tokenizer.token_bytes(i) for i in range(tokenizer.vocab_size)]
    ids = {token: i for i, token in reversed(list(enumerate(data)))}
    rows = [(left, right, ids[data[left] + data[right]]) for left, right in tokenizer.merges]
    return np.array(rows, dtype=np.int32).reshape(-1, 3)


def formed_counts(emitted: NDArray[np.int64], merges: NDArray[np.int32]) -> NDArray[np.int64]:
    """How often each id was built, to be emitted or to be merged further.

    Every id that was built by a merge took one of its left and one of its right half. Taken from the last merge
    to the first, each id's count is complete when its turn comes.

    Args:
        emitted: int64[v], how often each id is in the encoded text.
        merges: int32[m, 3], as :func:`merge_table` gives them.

    >>> merges = np.array([[0, 1, 2], [2, 0, 3]], dtype=np.int32)  # ab, aba
    >>> formed_counts(np.array([1, 0, 0, 4]), merges).tolist()
    [9, 4, 4, 4]
    """
    formed: list[int] = emitted.tolist()
    for left, right, made in merges[::-1].tolist():
        formed[left] += formed[made]
        formed[right] += formed[made]
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
