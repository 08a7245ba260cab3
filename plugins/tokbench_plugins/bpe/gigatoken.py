"""Encoding in bulk by gigatoken, with our vocabulary: the engine ``gigatoken``, which runs only where it is named.

- It recognises every special token that it knows, so it gets none.
- It recovers the merges from ranks. Vocabularies in which they may differ are refused.
- It reads ranks from a file only: one is written for it, and deleted.
- It has another version of Unicode. A document with a character that this Python does not know is encoded by us.
- At setup it must give the ids of :class:`.fast.encode.Encoder` for all of :func:`sample_texts`.
"""

from __future__ import annotations

import base64
import tempfile
import unicodedata
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tokbench.plugin import Encoded, valid_unicode
from tokbench_plugins.bpe.fast.encode import Encoder
from tokbench_plugins.bpe.patterns import pattern_name
from tokbench_plugins.bpe.recovery.canonical import is_canonical
from tokbench_plugins.bpe.vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SPLITS: Final = frozenset({"gpt2", "gpt4", "o200k"})

_BLOCK: Final = 1 << 14  # characters, about, looked through at once for those that are too new

_PIECES: Final = (
    "The quick brown fox doesn't jump; WE'LL see: 'tis o'clock, they'Ve I'M it'\u017f",
    "x = [1, 22, 333, 4444, 1234567]\n\n\tif a!=b and(c):\r\n        return {**d}  # 50%...!!\n",
    "  leading, trailing  \t \u00a0\u3000 spaces \n \n\n   ",
    "Größe naïve e\u0301te\u0301 İstanbul ǅungla ʰa ªº ⅷ²٣٤१२๓",
    "Привет, мир! Ελληνικά. שָׁלוֹם العَرَبِيَّة हिन्दी में ไทยภาษา ខ្មែរ",
    "日本語のテキスト、中文分词。한국어 문장🙂🏽👩‍👩‍👧 🇩🇪 a\ufe0f\u200b\u200dz",
    "myVarName HTTPServer snake_case kebab-case path/to//file.py https://a.b/c?d=e&f=%20#g",
    "<|endoftext|> </s> <|im_start|>user \x00\x1f\x7f\ufeff\ufffd\U0010ffff",
    "aaaaaaaaaaaaaaaa" * 8 + "    " * 40 + "----====" * 20 + "0123456789" * 10,
)


def has_gigatoken() -> bool:
    """Return True if gigatoken is installed, without importing it."""
    return find_spec("gigatoken") is not None


def refusal(vocabulary: Vocabulary, pattern: str | None) -> str | None:
    """Return why gigatoken cannot take this vocabulary, or ``None`` if it can.

    >>> refusal(Vocabulary.trained([(97, 98)]), None)
    'gigatoken does not know the pattern None'
    >>> refusal(Vocabulary.trained([(97, 98), (98, 99), (256, 99), (97, 257)]), "gpt4")
    'gigatoken cannot tell which of two merges makes a token'
    >>> refusal(Vocabulary.trained([(97, 98)]), "gpt4") is None
    True
    """
    if pattern is None or pattern_name(pattern) not in SPLITS:
        return f"gigatoken does not know the pattern {pattern!r}"
    if vocabulary.whole_chunks:
        return "gigatoken knows no tokens that no merge builds"
    if not is_canonical(vocabulary):
        return "gigatoken cannot tell which of two merges makes a token"
    return None


def sample_texts(vocabulary: Vocabulary) -> Iterator[str]:
    """Yield texts that an engine must encode as ours does: difficult pieces, parts of them, and the tokens."""
    for piece in _PIECES:
        yield piece
        yield from (piece[start : start + 7] for start in range(0, len(piece), 5))
    stride = max(1, len(vocabulary.tokens) // 2000)
    chosen = [token.decode("utf-8", "replace") for token in vocabulary.tokens[::stride]]
    yield from ("".join(chosen[start : start + 50]) for start in range(0, len(chosen), 50))
    yield " ".join(chosen)


class GigatokenEncoder:
    """Encodes batches of texts with a vocabulary and a named split, on one thread."""

    shortest = 1000
    """A call takes 118 us."""

    def __init__(self, vocabulary: Vocabulary, pattern: str | None) -> None:
        if (reason := refusal(vocabulary, pattern)) is not None:
            raise ValueError(reason)
        assert pattern is not None
        self._engine = _load(vocabulary, pattern_name(pattern))
        self._ours = Encoder(vocabulary, pattern)
        self._unknown = _unknown_characters()
        self._unknown_units = self._unknown[:0x10000].copy()  # half the memory to read, for most texts
        self._unknown_units[0xD800:0xE000] = True  # may be
        texts = list(sample_texts(vocabulary))
        ids, offsets = self.encode_batch(texts)
        for text, start, end in zip(texts, offsets[:-1], offsets[1:], strict=True):
            if ids[start:end].tolist() != self._ours(text):
                raise ValueError(f"gigatoken gives other ids than this engine for {text[:60]!r}")

    def encode_batch(self, texts: Sequence[str]) -> Encoded:
        try:
            encoded = self._encode_batch(texts)
        except TypeError:  # it refuses lone surrogates
            texts = list(map(valid_unicode, texts))
            encoded = self._encode_batch(texts)
        too_new: list[int] = []
        together = max(1, _BLOCK * len(texts) // (sum(map(len, texts)) + 1))
        for start in range(0, len(texts), together):
            block = texts[start : start + together]
            if self._has_unknown("".join(block)):
                too_new += (start + number for number, text in enumerate(block) if self._has_unknown(text))
        return self._with_ours(encoded, texts, too_new) if too_new else encoded

    def _encode_batch(self, texts: Sequence[str]) -> Encoded:
        import numpy as np

        if not texts:
            return Encoded(np.empty(0, np.uint32), np.zeros(1, np.int64))
        layout = self._engine.encode_batch(list(texts), parallel=False).layout
        offsets = np.asarray(layout.offsets.data, np.int64)
        ids = np.asarray(layout.content.data, np.uint32)
        return Encoded(ids[offsets[0] : offsets[-1]], offsets - offsets[0])

    def _has_unknown(self, text: str) -> bool:
        import numpy as np

        if text.isascii():
            return False
        units = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), np.uint16)
        if not self._unknown_units[units].any():
            return False
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        return bool(self._unknown[codes].any())

    def _with_ours(self, encoded: Encoded, texts: Sequence[str], numbers: Sequence[int]) -> Encoded:
        import numpy as np

        parts = np.split(encoded.ids, encoded.offsets[1:-1])
        for number in numbers:
            parts[number] = np.array(self._ours(texts[number]), np.uint32)
        return Encoded(np.concatenate(parts), np.cumsum([0, *map(len, parts)], dtype=np.int64))


def _unknown_characters() -> NDArray[np.bool_]:
    """Above plane 3 only plane 14 and the two private planes have characters."""
    import numpy as np

    unknown = np.ones(0x110000, np.bool_)
    for code in chain(range(0x40000), range(0xE0000, 0xE1000)):
        unknown[code] = unicodedata.category(chr(code)) == "Cn"
    unknown[0xF0000:] = False
    return unknown


def _load(vocabulary: Vocabulary, name: str) -> Any:
    import gigatoken

    lines = (b"%s %d\n" % (base64.b64encode(token), i) for i, token in enumerate(vocabulary.tokens) if token)
    with tempfile.TemporaryDirectory(prefix="tokbench-") as folder:
        path = Path(folder, "ranks.tiktoken")
        path.write_bytes(b"".join(lines))
        return gigatoken.Tokenizer.from_tiktoken(path, pretokenizer=name, special_tokens={})
