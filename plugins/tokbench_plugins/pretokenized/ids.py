"""The ids of rows: checked if they are given, assigned if there are pieces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tokbench.plugin import BackendError
from tokbench_plugins.pretokenized.options import LoadOptions
from tokbench_plugins.pretokenized.pieces import piece_bytes
from tokbench_plugins.pretokenized.tokenizer import LookUp, Pretokenized, PretokenizedBytes

_HIGHEST: Final = (1 << 32) - 1
_SHOWN: Final = 40


class Ids:
    """Checks the ids of rows."""

    def __init__(self, options: LoadOptions, tokens: list[bytes]) -> None:
        self._options = options
        self._tokens = tokens
        self._size = len(tokens) or options.vocab_size or 0
        self._highest = -1
        self._prefixed = True  # whether every row so far begins with a space of the model's own

    def __call__(self, where: str, ids: list[Any]) -> Sequence[int]:
        """Check the ids of a row.

        Raises:
            BackendError: one of them is not an id, or is beyond the vocabulary.
        """
        limit = self._size or _HIGHEST + 1
        for token_id in ids:
            if type(token_id) is not int or not 0 <= token_id < limit:
                raise BackendError(f"{where}: {shown(token_id)} is not an id from 0 to {limit - 1}")
        if ids:
            self._highest = max(self._highest, *ids)
            self._prefixed &= bool(self._tokens) and self._tokens[ids[0]].startswith(b" ")
        return ids

    @property
    def _dummy_prefix(self) -> bytes:
        return b" " if self._prefixed and self._options.spelling == "sentencepiece" else b""

    def tokenizer(self, table: LookUp) -> Pretokenized:
        """Make the tokenizer of all rows."""
        path = self._options.path
        if self._tokens:
            return PretokenizedBytes(path, table, self._tokens, self._dummy_prefix)
        note = () if self._size else ("its vocabulary is that of its rows: the highest id and all below it",)
        return Pretokenized(path, table, self._size or self._highest + 1, note)


class PieceIds(Ids):
    """Gives pieces ids: those of the vocabulary, or else in the order in which they come."""

    def __init__(self, options: LoadOptions, known: dict[str, int], tokens: list[bytes]) -> None:
        super().__init__(options, tokens)
        self._known = known
        self._closed = bool(known)

    def __call__(self, where: str, pieces: list[Any]) -> Sequence[int]:
        """Return the ids of a row's pieces.

        Raises:
            BackendError: one of them is not a piece, or is not in the vocabulary.
        """
        ids = []
        for piece in pieces:
            if not isinstance(piece, str):
                raise BackendError(f"{where}: {shown(piece)} is not a piece of text")
            token_id = self._known.get(piece)
            ids.append(self._new(where, piece) if token_id is None else token_id)
        self._size = len(self._tokens)
        return super().__call__(where, ids)

    def _new(self, where: str, piece: str) -> int:
        if self._closed:
            raise BackendError(f"{where}: {self._options.vocab} has no piece {shown(piece)}")
        try:
            self._tokens.append(piece_bytes(piece, self._options.spelling))
        except ValueError as error:
            raise BackendError(f"{where}: {error}") from error
        self._known[piece] = len(self._known)
        return self._known[piece]

    def tokenizer(self, table: LookUp) -> Pretokenized:
        """Make the tokenizer of all rows."""
        asked = self._options.vocab_size or len(self._tokens)
        if asked < len(self._tokens):
            raise BackendError(
                f"{self._options.path}: has {len(self._tokens)} different pieces, more than vocab_size: {asked}"
            )
        tokens = self._tokens + [b""] * (asked - len(self._tokens))
        known = self._closed or self._options.vocab_size
        note = () if known else ("its vocabulary is the pieces of its rows, numbered as they come",)
        return PretokenizedBytes(self._options.path, table, tokens, self._dummy_prefix, note)


def shown(value: Any) -> str:
    """Format a value for a message, cut where it is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
