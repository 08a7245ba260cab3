"""The steps of a pin in the process of a tokenizer: read its vocabulary, and encode texts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

import numpy as np

from tokbench.engine.load import vocabulary_sha256
from tokbench.engine.segment import own_bytes
from tokbench.foundation.errors import one_line
from tokbench.plugin import HasSpecialTokens, Tokenizer, check_encoded, encode_batch, vocab_size_of
from tokbench.tokenizers.contract import EncodesChat
from tokbench_maintain.pins.cut import form_of, write_cut
from tokbench_maintain.pins.lock import PinnedText, Vocabulary

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


@runtime_checkable
class DescribesStages(Protocol):
    """Capability: describes the stages of its encoding, so that other ids can be traced to one of them."""

    @property
    def stages(self) -> Mapping[str, str]:
        """Settings by stage, as text: with equal texts of one backend the stage is the same.

        Usual: ``normalization``, ``added space``, ``split``, ``merges``, ``model``, ``added tokens``, ``decoding``,
        ``chat template``.
        """


@dataclass(frozen=True)
class PlacedText:
    """A text of the configuration."""

    place: str
    text: str


@dataclass(frozen=True)
class TextChange:
    """A text whose ids differ from its pin, as its tokenizer cuts it now."""

    place: str
    text: str
    pinned: PinnedText
    now: PinnedText
    ends: tuple[int, ...]
    """The byte of today's surface at which each token ends."""
    surface: bytes


def vocabulary_of(tokenizer: Tokenizer) -> Vocabulary:
    """Return what a lock records of the tokenizer itself.

    >>> import tokbench
    >>> vocabulary_of(tokbench.load("utf8_bytes"))
    Vocabulary(ids=256, bytes='0864c10eb9f122e7', special={}, stages={})
    """
    stages = dict(tokenizer.stages) if isinstance(tokenizer, DescribesStages) else {}
    if isinstance(tokenizer, EncodesChat):
        stages[_TEMPLATE] = _written_by_template(tokenizer)
    return Vocabulary(
        ids=vocab_size_of(tokenizer),
        bytes=vocabulary_sha256(tokenizer)[:_DIGITS],
        special=dict(tokenizer.special_ids) if isinstance(tokenizer, HasSpecialTokens) else {},
        stages={name: _short(text) for name, text in stages.items()},
    )


def _written_by_template(tokenizer: Tokenizer) -> str:
    assert isinstance(tokenizer, EncodesChat)
    try:
        return tokenizer.decode(tokenizer.encode_chat(_CONVERSATION, reply=True))
    except ValueError as error:
        return f"refused: {one_line(error)}"


def _short(text: str) -> str:
    if len(text) <= _LONGEST_STAGE:
        return text
    return f"{len(text):,} characters, sha256 {hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:_DIGITS]}"


@dataclass(frozen=True)
class _EncodedText:
    pinned: PinnedText
    lengths: tuple[int, ...]
    surface: bytes


def _encode(tokenizer: Tokenizer, documents: Sequence[PlacedText]) -> list[_EncodedText]:
    arrays = encode_batch(tokenizer, [document.text for document in documents])
    check_encoded(arrays, len(documents), vocab_size_of(tokenizer))
    pieces = {token: own_bytes(tokenizer, token) for token in np.unique(arrays.ids).tolist()}
    encoded = []
    for k, document in enumerate(documents):
        ids = np.ascontiguousarray(arrays.ids[arrays.offsets[k] : arrays.offsets[k + 1]], dtype="<u4")
        cut = [pieces[token] for token in ids.tolist()]
        surface, lengths = b"".join(cut), tuple(map(len, cut))
        digest = hashlib.sha256(ids.tobytes()).hexdigest()[:_DIGITS]
        pinned = PinnedText(document.place, digest, form_of(document.text, surface), write_cut(lengths))
        encoded.append(_EncodedText(pinned, lengths, surface))
    return encoded


def pin_texts(documents: Sequence[PlacedText], tokenizer: Tokenizer) -> list[PinnedText]:
    """Return the pins of some texts under a tokenizer.

    Raises:
        ContractError: the tokenizer breaks its contract.

    >>> import tokbench
    >>> pin_texts([PlacedText("sample/en/1", "né")], tokbench.load("utf8_bytes"))
    [PinnedText(place='sample/en/1', digest='773c1a926acb75ca', form='=', cut='111')]
    """
    return [encoded.pinned for encoded in _encode(tokenizer, documents)]


def text_changes(pins: Sequence[PinnedText], documents: Sequence[PlacedText], tokenizer: Tokenizer) -> list[TextChange]:
    """Return today's cuts of texts whose ids differ from their pins; ``pins`` and ``documents`` are parallel."""
    changes = []
    for pinned, document, encoded in zip(pins, documents, _encode(tokenizer, documents), strict=True):
        ends = tuple(np.cumsum(encoded.lengths).tolist())
        changes.append(TextChange(document.place, document.text, pinned, encoded.pinned, ends, encoded.surface))
    return changes
