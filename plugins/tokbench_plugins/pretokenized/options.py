"""The options of the backend ``pretokenized``."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from tokbench import plugin


class LoadOptions(plugin.Options):
    """Options of a file of texts and what some tokenizer made of them.

    >>> LoadOptions(path="rows.jsonl", pieces="tokens").ids is None
    True
    """

    path: plugin.LocalPath = Field(description="a .jsonl or .parquet file, a text and its ids or pieces a row")
    text: str = Field(default="text", description="the field that holds the text")
    ids: str | None = Field(default=None, description="the field that holds the ids; default: ids")
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
