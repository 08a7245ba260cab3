"""The pieces of a SentencePiece model file, read without protobuf.

The file is a ``ModelProto`` of ``sentencepiece_model.proto``: field 1 is a piece (1 its text, 2 its score, 3 its type),
field 2 the trainer's settings (3 the kind of model, 24 spaces after words, 35 byte fallback), field 3 the normalizer's.
In protobuf's encoding each field begins with 8 * number + wire type (0 varint, 1 eight bytes, 2 a length and as many
bytes, 5 four bytes).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import Any, Final, NamedTuple

_PIECE: Final = 1
_TRAINER: Final = 2
_TRAINER_KIND: Final = 3
_NORMALIZER: Final = 3

NO_DUMMY_PREFIX: Final = bytes([3 << 3 | 2, 2, 3 << 3, 0])
"""Appended to a model, sets field 3 of the normalizer's settings (field 3), ``add_dummy_prefix``, to false.

Protobuf joins a repeated message, and takes the last value of each of its fields.
"""

SPACE: Final = "\u2581"

_VARINT: Final = 0
_LENGTH: Final = 2
_FIXED: Final = {1: 8, 5: 4}


class ModelKind(IntEnum):
    """Of models."""

    UNIGRAM = 1
    BPE = 2
    WORD = 3
    CHAR = 4


class PieceType(IntEnum):
    """Of pieces."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


class ModelPiece(NamedTuple):
    """One piece; its id is its place in the list."""

    text: str
    score: float
    type: PieceType


def kind_of(model: bytes) -> ModelKind:
    """Return the kind of a model.

    >>> kind_of(bytes([18, 2, 24, 2]))
    <ModelKind.BPE: 2>
    """
    return ModelKind(_message(model, _TRAINER).get(_TRAINER_KIND, ModelKind.UNIGRAM))


def _message(model: bytes, wanted: int) -> dict[int, Any]:
    fields: dict[int, Any] = {}
    for number, value in _fields(model):
        if number == wanted:  # there may be several, which protobuf joins
            fields |= dict(_fields(value))
    return fields


class Trainer(NamedTuple):
    """What training decides of encoding."""

    space_is_suffix: bool
    byte_fallback: bool


def read_trainer(model: bytes) -> Trainer:
    """Return the trainer's settings."""
    fields = _message(model, _TRAINER)
    return Trainer(bool(fields.get(24)), bool(fields.get(35)))


def read_pieces(model: bytes) -> list[ModelPiece]:
    """Return the pieces of a model that the library has read, by id.

    >>> read_pieces(bytes([10, 8, 10, 1, 97, 21, 0, 0, 0, 191]))
    [ModelPiece(text='a', score=-0.5, type=<PieceType.NORMAL: 1>)]
    """
    return [_piece(value) for number, value in _fields(model) if number == _PIECE]


class Normalizer(NamedTuple):
    """How a model normalizes a text before it is cut."""

    name: str
    rules: bytes
    adds_space: bool
    joins_spaces: bool


def read_normalizer(model: bytes) -> Normalizer:
    """Return how a model normalizes.

    >>> read_normalizer(bytes([26, 6, 10, 2, 110, 102, 24, 0]))[:1] + read_normalizer(b"")[2:]
    ('nf', True, True)
    """
    fields = _message(model, _NORMALIZER)
    return Normalizer(
        fields.get(1, b"").decode(), fields.get(2, b""), bool(fields.get(3, True)), bool(fields.get(4, True))
    )


def _piece(data: bytes) -> ModelPiece:
    fields = dict(_fields(data))
    (score,) = struct.unpack("<f", fields.get(2, bytes(4)))
    return ModelPiece(fields[1].decode(), score, PieceType(fields.get(3, PieceType.NORMAL)))


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == _VARINT:
            value, at = _varint(data, at)
            yield number, value
            continue
        size, at = _varint(data, at) if wire == _LENGTH else (_FIXED[wire], at)
        yield number, data[at : at + size]
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while data[at] & 0x80:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
    return value | data[at] << shift, at + 1
