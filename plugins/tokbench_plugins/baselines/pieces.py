"""Vocabularies of the most frequent pieces of a text: characters, or words between spaces."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tokbench import plugin
from tokbench.foundation.errors import BackendError
from tokbench.foundation.files import write_atomically
from tokbench.tokenizers.batch import offsets_of
from tokbench.tokenizers.contract import Encoded, Offsets

_FORMAT = "tokbench-pieces/1"
_UNKNOWN = "\ufffd"
_WORDS = re.compile(r" ?\S+|\s+")


class _Pieces(ABC):
    """A list of the pieces of ids 1, 2, ...; id 0 is unknown and decodes to U+FFFD."""

    kind: ClassVar[str]
    unk_id = 0
    special_ids: ClassVar[Mapping[str, int]] = MappingProxyType({})
    lossless = False
    thread_safe = True
    file_suffix = ".pieces.json"

    def __init__(self, pieces: Sequence[str]) -> None:
        # A dict, not a list: the lookup fails for every id that does not exist, negative ones too.
        self._texts = dict(enumerate((_UNKNOWN, *pieces)))
        self._ids = {piece: number for number, piece in enumerate(pieces, 1)}
        self.vocab_size = len(self._texts)

    @staticmethod
    @abstractmethod
    def split(text: str) -> Sequence[str]:
        """The pieces joined are the text."""

    @staticmethod
    @abstractmethod
    def rank(counts: Counter[str]) -> list[str]:
        """The most frequent pieces come first."""

    def encode(self, text: str, /) -> list[int]:
        if not isinstance(text, str):
            raise TypeError(f"encode takes a string, not {type(text).__name__}")
        find = self._ids.get
        return [find(piece, 0) for piece in self.split(text)]

    def encode_with_offsets(self, text: str, /) -> Offsets:
        ends = accumulate(len(piece.encode()) for piece in self.split(text))
        return Offsets(self.encode(text), list(ends))

    def decode(self, ids: Sequence[int], /) -> str:
        try:
            return "".join(map(self._texts.__getitem__, ids))
        except KeyError as error:
            raise ValueError(f"id {error} is not in the vocabulary of {self.vocab_size} tokens") from None

    def token_bytes(self, token_id: int, /) -> bytes:
        return self.decode([token_id]).encode()

    def save(self, path: Path, /) -> None:
        content = {"format": _FORMAT, "kind": self.kind, "pieces": [*self._ids]}
        write_atomically(path, json.dumps(content, separators=(",", ":")).encode() + b"\n")


class CodePoints(_Pieces):
    """The most frequent characters; among equals the lower code point comes first.

    >>> tokenizer = train("codepoints", ["banana band"], 4)
    >>> tokenizer.encode("nab!"), tokenizer.decode([2, 1, 3, 0])
    ([2, 1, 3, 0], 'nab\ufffd')
    """

    kind = "codepoints"

    @staticmethod
    def split(text: str) -> Sequence[str]:
        return text

    @staticmethod
    def rank(counts: Counter[str]) -> list[str]:
        return sorted(counts, key=lambda char: (-counts[char], char))

    def encode_batch(self, texts: Sequence[str], /) -> Encoded:
        codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4")
        return Encoded(self._table[codes], offsets_of(map(len, texts), len(texts)))

    @cached_property
    def _table(self) -> NDArray[np.uint32]:
        table = np.zeros(0x110000, dtype=np.uint32)
        table[list(map(ord, self._ids))] = list(self._ids.values())
        return table


class WhitespaceWords(_Pieces):
    r"""The most frequent words with the one space before them, and runs of other white space.

    Among equals the first in the text wins.

    >>> tokenizer = train("whitespace_words", ["to be or not to be"], 4)
    >>> [tokenizer.token_bytes(i) for i in range(4)]
    [b'\xef\xbf\xbd', b' be', b'to', b' or']
    >>> tokenizer.encode("to be free")
    [2, 1, 0]
    """

    kind = "whitespace_words"

    @staticmethod
    def split(text: str) -> Sequence[str]:
        return _WORDS.findall(text)

    @staticmethod
    def rank(counts: Counter[str]) -> list[str]:
        return [piece for piece, _ in counts.most_common()]


_KINDS: dict[str, type[CodePoints | WhitespaceWords]] = {kind.kind: kind for kind in (CodePoints, WhitespaceWords)}


def train(
    kind: str, documents: Iterable[str], vocab_size: int, progress: plugin.TrainProgress = plugin.silent
) -> CodePoints | WhitespaceWords:
    """Count pieces and keep the most frequent ``vocab_size - 1``."""
    cls = _KINDS[kind]
    counts: Counter[str] = Counter()
    progress(0, 1)
    for document in documents:
        counts.update(cls.split(document))
    if not counts:
        raise BackendError(f"{kind} has nothing to train on: the training text is empty")
    tokenizer = cls(cls.rank(counts)[: vocab_size - 1])
    progress(1, 1)
    return tokenizer


def load(kind: str, path: Path) -> CodePoints | WhitespaceWords:
    """Read a saved vocabulary; a wrong file raises BackendError."""
    try:
        content: Any = plugin.parse_json(plugin.read_file(path, text=True))
    except plugin.TextError as error:
        raise BackendError(f"{error.at(path)}; train again or restore the file") from error
    match content:
        case {"format": "tokbench-pieces/1", "kind": str(saved)} if saved != kind:
            raise BackendError(f"{path}: saved by another backend; load it with 'backend: {saved}'")
        case {"format": "tokbench-pieces/1", "pieces": list(pieces)} if _are_pieces(pieces, _KINDS[kind]):
            return _KINDS[kind](pieces)
        case {"format": "tokbench-pieces/1"}:
            raise BackendError(f"{path}: damaged: its pieces are not pieces of {kind}; train again or restore the file")
        case _:
            raise BackendError(f"{path}: not a file that {kind} of this version saved (format {_FORMAT!r})")


def _are_pieces(pieces: list[Any], kind: type[_Pieces]) -> bool:
    whole = all(isinstance(piece, str) and len(kind.split(piece)) == 1 for piece in pieces)
    return whole and len(set(pieces)) == len(pieces)
