"""The backend ``pretokenized``: ids or pieces of another program, from JSON Lines or Parquet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Self

from pydantic import Field, model_validator

from tokbench import plugin
from tokbench.plugin import BackendError
from tokbench_engines.pretokenized.pieces import PieceVocabulary, Spelling, piece_bytes, read_vocabulary
from tokbench_engines.pretokenized.rows import read_rows
from tokbench_engines.pretokenized.tokenizer import LookUp, Pretokenized, PretokenizedBytes

_HIGHEST: Final = (1 << 32) - 1
_SHOWN: Final = 40


class PretokenizedLoadOptions(plugin.Options):
    """Options of a file of texts and what some tokenizer made of them."""

    path: plugin.LocalPath = Field(description="a .jsonl or .parquet file, a text and its ids or pieces a row")
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
        default=None, ge=1, le=1 << 32, description="number of ids, without vocab; default: those that the rows have"
    )

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if self.ids is not None and self.pieces is not None:
            raise ValueError("give either 'ids' or 'pieces'")
        if self.vocab is not None and self.vocab_size is not None:
            raise ValueError("'vocab' says how many ids there are; leave 'vocab_size' out")
        if self.spelling != "text" and self.pieces is None and self.vocab is None:
            raise ValueError("'spelling' says how 'pieces' or 'vocab' are written; give one of them")
        return self


class _Ids:
    def __init__(self, options: PretokenizedLoadOptions, tokens: list[bytes]) -> None:
        self._options = options
        self._tokens = tokens
        self._size = len(tokens) or options.vocab_size or 0
        self._highest = -1
        self._prefixed = True  # True if every row so far begins with a space of the model's own

    def __call__(self, where: str, ids: list[Any]) -> Sequence[int]:
        limit = self._size or _HIGHEST + 1
        for token_id in ids:
            if type(token_id) is not int or not 0 <= token_id < limit:
                raise BackendError(f"{where}: {_shown(token_id)} is not an id from 0 to {limit - 1}")
        if ids:
            self._highest = max(self._highest, *ids)
            self._prefixed &= bool(self._tokens) and self._tokens[ids[0]].startswith(b" ")
        return ids

    @property
    def _dummy_prefix(self) -> bytes:
        return b" " if self._prefixed and self._options.spelling == "sentencepiece" else b""

    def tokenizer(self, table: LookUp) -> Pretokenized:
        path = self._options.path
        if self._tokens:
            return PretokenizedBytes(path, table, self._tokens, self._dummy_prefix)
        note = () if self._size else ("its vocabulary is that of its rows: the highest id and all below it",)
        return Pretokenized(path, table, self._size or self._highest + 1, note)


class _PieceIds(_Ids):
    def __init__(self, options: PretokenizedLoadOptions, known: dict[str, int], tokens: list[bytes]) -> None:
        super().__init__(options, tokens)
        self._known = known
        self._closed = bool(known)

    def __call__(self, where: str, pieces: list[Any]) -> Sequence[int]:
        ids = []
        for piece in pieces:
            if not isinstance(piece, str):
                raise BackendError(f"{where}: {_shown(piece)} is not a piece of text")
            token_id = self._known.get(piece)
            ids.append(self._new(where, piece) if token_id is None else token_id)
        self._size = len(self._tokens)
        return super().__call__(where, ids)

    def _new(self, where: str, piece: str) -> int:
        if self._closed:
            raise BackendError(f"{where}: {self._options.vocab} has no piece {_shown(piece)}")
        try:
            self._tokens.append(piece_bytes(piece, self._options.spelling))
        except ValueError as error:
            raise BackendError(f"{where}: {error}") from error
        self._known[piece] = len(self._known)
        return self._known[piece]

    def tokenizer(self, table: LookUp) -> Pretokenized:
        asked = self._options.vocab_size or len(self._tokens)
        if asked < len(self._tokens):
            raise BackendError(
                f"{self._options.path}: has {len(self._tokens)} different pieces, more than vocab_size: {asked}"
            )
        tokens = self._tokens + [b""] * (asked - len(self._tokens))
        known = self._closed or self._options.vocab_size
        note = () if known else ("its vocabulary is the pieces of its rows, numbered as they come",)
        return PretokenizedBytes(self._options.path, table, tokens, self._dummy_prefix, note)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _load(options: PretokenizedLoadOptions) -> Pretokenized:
    field = options.pieces or options.ids or "ids"
    known = PieceVocabulary({}, [])
    if options.vocab is not None:
        known = read_vocabulary(options.vocab, options.spelling)
    ids_of = _PieceIds(options, known.ids, known.tokens) if options.pieces else _Ids(options, known.tokens)
    table = LookUp()
    for where, (text, given) in read_rows(options.path, (options.text, field)):
        if not isinstance(text, str):
            raise BackendError(f"{where}: {options.text!r} is {_shown(text)}, not a text")
        if not isinstance(given, list):
            raise BackendError(f"{where}: {field!r} is {_shown(given)}, not a list")
        if not table.add(text, ids_of(where, given)):
            raise BackendError(f"{where}: the text {_shown(text)} was there before, with other {field}")
    if not len(table):
        raise BackendError(f"{options.path}: has no rows")
    return ids_of.tokenizer(table)


SPEC = plugin.BackendSpec(
    name="pretokenized",
    summary="ids or pieces computed by another program, in any language, looked up text by text",
    load=_load,
    load_options=PretokenizedLoadOptions,
    main="path",
)
