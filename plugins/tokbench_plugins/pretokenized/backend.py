"""The backend ``pretokenized``: ids or pieces of another program, from JSON Lines or Parquet."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field, model_validator

from tokbench import plugin

if TYPE_CHECKING:
    from tokbench_plugins.pretokenized.tokenizer import Pretokenized

__all__ = ["LoadOptions", "register_backends"]


class LoadOptions(plugin.Options):
    """Options of a file of texts and what some tokenizer made of them.

    >>> LoadOptions(path="rows.jsonl", pieces="tokens").ids is None
    True
    """

    path: plugin.LocalPath = Field(description="a .jsonl or .parquet file, a text and its ids or pieces a row")
    text: str = Field(default="text", description="the field that holds the text")
    ids: str | None = Field(default=None, description="the field that holds the ids; 'ids' where nothing is said")
    pieces: str | None = Field(default=None, description="instead of ids: the field that holds the pieces")
    spelling: Literal["text", "byte_level", "sentencepiece"] = Field(
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


def _load(options: LoadOptions) -> Pretokenized:
    from tokbench_plugins.pretokenized.ids import Ids, PieceIds, shown
    from tokbench_plugins.pretokenized.pieces import read_vocabulary
    from tokbench_plugins.pretokenized.rows import read_rows
    from tokbench_plugins.pretokenized.tokenizer import LookUp

    field = options.pieces or options.ids or "ids"
    known, tokens = ({}, []) if options.vocab is None else read_vocabulary(options.vocab, options.spelling)
    ids_of = PieceIds(options, known, tokens) if options.pieces else Ids(options, tokens)
    table = LookUp()
    for where, (text, found) in read_rows(options.path, (options.text, field)):
        if not isinstance(text, str):
            raise plugin.BackendError(f"{where}: {options.text!r} is {shown(text)}, not a text")
        if not isinstance(found, list):
            raise plugin.BackendError(f"{where}: {field!r} is {shown(found)}, not a list")
        if not table.add(text, ids_of(where, found)):
            raise plugin.BackendError(f"{where}: the text {shown(text)} was there before, with other {field}")
    if not len(table):
        raise plugin.BackendError(f"{options.path}: has no rows")
    return ids_of.tokenizer(table)


@plugin.hookimpl
def register_backends(register: Callable[[plugin.BackendSpec], None]) -> None:
    """Bring ``pretokenized``."""
    register(
        plugin.BackendSpec(
            name="pretokenized",
            summary="ids or pieces computed by another program, in any language, looked up text by text",
            load=_load,
            load_options=LoadOptions,
        )
    )
