"""Writes a SentencePiece model file; :mod:`tokbench_plugins.sentencepiece.proto` reads it and names its fields."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from tokbench_plugins.sentencepiece.proto import ModelKind, ModelPiece, PieceType


def write_model(
    pieces: Iterable[ModelPiece],
    kind: ModelKind,
    *,
    rules: bytes = b"",
    adds_space: bool = True,
    joins_spaces: bool = False,
) -> bytes:
    """Return the content of a model file.

    >>> from tokbench_plugins.sentencepiece.proto import kind_of, read_normalizer, read_pieces
    >>> pieces = [ModelPiece("<unk>", 0.0, PieceType.UNKNOWN), ModelPiece("a", -1.5, PieceType.NORMAL)]
    >>> model = write_model(pieces, ModelKind.BPE)
    >>> kind_of(model), read_pieces(model)[1], read_normalizer(model)[2:]
    (<ModelKind.BPE: 2>, ModelPiece(text='a', score=-1.5, type=<PieceType.NORMAL: 1>), (True, False))
    """
    pieces = list(pieces)
    fallback = any(piece.type == PieceType.BYTE for piece in pieces)
    trainer = _number(3, kind) + _number(35, fallback)
    normalizer = _bytes(2, rules) + _number(3, adds_space) + _number(4, joins_spaces)
    listed = (
        _bytes(1, piece.text.encode()) + bytes([2 << 3 | 5]) + struct.pack("<f", piece.score) + _number(3, piece.type)
        for piece in pieces
    )
    fields = *(_bytes(1, piece) for piece in listed), _bytes(2, trainer), _bytes(3, normalizer)
    return b"".join(fields)


def _number(field: int, value: int) -> bytes:
    return _as_varint(field << 3) + _as_varint(value)


def _bytes(field: int, data: bytes) -> bytes:
    return _as_varint(field << 3 | 2) + _as_varint(len(data)) + data


def _as_varint(value: int) -> bytes:
    data = bytearray()
    while value >= 0x80:  # noqa: PLR2004 - seven bits a byte
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*data, value])
