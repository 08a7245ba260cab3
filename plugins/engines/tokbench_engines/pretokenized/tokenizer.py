"""Tokenizers that look up the ids of known texts."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from tokbench.plugin import BackendError, Encoded, check_id

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
