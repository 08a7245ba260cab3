"""Classifies the ids of a vocabulary by their use in some texts, and lists tokens that a model hardly learns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tokbench.batch import check_encoded, encode_batch
from tokbench.contracts.tokenizer import HasTokenBytes, Tokenizer
from tokbench.vocabulary.inspect.examine import Token
from tokbench.vocabulary.inspect.usage import Usage, built_counts, usage_classes

_BATCH: Final = 2000
_CANDIDATES: Final = 50


@dataclass(frozen=True, slots=True)
class CorpusUse:
    """The use of a vocabulary in some texts.

    Attributes:
        documents, tokens: the amount of text.
        classes: the number of ids of each usage class; they add up to the vocabulary. Without merges there is no
            ``scaffold``.
        candidates: candidates for under-trained tokens: scaffold tokens, those first that were built most often.
    """

    documents: int
    tokens: int
    classes: dict[str, int]
    candidates: list[Token]


def corpus_use(tokenizer: Tokenizer, texts: Sequence[str]) -> CorpusUse:
    """Count the ids of texts.

    Raises:
        ContractError: an id is out of range.

    >>> import tokbench
    >>> corpus_use(tokbench.load("utf8_bytes"), ["banana"]).classes
    {'active': 3, 'rare': 0, 'unseen': 253}
    """
    emitted = np.zeros(tokenizer.vocab_size, dtype=np.int64)
    for start in range(0, len(texts), _BATCH):
        encoded = encode_batch(tokenizer, texts[start : start + _BATCH])
        check_encoded(encoded, len(texts[start : start + _BATCH]), tokenizer.vocab_size)
        emitted += np.bincount(encoded.ids, minlength=tokenizer.vocab_size)
    formed = built_counts(tokenizer, emitted)
    classes = usage_classes(emitted, formed)
    candidates: list[Token] = []
    if formed is not None and isinstance(tokenizer, HasTokenBytes):
        scaffold = classes[Usage.SCAFFOLD]
        order = scaffold[np.argsort(-formed[scaffold], kind="stable")][:_CANDIDATES]
        candidates = [
            Token(i, tokenizer.token_bytes(i).decode(errors="replace"), f"built {formed[i]:,}, emitted {emitted[i]:,}")
            for i in order.tolist()
        ]
    counts = {usage.value: len(ids) for usage, ids in classes.items() if formed is not None or usage != Usage.SCAFFOLD}
    return CorpusUse(len(texts), int(emitted.sum()), counts, candidates)
