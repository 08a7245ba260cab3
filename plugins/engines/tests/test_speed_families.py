"""Latency, threads, growth and footprint: engines of known cost are measured as they are, and a crash costs one cell.

No test here depends on how fast the machine is: engines sleep on a clock of the test. ``tests/benchmarks`` has the
evidence on a real clock, in ``test_speed_evidence.py``.
"""

import gc
import threading
from collections import Counter
from typing import ClassVar

import numpy as np
import pytest
from sleeping_backends import Sleeps

import tokbench
from tokbench.foundation.failures import Failure
from tokbench.foundation.progress import silent
from tokbench.measuring.study import Outcome
from tokbench.report.tables import CellTables
from tokbench.results.cells import Cell, Status
from tokbench.studies.speed.conditions import machine_notes
from tokbench.studies.speed.contract import TimedText
from tokbench.studies.speed.copies import combined
from tokbench.studies.speed.measure import Speed, SpeedOptions
from tokbench.studies.speed.section import speed_panes
from tokbench.tokenizers.contract import Encoded
from tokbench_engines.speed.isolated.contract import StepAnswers
from tokbench_engines.speed.isolated.growth import Growth, GrowthOptions, TimedSize
from tokbench_engines.speed.latency import Latency, LatencyOptions
from tokbench_engines.speed.threads import ThreadOptions, Threads


@pytest.fixture(autouse=True)
def no_collection(monkeypatch):
    """Each turn collects garbage, which takes seconds in a process with the objects of all tests before."""
    monkeypatch.setattr(gc, "collect", lambda: 0)


def text_of(documents):
    return TimedText("c", True, sum(len(each.encode()) for each in documents), documents)


def distinct(count, size):
    return [f"{k} ".ljust(size, "x") for k in range(1000, 1000 + count)]


def cells_of(outcome):
    return {(cell.tokenizer, cell.metric): cell for cell in outcome.cells}


@pytest.mark.usefixtures("clock")
def test_a_sleeping_engine_is_measured_as_it_is():
    found = cells_of(Speed(SpeedOptions(rounds=3)).measure({"a": Sleeps(0.02)}, [text_of(distinct(16, 1000))], silent))
    assert found["a", "encode_mb_per_s"].value == pytest.approx(1000 / 0.02 / 1e6)


def test_the_reference_is_the_option_or_the_one_of_same_as():
    metric = Speed(SpeedOptions(rounds=3))
    metric.same_as = {"b": "a", "c": "gone"}
    found = cells_of(metric.measure({n: Sleeps() for n in "abc"}, [text_of(distinct(20, 50))], silent))
    assert found["b", "encode_ratio"].status == Status.OK
    assert ("a", "encode_ratio") not in found
    assert found["c", "encode_ratio"].reason == "gone was not timed here"


@pytest.mark.usefixtures("clock")
def test_latency_is_that_of_single_documents_seen_once():
    class Remembers(Sleeps):
        seen: ClassVar = Counter()

        def encode(self, text, /):
            self.seen[text] += 1
            return super().encode(text)

    options = LatencyOptions(sizes=["100 B", "1 MB"], documents=30)
    outcome = Latency(options).measure({"a": Remembers(0.01)}, [text_of(distinct(500, 40))], silent)
    found = cells_of(outcome)
    assert found["a", "latency_100b_p50"].value == pytest.approx(10_000)
    assert found["a", "latency_100b_p95"].value == pytest.approx(10_000)
    assert found["a", "latency_100b_p99"].status == Status.NOT_APPLICABLE
    assert found["a", "single_100b_mb_per_s"].value == pytest.approx(100 / 0.01 / 1e6)
    assert found["a", "batch_100b_mb_per_s"].value == pytest.approx(100 / 0.01 / 1e6)
    assert found["a", "latency_1mb_p50"].status == Status.NOT_APPLICABLE
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
    found = cells_of(metric.measure(engines, [text_of(distinct(700, 4000))], before_the_next_round))
    if ("free", "threads_2_efficiency") not in found:
        pytest.skip("this machine has one CPU")
    free, locked = (found[name, "threads_2_efficiency"] for name in ("free", "locked"))
    assert (free.value, locked.value) == pytest.approx((1, 0.5), rel=0.05), "slices differ a little in size"
    assert free.n == locked.n == 3


def grown(engine, *shapes, **options):
    metric = Growth(GrowthOptions(shapes=shapes, max_bytes=16_000, **options))
    found = {shape: StepAnswers(list(metric.measure(shape, lambda: engine))) for shape in shapes}
    return metric.finish({"a": found}, {})


