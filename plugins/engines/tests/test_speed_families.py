"""Latency, threads, counting and appending: engines of known cost are measured as they are.

No test here depends on how fast the machine is: engines sleep on a clock of the test. ``reports/benchmarks`` has the
evidence on a real clock, in ``test_speed_evidence.py``.
"""

import gc
import threading
from collections import Counter
from typing import ClassVar

import numpy as np
import pytest
from sleeping_backends import Sleeps

from tokbench.foundation.progress import silent
from tokbench.measuring.study import Outcome
from tokbench.measuring.timing.conditions import machine_notes
from tokbench.measuring.timing.contract import TimedText
from tokbench.measuring.timing.copies import combined
from tokbench.results.cells import Cell, Status
from tokbench.studies.speed.measure import Speed, SpeedOptions
from tokbench.tokenizers.contract import CountsAlone, Encoded
from tokbench_engines.speed.counting import Appending, Counting
from tokbench_engines.speed.latency import Latency, LatencyOptions
from tokbench_engines.speed.threads import ThreadOptions, Threads


@pytest.fixture(autouse=True)
def no_collection(monkeypatch):
    """Each turn collects garbage, which takes seconds in a process with the objects of all tests before."""
    monkeypatch.setattr(gc, "collect", lambda: 0)


def text_of(documents):
    return TimedText("c", True, sum(len(document.encode()) for document in documents), documents)


def distinct(count, size):
    return [f"{k} ".ljust(size, "x") for k in range(1000, 1000 + count)]


def cells_of(outcome):
    return {(cell.tokenizer, cell.metric): cell for cell in outcome.cells}


@pytest.mark.usefixtures("clock")
def test_a_sleeping_engine_is_measured_as_it_is():
    cells = cells_of(Speed(SpeedOptions(rounds=3)).measure({"a": Sleeps(0.02)}, [text_of(distinct(16, 1000))], silent))
    assert cells["a", "encode_mb_per_s"].value == pytest.approx(1000 / 0.02 / 1e6)


def test_the_reference_is_the_option_or_the_one_of_same_as():
    metric = Speed(SpeedOptions(rounds=3))
    metric.same_as = {"b": "a", "c": "gone"}
    cells = cells_of(metric.measure({n: Sleeps() for n in "abc"}, [text_of(distinct(20, 50))], silent))
    assert cells["b", "encode_ratio"].status == Status.OK
    assert ("a", "encode_ratio") not in cells
    assert cells["c", "encode_ratio"].reason == "gone was not timed here"


@pytest.mark.usefixtures("clock")
def test_latency_is_that_of_single_documents_seen_once():
    class Remembers(Sleeps):
        seen: ClassVar = Counter()

        def encode(self, text, /):
            self.seen[text] += 1
            return super().encode(text)

    options = LatencyOptions(sizes=["100 B", "1 MB"], documents=30)
    outcome = Latency(options).measure({"a": Remembers(0.01)}, [text_of(distinct(500, 40))], silent)
    cells = cells_of(outcome)
    assert cells["a", "latency_100b_p50"].value == pytest.approx(10_000)
    assert cells["a", "latency_100b_p95"].value == pytest.approx(10_000)
    assert cells["a", "latency_100b_p99"].status == Status.NOT_APPLICABLE
    assert cells["a", "single_100b_mb_per_s"].value == pytest.approx(100 / 0.01 / 1e6)
    assert cells["a", "batch_100b_mb_per_s"].value == pytest.approx(100 / 0.01 / 1e6)
    assert cells["a", "latency_1mb_p50"].status == Status.NOT_APPLICABLE
    assert sum(count == 1 for count in Remembers.seen.values()) == 60  # 30 alone, 30 in batches


