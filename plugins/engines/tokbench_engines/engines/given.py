"""What engines of other libraries are given: a vocabulary as a temporary file, and texts to compare their ids on."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal, TypeVar

from pydantic import Field

from tokbench import plugin
from tokbench_plugins.bpe import SPECIAL_OPTION, Parts, Vocabulary, write_ranks
from tokbench_plugins.bpe.formats.tokenizer_json import tokenizer_json
from tokbench_plugins.tokbench_bpe.vocabulary import EngineVocabulary

T = TypeVar("T")

_LLAMA3: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


class PackageOptions(plugin.Options):
    """Options of a vocabulary in the package."""

    encoding: Literal["cl100k_base", "o200k_base"] = Field(description="cl100k_base or o200k_base")
    special_tokens: tuple[str, ...] = SPECIAL_OPTION


def holes(vocabulary: EngineVocabulary) -> frozenset[int]:
    """Return the ids below the last that have no token."""
    ranks = vocabulary.ranks
    pairs = enumerate(vocabulary.vocabulary.tokens) if ranks is None else ((i, token) for token, i in ranks.items())
    ids = {token_id for token_id, token in pairs if token}
    return frozenset(range(max(ids))).difference(ids)


def in_llama3_spelling(vocabulary: EngineVocabulary) -> EngineVocabulary:
    """Return the vocabulary with Llama 3's expression for the split of GPT-4, which cuts every text alike."""
    return replace(vocabulary, pattern=_LLAMA3) if vocabulary.pattern == "gpt4" else vocabulary


def through_ranks(vocabulary: EngineVocabulary, load: Callable[[str], T]) -> T:
    """Return what ``load`` makes of a temporary ``.tiktoken`` file with these ranks, an empty token left out."""
    if vocabulary.ranks is None:
        raise plugin.BackendError("this engine takes ranks, and the merges of this vocabulary do not follow its ids")
    with tempfile.TemporaryDirectory(prefix="tokbench-") as folder:
        path = Path(folder, "ranks.tiktoken")
        write_ranks(path, {token: rank for token, rank in vocabulary.ranks.items() if token})
        return load(str(path))


def through_json(vocabulary: EngineVocabulary, load: Callable[[str], T]) -> T:
    """Return what ``load`` makes of a temporary ``tokenizer.json`` without special tokens; gaps get unlikely names.

    Engines refuse or misread a file with missing ids: these get names that no text spells.
    """
    content = tokenizer_json(Parts(vocabulary.vocabulary, vocabulary.pattern))
    content["model"]["vocab"].pop("", None)
    content["model"]["vocab"].update((f"\uffff{token_id}", token_id) for token_id in sorted(holes(vocabulary)))
    with tempfile.TemporaryDirectory(prefix="tokbench-") as folder:
        path = Path(folder, "tokenizer.json")
        path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
        return load(str(path))


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