@pytest.mark.slow
@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(
    ("engine", "exponent", "word"),
    [(Sleeps(by_byte=4e-6), 1, "linear"), (Sleeps(by_square=6e-10), 2, "quadratic")],
)
def test_growth_is_the_exponent_of_the_time(engine, exponent, word):
    outcome = grown(engine, "spaces")
    [growth] = [cell for cell in outcome.cells if cell.metric == "growth_exponent"]
    assert growth.value == pytest.approx(exponent, abs=0.01)
    assert (growth.corpus, growth.group, growth.n) == ("(own texts)", "spaces", 3)
    assert outcome.notes == [f"growth: a: {word} on spaces"]


@pytest.mark.usefixtures("clock")
def test_a_library_that_the_backend_works_around_is_told():
    class GoesAround(Sleeps):
        detours = 0

        def encode(self, text, /):
            self.detours += len(text) > 1000
            return super().encode(text)

    outcome = grown(GoesAround(by_byte=4e-6), "spaces")
    assert all("4 KB" in cell.caution for cell in outcome.cells)


def test_a_crash_and_a_hang_say_at_which_size_they_came():
    metric = Growth(GrowthOptions(seconds=2))
    before = [TimedSize(size, size * 1e-6, size * 1e-6) for size in (1000, 4000, 16000)]
    outcome = metric.finish(
        {
            "a": {
                "spaces": StepAnswers(before, Failure("the process was killed by SIGSEGV"), crashed=True),
                "digits": StepAnswers(before, Failure("no answer", timed_out=True)),
            }
        },
        {},
    )
    crash, _, hang, _ = outcome.cells
    assert (crash.status, hang.status) == (Status.FAILED, Status.TIMEOUT)
    assert all(" on 64 KB: " in cell.reason and "until then linear" in cell.reason for cell in (crash, hang))
    assert outcome.notes == ["growth: a: crash on spaces; hang on digits"]


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


@pytest.mark.slow
def test_a_run_has_groups_ratios_and_own_texts(tmp_path):
    for group in ("en", "de"):
        (tmp_path / f"{group}.txt").write_text("\n".join(distinct(40, 60)), encoding="utf-8")
    config = {
        "schema": "tokbench/1",
        "name": "test",
        "corpora": {"sample": {"source": "text", "path": tmp_path / "*.txt", "document": "line"}},
        "tokenizers": {
            "bytes": {"backend": "utf8_bytes"},
            "again": {"backend": "utf8_bytes", "same_as": "bytes"},
            "mine": {"backend": "naive_bpe", "train": {"corpus": "sample", "vocab_size": 257}},
        },
        "metrics": [
            {"speed": {"rounds": 3, "by_group": True}},
            {"growth": {"shapes": ["digits"], "max_bytes": 16000}},
            {"footprint": {"processes": 1, "max_bytes": 2000}},
        ],
    }
    run = tokbench.run(config, workers=0, store=False)
    cells = {(c.tokenizer, c.corpus, c.group, c.metric): c for c in run.cells}
    assert cells["bytes", "sample", "*", "encode_mb_per_s"].n == 3
    assert {g for t, _, g, m in cells if (t, m) == ("again", "encode_ratio")} == {"*", *run.corpora["sample"].groups}
    assert cells["again", "(own texts)", "digits", "growth_exponent"].status == Status.OK
    assert cells["bytes", "(own texts)", "*", "load_s"].value > 0
    assert cells["mine", "(own texts)", "*", "train_s"].value > 0
    assert cells["bytes", "(own texts)", "*", "train_s"].status == Status.NOT_APPLICABLE
    panes = [pane.name for pane in speed_panes(CellTables(run))]
    assert panes[:3] == ["speed on sample", "encode by group on sample", "decode by group on sample"]
    assert panes[-3:] == ["growth", "stress tests", "footprint"]


@pytest.mark.slow
def test_a_hang_costs_its_cells_alone(install, tmp_path):
    install("sleeping_backends")
    path = tmp_path / "run.yaml"
    path.write_text(
        """schema: tokbench/1
name: test
corpora: {c: {source: sample, part: hostile}}
tokenizers:
  slow: {backend: hangs_on_letters}
  bytes: {backend: utf8_bytes}
metrics: [{growth: {shapes: [random letters, digits], max_bytes: 16000, seconds: 1}}]
""",
        encoding="utf-8",
    )
    results = tokbench.run(path)
    found = {(c.tokenizer, c.group): c for c in results.cells if c.metric == "growth_exponent"}
    hang = found["slow", "random letters"]
    assert (hang.status, "16 KB" in hang.reason) == (Status.TIMEOUT, True)
    assert found["slow", "digits"].status == Status.OK  # a fresh process went on with the next shape
    assert found["bytes", "random letters"].status == Status.OK
