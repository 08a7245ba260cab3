"""The bytes of pieces, and the piece of each id."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from tokbench.plugin import BackendError, TextError, decode_utf8, parse_json, read_file
from tokbench_plugins.bpe.formats.byte_names import bytes_of_name

Spelling = Literal["text", "byte_level", "sentencepiece"]
"""Pieces are text, in GPT-2's alphabet of bytes (``Ġthe``), or in SentencePiece's (``▁the``)."""

_BYTE_PIECE: Final = re.compile("<0x([0-9A-F]{2})>")


def piece_bytes(piece: str, spelling: Spelling) -> bytes:
    r"""Return the bytes of a piece.

    >>> piece_bytes("Ġthe", "byte_level"), piece_bytes("▁the", "sentencepiece"), piece_bytes("<0xE2>", "sentencepiece")
    (b' the', b' the', b'\xe2')
    >>> piece_bytes("été", "text")
    b'\xc3\xa9t\xc3\xa9'
    """
    if spelling == "byte_level":
        return bytes_of_name(piece)
    if spelling == "sentencepiece":
        if byte := _BYTE_PIECE.fullmatch(piece):
            return bytes([int(byte[1], 16)])
        piece = piece.replace("▁", " ")
    return piece.encode()


class PieceVocabulary(NamedTuple):
    """The vocabulary of a file."""

    ids: dict[str, int]
    tokens: list[bytes]


def read_vocabulary(path: Path, spelling: Spelling) -> PieceVocabulary:
    """Read ids by piece: ``.json`` with a list or an object; or lines of pieces, the first of id 0."""
    data = read_file(path, text=True)
    try:
        json = path.suffix == ".json"
        listed = parse_json(data) if json else decode_utf8(data).removesuffix("\n").split("\n")
    except TextError as error:
        raise BackendError(str(error.at(path))) from error
    ids = _ids(path, listed)
    tokens = [b""] * (max(ids.values(), default=-1) + 1)
    for piece, token_id in ids.items():
        try:
            tokens[token_id] = piece_bytes(piece, spelling)
        except ValueError as error:
            raise BackendError(
                f"{_place(path, token_id)}: piece {piece!r} is not spelled {spelling!r}: {error}"
            ) from error
    return PieceVocabulary(ids, tokens)


_MOST: Final = 1 << 24


def _place(path: Path, token_id: int) -> str:
    return f"{path}: id {token_id}" if path.suffix == ".json" else f"{path}:{token_id + 1}"


def _ids(path: Path, listed: Any) -> dict[str, int]:
    if isinstance(listed, Mapping):
        for piece, token_id in listed.items():
            if type(token_id) is not int or not 0 <= token_id < _MOST:
                raise BackendError(f"{path}: the id of {piece!r} is {token_id!r}, not an integer from 0 to {_MOST - 1}")
        if len(set(listed.values())) < len(listed):
            raise BackendError(f"{path}: two pieces have the same id")
        return dict(listed)
    if not isinstance(listed, list):
        raise BackendError(f"{path}: neither a list of pieces nor an object of ids by piece")
    ids: dict[str, int] = {}
    for token_id, piece in enumerate(listed):
        if not isinstance(piece, str):
            raise BackendError(f"{_place(path, token_id)}: {piece!r} is not a piece of text")
        if ids.setdefault(piece, token_id) != token_id:
            raise BackendError(f"{_place(path, token_id)}: piece {piece!r} is there twice, first with id {ids[piece]}")
    return ids
