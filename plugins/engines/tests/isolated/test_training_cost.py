"""The cost of training: memory of a known size is measured, kept with the tokenizer, and its slope is a known one."""

import json
from pathlib import Path

import faulty_backends
import pytest

import tokbench
from tokbench.results.cells import Status
from tokbench_engines.speed.isolated.contract import TrainedIn
from tokbench_engines.speed.isolated.footprint import TRAINING, training_cells

MB = 10**6


def cells_of(name, trainings):
    return dict(
        zip([metric.id for metric in TRAINING], sorted(training_cells(name, trainings), key=order), strict=True)
    )


def order(cell):
    return [metric.id for metric in TRAINING].index(cell.metric)


def test_the_slope_is_that_of_least_squares():
    # Memory 50 + 3 x and seconds 1 + 0.1 x at 10 and 50; at 200 both lie above: the line through all three, by hand.
    trainings = {
        "a": TrainedIn(2.0, 80 * MB, 10 * MB, "mine", earlier=False),
        "b": TrainedIn(6.0, 200 * MB, 50 * MB, "mine", earlier=False),
        "c": TrainedIn(22.0, 680 * MB, 200 * MB, "mine", earlier=False),
        "other": TrainedIn(9.0, 9 * MB, 9 * MB, "other", earlier=False),
    }
    cells = cells_of("b", trainings)
    assert cells["train_memory_mb"].value == 200
    # Means 260/3 and 320; Σ(x-x̄)(y-ȳ) = 63,600, Σ(x-x̄)² = 20,066.67
    assert cells["train_memory_slope"].value == pytest.approx(63_600 / (60_200 / 3))
    assert cells["train_s_slope"].value == pytest.approx((4_720 - 30 * 260 / 3) / (60_200 / 3))
    assert cells["train_memory_slope"].n == 3
    assert cells_of("other", trainings)["train_memory_slope"].status == Status.NOT_APPLICABLE


def test_what_was_not_measured_is_no_zero():
    trainings = {
        "a": TrainedIn(2.0, None, 10 * MB, "x", earlier=False),
        "b": TrainedIn(3.0, None, MB, "x", earlier=False),
    }
    cells = cells_of("a", trainings)
    assert (cells["train_memory_mb"].value, cells["train_memory_slope"].value) == (None, None)
    assert cells["train_s_slope"].value == pytest.approx(-1 / 9)
    assert cells_of("loaded", trainings)["train_s"].reason == "it was loaded, not trained"


CONFIG = """schema: tokbench/1
name: test
corpora:
  all: {source: text, path: all.txt, document: line}
  half: {source: text, path: all.txt, document: line, holdout: 0.5, evaluate: false}
tokenizers:
  all: {backend: hungry, train: {corpus: all, vocab_size: 256}}
  half: {backend: hungry, train: {corpus: half, vocab_size: 256}}
metrics: [{footprint: {processes: 1, max_bytes: 2000}}]
report: {formats: [md]}
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is told on Linux alone")
def test_memory_of_trainings_is_measured_and_written(install, tmp_path):
    install("faulty_backends")
    lines = "".join(f"{number} {'low lower lowest ' * 60}\n" for number in range(3000))
    (tmp_path / "all.txt").write_text(lines, encoding="utf-8")
    (tmp_path / "run.yaml").write_text(CONFIG, encoding="utf-8")
    results = tokbench.run(tmp_path / "run.yaml", workers=1, store=False, output=tmp_path / "out")
    values = {(cell.tokenizer, cell.metric): cell for cell in results.cells}
    for name in ("all", "half"):
        training = results.tokenizers[name].train
        expected = faulty_backends.BYTES_EACH * training.bytes / MB
        assert values[name, "train_memory_mb"].value == training.memory_mb == pytest.approx(expected, rel=0.4)
    assert values["half", "train_memory_slope"].value == values["all", "train_memory_slope"].value
    written = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert written["tokenizers"]["all"]["train"]["memory_mb"] == results.tokenizers["all"].train.memory_mb
