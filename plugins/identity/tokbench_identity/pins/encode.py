"""The steps of a pin in the process of a tokenizer: read its vocabulary, and encode texts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from tokbench.engine.load import vocabulary_sha256
from tokbench.plugin import HasSpecialTokens, HasStages, Tokenizer, check_encoded, encode_batch, vocab_size_of
from tokbench_identity.causes import pieces_of_ids
from tokbench_identity.pins.cut import form_of, write_cut
from tokbench_identity.pins.lock import PinnedText, PinnedVocabulary

_DIGITS: Final = 16
_LONGEST_STAGE: Final = 300
"""Longer settings of a stage are hashed in a lock."""


_TEMPLATE: Final = "chat template"
_CONVERSATION: Final = (
    {"role": "user", "content": "Is it raining?"},
    {"role": "assistant", "content": "Not yet."},
    {"role": "user", "content": "Shall we go, then?"},
)
"""Without a system message, which some templates refuse."""


class PlacedText(NamedTuple):
    """A text of the configuration."""

    place: str
    text: str


def vocabulary_of(tokenizer: Tokenizer) -> PinnedVocabulary:
    """Return what a lock records of the tokenizer itself.

    >>> import tokbench
    >>> vocabulary_of(tokbench.load("utf8_bytes"))
    PinnedVocabulary(ids=256, bytes='0864c10eb9f122e7', special={}, stages={})
    """
    stages = dict(tokenizer.stages) if isinstance(tokenizer, HasStages) else {}
    if hasattr(tokenizer, "encode_chat"):
        stages[_TEMPLATE] = _written_by_template(tokenizer)
    return PinnedVocabulary(
        ids=vocab_size_of(tokenizer),
        bytes=vocabulary_sha256(tokenizer)[:_DIGITS],
        special=dict(tokenizer.special_ids) if isinstance(tokenizer, HasSpecialTokens) else {},
        stages={name: _short(text) for name, text in stages.items()},
    )


def _written_by_template(tokenizer: Any) -> str:
    try:
        return str(tokenizer.decode(tokenizer.encode_chat(_CONVERSATION, reply=True)))
    except ValueError as error:
        return f"refused: {type(error).__name__}: {' '.join(str(error).split())}"


def _short(text: str) -> str:
    if len(text) <= _LONGEST_STAGE:
        return text
    return f"{len(text):,} characters, sha256 {hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:_DIGITS]}"


def pin_texts(documents: Sequence[PlacedText], tokenizer: Tokenizer) -> list[PinnedText]:
    """Return the pins of some texts under a tokenizer.

    Raises:
        ContractError: the tokenizer breaks its contract.

    >>> import tokbench
    >>> pin_texts([PlacedText("sample/en/1", "né")], tokbench.load("utf8_bytes"))
    [PinnedText(place='sample/en/1', digest='773c1a926acb75ca', form='=', cut='111')]
    """
    arrays = encode_batch(tokenizer, [document.text for document in documents])
    check_encoded(arrays, len(documents), vocab_size_of(tokenizer))
    used = np.unique(arrays.ids).tolist()
    pieces = dict(zip(used, pieces_of_ids(tokenizer, used), strict=True))
    pinned = []
    for k, (place, text) in enumerate(documents):
        ids = np.ascontiguousarray(arrays.ids[arrays.offsets[k] : arrays.offsets[k + 1]], dtype="<u4")
        cut = [pieces[token] for token in ids.tolist()]
        digest = hashlib.sha256(ids.tobytes()).hexdigest()[:_DIGITS]
        pinned.append(PinnedText(place, digest, form_of(text, b"".join(cut)), write_cut(list(map(len, cut)))))
    return pinned
