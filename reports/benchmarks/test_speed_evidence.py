"""Evidence for the numbers of speed. Run with ``pytest reports/benchmarks/test_speed_evidence.py --benchmark-enable``.

The machine must have nothing else to do. The record of each benchmark says what was found (``--benchmark-json FILE``).
"""

from __future__ import annotations

import gc
import os
import pickle
import random
import sysconfig
import time
from pathlib import Path
from statistics import median

import pytest
from sleeping_backends import Sleeps

import tokbench
from tokbench.foundation.progress import silent
from tokbench.measuring.timing.contract import TimedText
from tokbench.studies.speed.measure import Speed, SpeedOptions


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


def test_an_engine_of_known_cost(benchmark):
    documents = [f"{k} ".ljust(1000, "x") for k in range(1000, 1044)]
    text = TimedText("c", True, 44_000, documents)
    outcome = benchmark.pedantic(
        lambda: Speed(SpeedOptions(rounds=10)).measure({"a": Sleeps(0.02)}, [text], silent), rounds=1
    )
    error = outcome.cells[0].value / (1000 / 0.02 / 1e6) - 1
    benchmark.extra_info["error"] = round(error, 4)
    assert abs(error) <= 0.02


def script(engines, documents):
    """Time two engines with a loop of its own, and return the ratio of speed: low, median, high.

    Text is seen once, rounds are interleaved, and no code of the families is used. The ends are the 6th and 15th of 20
    rounds, which hold the median with 95.9 %.
    """
    fresh = {name: pickle.loads(pickle.dumps(engine)) for name, engine in engines.items()}
    order, each = random.Random(7), len(documents) // 21
    documents = order.sample(documents, len(documents))
    walls = []
    for start in range(0, 21 * each, each):
        wall = {}
        for name in order.sample(list(fresh), 2):
            gc.collect()
            begun = time.perf_counter()
            fresh[name].encode_batch(documents[start : start + each])
            wall[name] = time.perf_counter() - begun
        reference, other = engines
        walls.append(wall[reference] / wall[other])
    ordered = sorted(walls[1:])  # the first round warms up
    return ordered[5], median(ordered), ordered[14]


@pytest.mark.parametrize("name", ["kitoken", "fastokens", "gigatoken"])
def test_an_independent_script_finds_the_same_ratio(benchmark, name):
    """Both see as much text, 2 MB, because engines with a cache become faster the more text they have seen."""
    engines = {each: tokbench.load(each, encoding="cl100k_base") for each in ("tiktoken", name)}
    text = texts(SpeedOptions().max_bytes)
    cell = benchmark.pedantic(lambda: ratio(engines, text, name, rounds=20), rounds=1)
    low, found, high = script(engines, text.documents)
    benchmark.extra_info.update({"family": (cell.ci_low, cell.value, cell.ci_high), "script": (low, found, high)})
    assert cell.ci_low <= high
    assert low <= cell.ci_high
