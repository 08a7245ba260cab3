"""Texts on which other engines are held against ours: whatever splits and bytes are difficult."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tokbench_plugins.bpe.vocabulary import Vocabulary

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


def sample_texts(vocabulary: Vocabulary) -> Iterator[str]:
    """Yield texts that an engine must encode as ours does: difficult pieces, parts of them, and the tokens."""
    for piece in _PIECES:
        yield piece
        yield from (piece[start : start + 7] for start in range(0, len(piece), 5))
    stride = max(1, len(vocabulary.tokens) // 2000)
    chosen = [token.decode("utf-8", "replace") for token in vocabulary.tokens[::stride]]
    yield from ("".join(chosen[start : start + 50]) for start in range(0, len(chosen), 50))
    yield " ".join(chosen)
