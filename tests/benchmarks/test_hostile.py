"""Time on hostile text: how it grows when the text doubles. Run with ``pytest tests/benchmarks --benchmark-enable``."""

from __future__ import annotations

import random
import string
from functools import partial
from time import process_time

import pytest

pytest.importorskip("numba")

from tokbench_plugins.bpe import BPETokenizer, train

TEXTS = {
    "one letter": lambda n: "a" * n,
    "spaces": lambda n: " " * n,
    "no spaces": lambda n: "".join(random.Random(2).choices(string.ascii_lowercase, k=n)),
    "random bytes": lambda n: random.Random(3).randbytes(n).decode("latin-1"),
    "one character per script": lambda n: "aбαאअก中あ한ა" * (n // 23),
    "one of each script": lambda n: "".join(random.Random(1).choices("aбαאअก中あ한ა", k=n // 23 * 10)),
    "digits": lambda n: "".join(random.Random(4).choices(string.digits, k=n)),
    "line breaks": lambda n: "\n \r" * (n // 3),
}


def engine_of(benchmark):
    """The compiled engine for figures; to see that a benchmark runs, the one that need not be compiled."""
    return "numba" if benchmark.enabled else "python"


def compared(benchmark, call, text):
    """Time ``call`` on 2n, and on n before every round; the ratio of the best goes into the record."""
    size = 10_000_000 if benchmark.enabled else 2_000
    half, whole = text(size // 2), text(size)
    halves, wholes = [], []

    def timed(times, argument):
        start = process_time()
        call(argument)
        times.append(process_time() - start)

    call(half)
    benchmark.pedantic(partial(timed, wholes, whole), setup=lambda: timed(halves, half), rounds=3)
    benchmark.extra_info["time at 2n / time at n"] = round(min(wholes) / min(halves), 2) if min(halves) else None


@pytest.mark.parametrize("pattern", [None, "gpt4", "o200k"])
@pytest.mark.parametrize("kind", TEXTS)
def test_training(benchmark, kind, pattern):
    compared(benchmark, lambda text: train([text], 4096, pattern, engine=engine_of(benchmark)), TEXTS[kind])


@pytest.mark.parametrize("kind", TEXTS)
def test_encoding(benchmark, kind):
    merges = train(["low lower lowest, 12 new newer newest \n" * 50], 400, "gpt4")
    tokenizer = BPETokenizer(merges, "gpt4", engine=engine_of(benchmark))
    compared(benchmark, lambda text: tokenizer.encode_batch([text]), TEXTS[kind])
