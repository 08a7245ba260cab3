"""The backend ``pretokenized``: ids or pieces of another program, from JSON Lines."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Self

from pydantic import Field, model_validator

from tokbench import plugin
from tokbench.plugin import BackendError
from tokbench_engines.pretokenized.tokenizer import (
    LookUp,
    PieceVocabulary,
    Pretokenized,
    PretokenizedBytes,
    Spelling,
    piece_bytes,
    read_vocabulary,
)

_MOST: Final = 1 << 32
_SHOWN: Final = 40


class PretokenizedLoadOptions(plugin.Options):
    """Options of a file of texts and what some tokenizer made of them."""

    path: plugin.LocalPath = Field(description="a file of JSON Lines, a text and its ids or pieces a row")
    text: str = Field(default="text", description="the field that holds the text")
    ids: str | None = Field(default=None, description="the field that holds the ids; default: ids")
    pieces: str | None = Field(default=None, description="instead of ids: the field that holds the pieces")
    spelling: Spelling = Field(
        default="text", description="how pieces are written: text, byte_level (Ġthe) or sentencepiece (▁the, <0xE2>)"
    )
    vocab: plugin.LocalPath | None = Field(
        default=None, description="the pieces by id: a .json list or object, or a piece a line from id 0 on"
    )
    vocab_size: int | None = Field(
        default=None, ge=1, le=1 << 32, description="size of the vocabulary, without vocab; default: from the rows"
    )

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if self.ids is not None and self.pieces is not None:
            raise ValueError("give either 'ids' or 'pieces'")
        if self.vocab is not None and self.vocab_size is not None:
            raise ValueError("'vocab' sets the size of the vocabulary; leave 'vocab_size' out")
        if self.spelling != "text" and self.pieces is None and self.vocab is None:
            raise ValueError("'spelling' says how 'pieces' or 'vocab' are written; give one of them")
        return self


class _Ids:
    """The ids of rows: checked, or of pieces by the vocabulary or as they come."""

    def __init__(self, options: PretokenizedLoadOptions) -> None:
        known = read_vocabulary(options.vocab, options.spelling) if options.vocab else PieceVocabulary({}, [])
        self._options, self._known, self._tokens = options, known.ids, known.tokens
        self._limit = len(known.tokens) or options.vocab_size or _MOST
        self._highest = -1
        self._prefixed = options.spelling == "sentencepiece"  # while every row begins with a space of the model's own

    def of_row(self, where: str, given: list[Any]) -> list[int]:
        ids = [self._of_piece(where, piece) for piece in given] if self._options.pieces else given
        for token_id in ids:
            if type(token_id) is not int or not 0 <= token_id < self._limit:
                raise BackendError(f"{where}: {_shown(token_id)} is not an id from 0 to {self._limit - 1}")
        if ids:
            self._highest = max(self._highest, *ids)
            self._prefixed = self._prefixed and self._tokens[ids[0]].startswith(b" ")
        return ids

    def _of_piece(self, where: str, piece: Any) -> int:
        if not isinstance(piece, str):
            raise BackendError(f"{where}: {_shown(piece)} is not a piece of text")
        if piece not in self._known:
            if self._options.vocab:
                raise BackendError(f"{where}: {self._options.vocab} has no piece {_shown(piece)}")
            if len(self._tokens) == self._limit:
                raise BackendError(f"{where}: more different pieces than vocab_size: {self._limit}")
            try:
                self._tokens.append(piece_bytes(piece, self._options.spelling))
            except ValueError as error:
                raise BackendError(f"{where}: {error}") from error
            self._known[piece] = len(self._known)
        return self._known[piece]

    def tokenizer(self, table: LookUp) -> Pretokenized:
        path, size = self._options.path, self._options.vocab_size
        open_ended = not (self._options.vocab or size)
        if not self._tokens:
            note = "its vocabulary comes from its rows: the highest id and all below it"
            return Pretokenized(path, table, size or self._highest + 1, (note,) if open_ended else ())
        tokens = self._tokens + [b""] * ((size or 0) - len(self._tokens))
        note = "its vocabulary is the pieces of its rows, numbered as they come"
        return PretokenizedBytes(path, table, tokens, b" " if self._prefixed else b"", (note,) if open_ended else ())


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _rows(path: Path, fields: Sequence[str]) -> Iterator[tuple[str, list[Any]]]:
    """Yield the place of each row, ``file:line``, and the values of some fields."""
    with plugin.opened(path) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            where = f"{path}:{number}"
            try:
                row = plugin.parse_json(line)
            except plugin.TextError as error:
                raise BackendError(f"{error.at(path, number)}; a line is a JSON object") from None
            if not isinstance(row, dict):
                raise BackendError(f"{where}: not a JSON object with {' and '.join(map(repr, fields))}")
            for field in fields:
                if field not in row:
                    raise BackendError(f"{where}: no field {field!r}; {plugin.did_you_mean(field, row)}")
            yield where, [row[field] for field in fields]


def _load(options: PretokenizedLoadOptions) -> Pretokenized:
    field = options.pieces or options.ids or "ids"
    ids = _Ids(options)
    table: dict[str, array[int]] = {}
    for where, (text, given) in _rows(options.path, (options.text, field)):
        if not isinstance(text, str):
            raise BackendError(f"{where}: {options.text!r} is {_shown(text)}, not a text")
        if not isinstance(given, list):
            raise BackendError(f"{where}: {field!r} is {_shown(given)}, not a list")
        row = array("I", ids.of_row(where, given))
        if table.setdefault(text, row) != row:
            raise BackendError(f"{where}: the text {_shown(text)} was there before, with other {field}")
    if not table:
        raise BackendError(f"{options.path}: has no rows")
    return ids.tokenizer(table)


SPEC = plugin.BackendSpec(
    name="pretokenized",
    summary="ids or pieces computed by another program, in any language, looked up text by text",
    load=_load,
    load_options=PretokenizedLoadOptions,
    main="path",
)
