"""Evidence for the numbers of speed. Run with ``pytest tests/benchmarks/test_speed_evidence.py --benchmark-enable``.

The machine must have nothing else to do. The record of each benchmark says what was found (``--benchmark-json FILE``).
"""

from __future__ import annotations

import os
import pickle
import random
import sysconfig
import time
from pathlib import Path
from statistics import median

import pytest

import tokbench
from tokbench.contracts.metric import TimedText
from tokbench.metrics.families.speed.measure import Speed, SpeedOptions
from tokbench.progress import silent

ENGINES = {"tiktoken": "tiktoken", "kitoken": "kitoken", "fastokens": "fastokens", "gigatoken": "gigatoken"}


@pytest.fixture(autouse=True)
def only_if_enabled(benchmark):
    if not benchmark.enabled:
        benchmark(lambda: None)
        pytest.skip("evidence takes minutes on an idle machine; add --benchmark-enable")


def texts(n_bytes):
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    documents = [file.read_text(encoding="utf-8") for file in files]
    joined = "".join(documents)[:n_bytes]
    documents = [joined[start : start + 4000] for start in range(0, len(joined), 4000)]
    return TimedText("c", True, len(joined.encode()), documents)


def ratio(tokenizers, text, name, **options):
    metric = Speed(SpeedOptions(reference=next(iter(tokenizers)), **options))
    outcome = metric.measure(tokenizers, [text], silent)
    [cell] = [cell for cell in outcome.cells if (cell.tokenizer, cell.metric) == (name, "encode_ratio")]
    return cell


def test_one_tokenizer_under_two_names_beside_a_busy_process(benchmark):
    child = os.fork()
    while not child:
        pass
    try:
        engine = tokbench.load("splintr", vocabulary="cl100k_base")
        text = texts(2_000_000)
        step = lambda: [ratio({"a": engine, "b": engine}, text, "b", rounds=20, seed=seed) for seed in range(20)]  # noqa: E731
        cells = benchmark.pedantic(step, rounds=1)
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
    contain = sum(cell.ci_low <= 1 <= cell.ci_high for cell in cells)
    worst = max(abs(cell.value - 1) for cell in cells)
    benchmark.extra_info.update({"intervals with 1, of 20": contain, "worst error": round(worst, 4)})
    assert contain >= 19
    assert worst <= 0.05


class Sleeps:
    vocab_size = 256

    def encode(self, text, /):
        time.sleep(0.02)
        return list(text.encode())

    def decode(self, ids, /):
        return bytes(ids).decode(errors="replace")


class Spins(Sleeps):
    def encode(self, text, /):
        until = time.perf_counter_ns() + 20_000_000
        while time.perf_counter_ns() < until:
            pass
        return list(text.encode())


@pytest.mark.parametrize("engine", [Sleeps, Spins])
def test_an_engine_of_known_cost(benchmark, engine):
    documents = [f"{k} ".ljust(1000, "x") for k in range(1000, 1044)]
    text = TimedText("c", True, 44_000, documents)
    outcome = benchmark.pedantic(
        lambda: Speed(SpeedOptions(rounds=10)).measure({"a": engine()}, [text], silent), rounds=1
    )
    error = outcome.cells[0].value / (1000 / 0.02 / 1e6) - 1
    benchmark.extra_info["error"] = round(error, 4)
    assert abs(error) <= 0.02


@pytest.mark.parametrize("name", [name for name in ENGINES if name != "tiktoken"])
def test_an_independent_script_finds_the_same_ratio(benchmark, name):
    """A loop of its own: other text order, other rounds, no code of the family; it must fall into the interval."""
    engines = {each: tokbench.load(ENGINES[each], encoding="cl100k_base") for each in ("tiktoken", name)}
    text = texts(4_000_000)
    cell = benchmark.pedantic(lambda: ratio(engines, text, name, rounds=20), rounds=1)
    fresh = {each: pickle.loads(pickle.dumps(engine)) for each, engine in engines.items()}
    documents = list(text.documents)
    random.Random(7).shuffle(documents)
    ratios = []
    for start in range(0, len(documents) - 39, 40):
        seconds = {}
        for each in random.Random(start).sample(list(fresh), 2):
            begun = time.perf_counter()
            for document in documents[start : start + 40]:
                fresh[each].encode(document)
            seconds[each] = time.perf_counter() - begun
        ratios.append(seconds["tiktoken"] / seconds[name])
    found = median(ratios[1:])
    benchmark.extra_info.update({"ratio": cell.value, "interval": [cell.ci_low, cell.ci_high], "script": found})
    assert cell.ci_low * 0.9 <= found <= cell.ci_high * 1.1  # the script calls encode, document by document
