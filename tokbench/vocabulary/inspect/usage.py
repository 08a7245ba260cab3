"""Classifies ids by their use in a corpus: active, rare, only built on the way to others, or unseen."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench.contracts.tokenizer import Tokenizer
from tokbench.errors import ContractError
from tokbench.vocabulary.curve import Curve
from tokbench.vocabulary.merges import merge_order

ACTIVE: Final = 5e-6
"""The share of all tokens from which on an id is active: five in a million."""

SURVIVAL: Final = 0.1
"""An id is scaffold if it is emitted in a smaller share of the times that it is built."""


class Usage(StrEnum):
    """The use of an id in a corpus; each id is of one class.

    Attributes:
        ACTIVE: at least five in a million of the tokens of the corpus.
        RARE: emitted less often, and not scaffold.
        SCAFFOLD: emitted less often, and in less than a tenth of the times it is built; it serves to build other ids.
        UNSEEN: not even built; if the tokenizer does not list its merges, not emitted.
    """

    ACTIVE = "active"
    RARE = "rare"
    SCAFFOLD = "scaffold"
    UNSEEN = "unseen"


def built_counts(tokenizer: Tokenizer, emitted: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return int64[v], how often each id was built, to be emitted or merged further; ``None`` without listed merges.

    Args:
        tokenizer: the tokenizer of these ids.
        emitted: int64[v], how often each id is in the encoded text.

    >>> import tokbench
    >>> built_counts(tokbench.load("utf8_bytes"), np.ones(256, dtype=np.int64)) is None
    True
    """
    try:
        return Curve(merge_order(tokenizer), emitted).built
    except ContractError:
        return None


def usage_classes(emitted: NDArray[np.int64], formed: NDArray[np.int64] | None) -> dict[Usage, NDArray[np.int64]]:
    """Return the ids of each class, rising; every id is in one class.

    Args:
        emitted: int64[v], how often each id is in the encoded text.
        formed: int64[v], how often each id was built; ``None`` if that is not known, and there is then no scaffold.

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
