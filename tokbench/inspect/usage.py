"""Classifies ids by their use in a corpus."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench.foundation.errors import ContractError
from tokbench.inspect.examine import InspectedToken, token_of
from tokbench.inspect.glitch import Never, by_surprise, sort_unseen
from tokbench.inspect.tokens import TokenListing, list_tokens
from tokbench.tokenizers.batch import check_encoded, encode_batch
from tokbench.tokenizers.contract import Tokenizer
from tokbench.tokenizers.curve import Curve
from tokbench.tokenizers.merges import MergeOrder, merge_order

ACTIVE: Final = 5e-6
"""Share of all tokens, at least."""

SURVIVAL: Final = 0.1
"""Emitted / built, at least; less is scaffold."""

_BATCH: Final = 2000


class Usage(StrEnum):
    """The use of an id in a corpus."""

    ACTIVE = "active"
    """At least five in a million of the tokens."""
    RARE = "rare"
    """Less often, not scaffold."""
    SCAFFOLD = "scaffold"
    """Less often, and in less than a tenth of the times it is built."""
    UNSEEN = "unseen"
    """Not built; without listed merges, not emitted."""


def _order(tokenizer: Tokenizer) -> MergeOrder | None:
    try:
        return merge_order(tokenizer)
    except ContractError:
        return None


def usage_classes(emitted: NDArray[np.int64], formed: NDArray[np.int64] | None) -> dict[Usage, NDArray[np.int64]]:
    """Return rising ids by class; ``formed`` are the times built; without it no id is scaffold.

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


@dataclass(frozen=True, slots=True)
class CorpusUse:
    """The use of a vocabulary in some texts."""

    documents: int
    tokens: int
    classes: dict[str, int]
    """Add up to the vocabulary; no ``scaffold`` without merges."""
    candidates: list[InspectedToken]
    """Whole tokens that the texts never make, the most surprising first."""
    apart: dict[str, list[InspectedToken]]
    """``scaffold``, most often built first, and other kinds of unseen ids."""


def corpus_use(tokenizer: Tokenizer, texts: Sequence[str], unreachable: Collection[int] = ()) -> CorpusUse:
    """Count the ids of texts; ``unreachable`` ids are not candidates; an id out of range raises ContractError.

    >>> import tokbench
    >>> use = corpus_use(tokbench.load("utf8_bytes"), ["banana"])
    >>> use.classes, {kind: len(tokens) for kind, tokens in use.apart.items()}
    ({'active': 3, 'rare': 0, 'unseen': 253}, {'single byte': 253})
    """
    emitted = np.zeros(tokenizer.vocab_size, dtype=np.int64)
    for start in range(0, len(texts), _BATCH):
        encoded = encode_batch(tokenizer, texts[start : start + _BATCH])
        check_encoded(encoded, len(texts[start : start + _BATCH]), tokenizer.vocab_size)
        emitted += np.bincount(encoded.ids, minlength=tokenizer.vocab_size)
    order = _order(tokenizer)
    formed = None if order is None else Curve(order, emitted).built
    classes = usage_classes(emitted, formed)
    counts = {usage.value: len(ids) for usage, ids in classes.items() if formed is not None or usage != Usage.SCAFFOLD}
    listing = list_tokens(tokenizer)
    never = sort_unseen(listing, classes[Usage.UNSEEN], unreachable)
    candidates = by_surprise(listing, never.pop(Never.CANDIDATE), order)
    apart = {
        Usage.SCAFFOLD.value: _scaffold(listing, classes[Usage.SCAFFOLD], emitted, formed),
        **{kind.value: [token_of(listing, i) for i in ids] for kind, ids in never.items()},
    }
    return CorpusUse(
        len(texts), int(emitted.sum()), counts, candidates, {kind: tokens for kind, tokens in apart.items() if tokens}
    )


def _scaffold(
    listing: TokenListing, ids: NDArray[np.int64], emitted: NDArray[np.int64], formed: NDArray[np.int64] | None
) -> list[InspectedToken]:
    if formed is None:
        return []
    most_built = ids[np.argsort(-formed[ids], kind="stable")].tolist()
    return [token_of(listing, i, f"built {formed[i]:,}, emitted {emitted[i]:,}") for i in most_built]