@pytest.mark.usefixtures("clock")
def test_threads_gain_what_the_engine_lets_them():
    """A batch takes a hundredth of a second, which threads pass together in one engine, and one by one in the other."""

    class OneAtATime(Sleeps):
        def encode_batch(self, texts, /):
            self.encode("")
            sizes = [len(text) for text in texts]
            return Encoded(np.zeros(sum(sizes), dtype=np.uint32), np.cumsum([0, *sizes]))

    class Together(OneAtATime):
        threads: ClassVar = 1
        two, have_met = threading.Barrier(2), False

        def encode_batch(self, texts, /):
            if self.threads == 2 and not self.have_met:
                self.two.wait(60)  # for the other thread, which works at the same time
                Together.have_met = True
            self.costs = 0.01 / self.threads, 0, 0
            return super().encode_batch(texts)

    def before_the_next_round(_, done, total):
        Together.threads, Together.have_met = 1 + done % 2, False

    metric = Threads(ThreadOptions(rounds=3, most=2))
    engines = {"free": Together(0.01), "locked": OneAtATime(0.01)}
    cells = cells_of(metric.measure(engines, [text_of(distinct(700, 4000))], before_the_next_round))
    if ("free", "threads_2_efficiency") not in cells:
        pytest.skip("this machine has one CPU")
    free, locked = (cells[name, "threads_2_efficiency"] for name in ("free", "locked"))
    assert (free.value, locked.value) == pytest.approx((1, 0.5), rel=0.05), "slices differ a little in size"
    assert free.n == locked.n == 3


def test_processes_are_one_value_each():
    outcomes = [
        Outcome(cells=[Cell("a", "c", "*", "m", value, "MB/s", n=10)], notes=[f"noise {value}"])
        for value in (90.0, 100.0, 110.0, 100.0, 100.0)
    ]
    [cell] = combined("speed", outcomes).cells
    assert cell.value == pytest.approx(99.8, abs=0.1)
    assert cell.n == 5
    assert (cell.ci_low, cell.ci_high) == pytest.approx((91.3, 109.1), abs=0.5)
    assert combined("speed", outcomes).notes[1:] == ["noise 90.0"], "of five that are alike the first"
    failed = Outcome(cells=[Cell("a", "c", "*", "m", status=Status.FAILED, reason="x")])
    assert combined("speed", [*outcomes, failed]).cells[0].reason == "x"


def test_what_of_the_machine_spoils_timings_is_told(tmp_path):
    (tmp_path / "proc").mkdir()
    for load, flags, notes in ((99.1, "hypervisor sse", 2), (0.1, "fpu sse", 0)):
        (tmp_path / "proc/loadavg").write_text(f"{load} 3.0 2.0 1/100 1\n")
        (tmp_path / "proc/cpuinfo").write_text(f"flags\t\t: {flags}\n")
        assert len(machine_notes("speed", tmp_path)) == notes


class Letters:
    vocab_size = 1 << 21

    def encode(self, text, /):
        return [ord(c) for c in text]

    def decode(self, ids, /):
        return "".join(map(chr, ids))


def measured(family, tokenizers, same_as):
    metric = family(SpeedOptions(rounds=4, min_time=1e-9))
    metric.same_as = same_as
    return cells_of(metric.measure(tokenizers, [text_of([f"document {k}" for k in range(50)])], silent))


def test_every_tokenizer_counts_by_its_own_count_or_by_encoding():
    class Counts(CountsAlone):
        vocab_size = 1 << 21

        def count_batch(self, texts, /):
            return list(map(len, texts))

    tokenizers = {"letters": Letters(), "counts": Counts()}
    cells = measured(Counting, tokenizers, {"counts": "letters"})
    assert {name: (cell.n, cell.status.value) for name, cell in cells.items()} == {
        ("letters", "count_mb_per_s"): (4, "ok"),
        ("counts", "count_mb_per_s"): (4, "ok"),
        ("counts", "count_ratio"): (4, "ok"),
    }
    speed = measured(Speed, tokenizers, {})
    assert speed["counts", "encode_mb_per_s"].status.value == "not_applicable"


def test_appends_are_the_texts_of_a_text_that_grows():
    class Seen(Letters):
        seen: ClassVar = []

        def encode(self, text, /):
            self.seen.append(text)
            return super().encode(text)

    cells = measured(Appending, {"seen": Seen(), "letters": Letters()}, {"letters": "seen"})
    assert {name: (cell.n, cell.unit) for name, cell in cells.items()} == {
        ("seen", "appends_per_s"): (4, "appends/s"),
        ("letters", "appends_per_s"): (4, "appends/s"),
        ("letters", "appends_ratio"): (4, "x"),
    }
    assert {"d", "do", "docume", "document", "document 7"} <= set(Seen.seen)
