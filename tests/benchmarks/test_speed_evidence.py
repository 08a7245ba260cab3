"""Evidence for the numbers of speed. Run with ``pytest tests/benchmarks/test_speed_evidence.py --benchmark-enable``.

The machine must have nothing else to do. The record of each benchmark says what was found (``--benchmark-json FILE``).
"""

from __future__ import annotations

import gc
import os
import pickle
import random
import sysconfig
import threading
import time
from pathlib import Path
from statistics import median

import pytest
from sleeping_backends import Sleeps, SleepsInBatches

import tokbench
from tokbench.comparison.compare import compare
from tokbench.comparison.gate import Rule, check_rules
from tokbench.foundation.progress import silent
from tokbench.measuring.isolated_metric import StepAnswers
from tokbench.measuring.metric import TimedText
from tokbench.metrics.speed.growth import Growth, GrowthOptions
from tokbench.metrics.speed.latency import Latency, LatencyOptions
from tokbench.metrics.speed.measure import Speed, SpeedOptions
from tokbench.metrics.speed.threads import ThreadOptions, Threads
from tokbench.results.model import NamedRun

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


class Spins(Sleeps):
    def encode(self, text, /):
        until = time.perf_counter_ns() + 20_000_000
        while time.perf_counter_ns() < until:
            pass
        return list(text.encode())


@pytest.mark.parametrize("engine", [Sleeps(0.02), Spins()])
def test_an_engine_of_known_cost(benchmark, engine):
    documents = [f"{k} ".ljust(1000, "x") for k in range(1000, 1044)]
    text = TimedText("c", True, 44_000, documents)
    outcome = benchmark.pedantic(
        lambda: Speed(SpeedOptions(rounds=10)).measure({"a": engine}, [text], silent), rounds=1
    )
    error = outcome.cells[0].value / (1000 / 0.02 / 1e6) - 1
    benchmark.extra_info["error"] = round(error, 4)
    assert abs(error) <= 0.02


def single(tokenizer, documents):
    for document in documents:
        tokenizer.encode(document)


def script(engines, call, documents):
    """Time two engines with a loop of its own, and return the ratios of speed: (low, median, high), and that of CPU time.

    Text is seen once, rounds are interleaved, and no code of the families is used. The ends are the 6th and 15th of 20
    rounds, which hold the median with 95.9 %.
    """
    fresh = {name: pickle.loads(pickle.dumps(engine)) for name, engine in engines.items()}
    order, each = random.Random(7), len(documents) // 21
    documents = order.sample(documents, len(documents))
    walls, cpus = [], []
    for start in range(0, 21 * each, each):
        wall, cpu = {}, {}
        for name in order.sample(list(fresh), 2):
            gc.collect()
            begun, used = time.perf_counter(), time.process_time()
            call(fresh[name], documents[start : start + each])
            wall[name], cpu[name] = time.perf_counter() - begun, time.process_time() - used
        reference, other = engines
        walls.append(wall[reference] / wall[other])
        cpus.append(cpu[reference] / cpu[other])
    ordered = sorted(walls[1:])  # the first round warms up
    return (ordered[5], median(ordered), ordered[14]), median(cpus[1:])


def batch_cell(engines, name, text):
    cell = ratio(engines, text, name, rounds=20)
    return cell.ci_low, cell.value, cell.ci_high


def single_cell(engines, name, text):
    """The ratio of two speeds; its ends are those of the one over the others of the other."""
    outcome = Latency(LatencyOptions(sizes=["1 KB"], documents=1900)).measure(engines, [text], silent)
    found = {cell.tokenizer: cell for cell in outcome.cells if cell.metric == "single_1kb_mb_per_s"}
    mine, other = found[name], found[next(iter(engines))]
    return mine.ci_low / other.ci_high, mine.value / other.value, mine.ci_high / other.ci_low


