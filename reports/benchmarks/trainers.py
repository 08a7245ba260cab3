"""Trainers of byte-level BPE: each the fastest way its library has, from texts in memory, split of GPT-4."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from functools import cache

import corpora

from tokbench_plugins.bpe import PATTERNS, train

__all__ = ["TRAINERS", "peak_mib", "seconds"]


def _tokbench(texts: list[str], vocab_size: int, cores: int) -> int:
    return 256 + len(train(texts, vocab_size, "gpt4", engine="numba", processes=cores))


def _rustbpe(texts: list[str], vocab_size: int, _cores: int) -> int:
    import rustbpe

    tokenizer = rustbpe.Tokenizer()
    tokenizer.train_from_iterator(iter(texts), vocab_size, pattern=PATTERNS["gpt4"])
    return tokenizer.vocab_size


def _tokenizers(texts: list[str], vocab_size: int, _cores: int) -> int:
    from tokenizers import Regex, Tokenizer
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import ByteLevel, Sequence, Split
    from tokenizers.trainers import BpeTrainer

    tokenizer = Tokenizer(BPE())
    split = Split(Regex(PATTERNS["gpt4"]), "isolated")
    tokenizer.pre_tokenizer = Sequence([split, ByteLevel(add_prefix_space=False, use_regex=False)])
    alphabet = ByteLevel.alphabet()
    trainer = BpeTrainer(vocab_size=vocab_size, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(iter(texts), trainer)
    return tokenizer.get_vocab_size()


def _gigatoken(texts: list[str], vocab_size: int, _cores: int) -> int:
    import gigatoken

    vocabulary, _ = gigatoken.train_bpe("\0".join(texts).encode(), vocab_size, [], separator=b"\0")
    return len(vocabulary)


TRAINERS: dict[str, Callable[[list[str], int, int], int]] = {
    "tokbench": _tokbench,
    "rustbpe": _rustbpe,
    "tokenizers": _tokenizers,
    "gigatoken": _gigatoken,
}


@cache
def _warm(name: str, cores: int) -> None:
    """Whatever happens once in a process: imports, compiled code read from its cache, threads."""
    TRAINERS[name](corpora.sources(20_000), 257, cores)


def seconds(name: str, size: int, vocab_size: int, cores: int) -> float:
    """Time a training, split and count included, when code is compiled and libraries are loaded.

    Raises:
        ValueError: the vocabulary did not get the size that was asked for.
    """
    _warm(name, cores)
    texts = corpora.sources(size)
    start = time.perf_counter()
    reached = TRAINERS[name](texts, vocab_size, cores)
    taken = time.perf_counter() - start
    if reached != vocab_size:
        raise ValueError(f"{name} reached {reached} of {vocab_size} ids")
    return taken


def peak_mib(name: str, size: int, vocab_size: int, cores: int) -> float:
    """The largest memory of this process, which has trained just once; the texts are part of it."""
    seconds(name, size, vocab_size, cores)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
