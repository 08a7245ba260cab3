"""Tokenizers that look up the ids of known texts, and the bytes of their pieces."""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from tokbench.plugin import BackendError, Encoded, TextError, check_id, decode_utf8, parse_json, read_file
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


_SHOWN: Final = 60


LookUp = Mapping[str, "array[int]"]
"""The ids of each text."""


class Pretokenized:
    """A tokenizer that knows the texts of a file, but not the bytes of its ids."""

    lossless = False
    thread_safe = True

    def __init__(self, path: Path, table: LookUp, vocab_size: int, notes: tuple[str, ...] = ()) -> None:
        self._path = path
        self._table = table
        self.vocab_size = vocab_size
        self.special_ids: Mapping[str, int] = {}
        self.notes = ("ids are looked up, not computed: speeds of this tokenizer mean nothing", *notes)

    def encode(self, text: str, /) -> list[int]:
        """Look up the ids of exactly this text; none for the empty text, unless the file has some."""
        return self._find(text).tolist()

    def encode_batch(self, texts: Sequence[str], /) -> Encoded:
        ids = array("I")
        offsets = np.zeros(len(texts) + 1, np.int64)
        for number, text in enumerate(texts, 1):
            ids.extend(self._find(text))
            offsets[number] = len(ids)
        return Encoded(np.array(ids, np.uint32), offsets)

    def _find(self, text: str) -> array[int]:
        if not isinstance(text, str):
            raise TypeError(f"text is of type {type(text).__name__}; give a str")
        ids = self._table.get(text)
        if ids is None and text:
            raise BackendError(
                f"{self._path}: none of its {len(self._table)} texts is {_start(text)}; add a row with this text and "
                "its ids, or leave out what needs it"
            )
        return array("I") if ids is None else ids

    def decode(self, ids: Sequence[int], /) -> str:  # noqa: ARG002 - the contract's
        raise BackendError(
            f"{self._path}: does not list the bytes of its ids; give 'vocab', or 'pieces' instead of 'ids'"
        )


class PretokenizedBytes(Pretokenized):
    """The same with the bytes of each id."""

    def __init__(
        self, path: Path, table: LookUp, tokens: Sequence[bytes], dummy_prefix: bytes, notes: tuple[str, ...] = ()
    ) -> None:
        super().__init__(path, table, len(tokens), notes)
        self._tokens = list(tokens)
        self.dummy_prefix = dummy_prefix

    def decode(self, ids: Sequence[int], /) -> str:
        data = b"".join(map(self.token_bytes, ids))
        return data.removeprefix(self.dummy_prefix).decode("utf-8", errors="replace")

    def token_bytes(self, token_id: int, /) -> bytes:
        check_id(token_id, self.vocab_size)
        return self._tokens[token_id]


def _start(text: str) -> str:
    return repr(text) if len(text) <= _SHOWN else f"{text[:_SHOWN]!r}… ({len(text)} characters)"
