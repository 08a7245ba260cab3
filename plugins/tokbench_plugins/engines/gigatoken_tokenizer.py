"""A vocabulary in gigatoken, and gigatoken's trainer."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import gigatoken
import numpy as np

from tokbench.plugin import Encoded, valid_unicode
from tokbench_plugins.bpe.formats import Parts, write_tokenizer_json
from tokbench_plugins.bpe.patterns import PATTERNS
from tokbench_plugins.bpe.special import SpecialTokens
from tokbench_plugins.engines.tokenizer import Engine, EngineTokenizer, calling
from tokbench_plugins.engines.vocabulary import EngineVocabulary

_SEPARATOR: Final = b"\xff"  # a byte that UTF-8 does not have
_NOTE: Final = (
    "gigatoken's classes of characters are of a newer Unicode than tiktoken's: around characters that Unicode 17 "
    "brought (such as U+088F) ids may differ"
)


class GigatokenTokenizer(EngineTokenizer):
    """A byte-level vocabulary in gigatoken, which is given no special tokens: it would recognise them.

    Args:
        vocabulary: with a named split, or that of a tokenizer.json whose split gigatoken knows.

    Raises:
        BackendError: gigatoken does not know the split.

    >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"hi": 256}
    >>> tokenizer = GigatokenTokenizer(EngineVocabulary("gpt2", {}, ranks))
    >>> tokenizer.encode("hi <end>")
    [256, 32, 60, 101, 110, 100, 62]
    """

    file_suffix = ".tokenizer.json"

    def __init__(self, vocabulary: EngineVocabulary) -> None:
        native = calling("gigatoken", lambda: _native(vocabulary))

        def encode(text: str) -> list[int]:
            if not isinstance(text, str):  # it would take bytes
                raise TypeError(f"a text is a str, not {type(text).__name__}")
            ids: list[int] = native.encode(text).tolist()
            return ids

        def encode_many(texts: list[str]) -> Encoded:
            if not texts:
                return Encoded(np.empty(0, np.uint32), np.zeros(1, np.int64))
            layout = native.encode_batch(texts, parallel=False).layout
            offsets = np.asarray(layout.offsets.data, np.int64)
            ids = np.asarray(layout.content.data, np.uint32)
            return Encoded(ids[offsets[0] : offsets[-1]], offsets - offsets[0])

        engine = Engine("gigatoken", encode, native.decode, encode_many, notes=(_NOTE,))
        super().__init__(engine, vocabulary, (GigatokenTokenizer, (vocabulary,)))

    def save(self, path: Path, /) -> None:
        """Write a ``tokenizer.json``, which has the split, too.

        Raises:
            BackendError: the format cannot hold this vocabulary; the message says why.
            OSError: the file cannot be written.
        """
        given = self._vocabulary
        write_tokenizer_json(path, Parts(given.vocabulary, given.pattern, SpecialTokens(given.special)))


def _native(vocabulary: EngineVocabulary) -> Any:
    if vocabulary.ranks is None or vocabulary.pattern not in PATTERNS:
        return vocabulary.through_json(gigatoken.Tokenizer)
    split = vocabulary.pattern
    return vocabulary.through_ranks(
        lambda path: gigatoken.Tokenizer.from_tiktoken(path, pretokenizer=split, special_tokens={})
    )


def train(documents: Iterable[str], vocab_size: int, tie: str) -> GigatokenTokenizer:
    """Train with gigatoken, which splits as GPT-2.

    Args:
        documents: the training texts, gone through once and written to a file for it.
        vocab_size: number of ids to reach, the 256 bytes included.
        tie: which of several most frequent pairs, in gigatoken's words.

    Raises:
        BackendError: gigatoken failed.
    """
    with tempfile.TemporaryDirectory(prefix="tokbench-") as folder:
        path = Path(folder, "documents")
        with path.open("wb") as file:
            for number, document in enumerate(documents):
                file.write(_SEPARATOR * bool(number) + valid_unicode(document).encode())
        source = gigatoken.TextFileSource([path], separator=_SEPARATOR)
        tokens, _ = calling("gigatoken", lambda: gigatoken.train_bpe(source, vocab_size, [], tie_breaking=tie))
    ranks = {data: token_id for token_id, data in tokens.items()}
    return GigatokenTokenizer(EngineVocabulary("gpt2", {}, ranks))