@pytest.mark.parametrize("path", ["one at a time", "batch"])
@pytest.mark.parametrize("name", [name for name in ENGINES if name != "tiktoken"])
def test_an_independent_script_finds_the_same_ratio(benchmark, name, path):
    """The same call is compared: `encode` of one document of 1 KB, or `encode_batch` of documents of 4 KB.

    Both see as much text, 2 MB, because engines with a cache become faster the more text they have seen.
    """
    engines = {each: tokbench.load(ENGINES[each], encoding="cl100k_base") for each in ("tiktoken", name)}
    text = texts(SpeedOptions().max_bytes)
    if path == "batch":
        low, value, high = benchmark.pedantic(lambda: batch_cell(engines, name, text), rounds=1)
        script_ends, cpu = script(engines, lambda engine, some: engine.encode_batch(some), text.documents)
    else:
        low, value, high = benchmark.pedantic(lambda: single_cell(engines, name, text), rounds=1)
        joined = "".join(text.documents)
        documents = [joined[start : start + 1000] for start in range(0, len(joined) - 999, 1000)][:1900]
        script_ends, cpu = script(engines, single, documents)
    benchmark.extra_info.update({"family": (low, value, high), "script": script_ends, "script, CPU time": cpu})
    assert low <= script_ends[2], (low, value, high, script_ends, cpu)
    assert script_ends[0] <= high, (low, value, high, script_ends, cpu)


def test_an_engine_that_is_timed_again_raises_no_alarm_and_a_slower_one_does(benchmark, install, tmp_path):
    """Each of 11 runs against each other one: 110 comparisons; and one that is 15 % slower against each of them."""
    install("sleeping_backends")
    (tmp_path / "text.txt").write_text("a line of forty bytes, with its end ...\n" * 500, encoding="utf-8")

    def timed(name, us_per_byte):
        path = tmp_path / "run.yaml"
        path.write_text(
            f"schema: tokbench/1\nname: {name}\n"
            "corpora: {text: {source: text, path: text.txt}}\n"
            f"tokenizers: {{mine: {{backend: sleeping, us_per_byte: {us_per_byte}}}, other: {{backend: sleeping}}}}\n"
            "metrics: [speed: {rounds: 20, reference: other}]\n"
            "report: {formats: [csv]}\n",
            encoding="utf-8",
        )
        return NamedRun(name, tokbench.run(path, workers=0))

    rule = Rule.parse("mine: encode_ratio < -5%")
    runs = benchmark.pedantic(lambda: [timed(f"run-{k}", 6.0) for k in range(11)], rounds=1)
    alarms = [check_rules([rule], compare(one, two)) for one in runs for two in runs if one is not two]
    assert len(alarms) == 110
    assert not any(alarms)
    slower = timed("slower", 6.9)
    assert all(check_rules([rule], compare(run, slower)) for run in runs)


def test_threads_gain_what_the_engine_lets_them(benchmark):
    class OneAtATime(SleepsInBatches):
        lock = threading.Lock()

        def encode_batch(self, texts, /):
            with self.lock:
                return super().encode_batch(texts)

    engines = {"free": SleepsInBatches(by_byte=2e-7), "locked": OneAtATime(by_byte=2e-7)}
    documents = [f"{k} ".ljust(4000, "x") for k in range(1000, 1700)]
    text = TimedText("c", True, 4000 * len(documents), documents)
    metric = Threads(ThreadOptions(rounds=3, most=2))
    outcome = benchmark.pedantic(lambda: metric.measure(engines, [text], silent), rounds=1)
    found = {cell.tokenizer: cell.value for cell in outcome.cells if cell.metric == "threads_2_efficiency"}
    if not found:
        pytest.skip("this machine has one CPU")
    benchmark.extra_info.update(found)
    assert found["locked"] == pytest.approx(0.5, abs=0.1)
    assert found["free"] > found["locked"] + 0.15


def test_our_engine_grows_linearly_on_every_shape(benchmark):
    tokenizer = tokbench.load("tokbench_bpe", encoding="cl100k_base", engine="numba")
    tokenizer.warm_up()
    metric = Growth(GrowthOptions())
    measure = lambda: {shape: StepAnswers(list(metric.measure(shape, lambda: tokenizer))) for shape in metric.steps}  # noqa: E731
    found = benchmark.pedantic(measure, rounds=1)
    cells = [cell for cell in metric.finish({"a": found}, {}).cells if cell.metric == "growth_exponent"]
    benchmark.extra_info.update({cell.group: round(cell.value, 2) for cell in cells})
    assert len(cells) == 6
    assert max(cell.value for cell in cells) <= 1.1
