"""Growth and footprint: engines of known cost are measured as they are, and a crash costs one cell."""

import gc

import pytest
from sleeping_backends import Sleeps

import tokbench
from tokbench.foundation.failures import Failure
from tokbench.report.tables import CellTables
from tokbench.results.cells import Status
from tokbench.studies.speed.section import speed_panes
from tokbench_engines.speed.isolated.contract import StepAnswers
from tokbench_engines.speed.isolated.growth import Growth, GrowthOptions, TimedSize


@pytest.fixture(autouse=True)
def no_collection(monkeypatch):
    """Each turn collects garbage, which takes seconds in a process with the objects of all tests before."""
    monkeypatch.setattr(gc, "collect", lambda: 0)


def distinct(count, size):
    return [f"{k} ".ljust(size, "x") for k in range(1000, 1000 + count)]


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
@pytest.mark.nightly
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
