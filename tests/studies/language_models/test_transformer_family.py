"""The family transformer: the reading-off at equal computing, the verdicts, and its options."""

import subprocess
import sys
import time

import numpy as np
import pytest
from pydantic import ValidationError

import tokbench
from tokbench.foundation.progress import silent
from tokbench.measuring.metric import Measured, NotApplicable
from tokbench.studies.language_models.contract import EncodedPart, ModelStates, ModelTask
from tokbench.tokenizers.contract import Encoded

pytest.importorskip("jax")

from tokbench.studies.language_models.transformer import SPEC, TrainedModels, TransformerBits, TransformerOptions

QUARTER, TEXT, COMPUTING = (metric.id for metric in SPEC.values)
GROUPS = 32


def models(bits_per_byte, flops=(100, 200, 400), spread=0.01, seen=(250, 500, 1000)):
    """A state whose two seeds have some bits per byte at each point; groups have 1,000 bytes, and hardly differ."""
    seeds = np.array([[each - spread, each + spread] for each in bits_per_byte]).T  # by seed and point
    noise = 1 + np.linspace(-1e-3, 1e-3, GROUPS)
    return TrainedModels(
        n_ids=256,
        window=8,
        learning_rate=0.01,
        rates={0.01: 3.0, 0.03: 4.0},
        seen=np.array(seen),
        flops=np.array(flops),
        seconds=1.0,
        bits=seeds[:, :, None] * 1000.0 * noise,
        n_bytes=np.full(GROUPS, 1000.0),
        documents=320,
    )


def outcome(**states):
    names = list(states)
    pairs = [(one, two) for k, one in enumerate(names) for two in names[k + 1 :]]
    return TransformerBits(TransformerOptions(width=16)).finish_models(ModelStates(320, states, pairs))


def test_a_budget_is_read_off_between_points_linear_in_its_logarithm():
    state = models([4.0, 3.0, 2.0])
    assert state.place_of(100 * 2**0.25) == pytest.approx(0.25)
    assert state.at(0.25).value(0).value == pytest.approx(3.75)
    assert state.at(2).value(0).value == pytest.approx(2.0)


@pytest.mark.parametrize("flops", [99, 401])
def test_nothing_is_read_off_beyond_the_points(flops):
    assert models([4.0, 3.0, 2.0]).place_of(flops) is None


def test_all_tokenizers_are_compared_at_the_computing_that_the_cheapest_took():
    found = outcome(cheap=models([4.0, 3.0, 2.0]), dear=models([4.0, 3.0, 2.0], flops=(200, 400, 800))).values
    assert found["cheap"][COMPUTING].value == pytest.approx(2.0)
    assert found["dear"][COMPUTING].value == pytest.approx(3.0)
    assert found["dear"][TEXT].value == pytest.approx(2.0)
    assert found["dear"][QUARTER].value == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("bits_per_byte", "seen", "quarter"),
    [
        ([5.0, 4.0, 3.0], (120, 240, 1000), 4.0),  # no document ends at a half
        ([5.0, 4.0, 3.0], (260, 500, 1000), 5.0),
        ([4.0, 3.0], (500, 1000), None),
        ([5.0, 4.0, 3.0], (120, 310, 1000), None),
    ],
)
def test_the_model_of_a_quarter_is_found_by_the_text_that_it_has_seen(bits_per_byte, seen, quarter):
    found = outcome(few=models(bits_per_byte, (100, 200, 400)[: len(seen)], seen=seen)).values["few"]
    if quarter is None:
        assert found[QUARTER].reason == "the training documents are too few or too long for a quarter of the text"
    else:
        assert found[QUARTER].value == pytest.approx(quarter)
    assert found[TEXT].value == pytest.approx(3.0)


def test_a_tokenizer_whose_first_model_took_more_than_the_budget_has_no_value_there():
    found = outcome(cheap=models([4.0, 3.0, 2.0]), dear=models([4.0, 3.0, 2.0], flops=(500, 800, 900)))
    missing = found.values["dear"][COMPUTING]
    assert isinstance(missing, NotApplicable)
    assert missing.reason.startswith("the budget of all is 400 operations, and the first model of dear took 500")
    assert isinstance(found.values["dear"][TEXT], Measured)
    assert not found.comparisons
    assert list(found.scored) == ["cheap"]


@pytest.mark.parametrize(
    ("other", "flops", "verdict"),
    [
        ([4.0, 3.0, 2.0], (100, 200, 400), "level"),
        ([4.0, 3.0, 2.01], (100, 200, 400), "level"),
        ([5.0, 4.0, 3.0], (100, 200, 400), "better"),
        ([4.0, 3.0, 1.5], (200, 400, 800), "depends"),
    ],
)
def test_one_is_better_only_if_both_budgets_say_so(other, flops, verdict):
    (found,) = outcome(one=models([4.0, 3.0, 2.0]), other=models(other, flops)).comparisons
    assert found.verdict == verdict
    if verdict == "better":
        assert (found.tokenizer, found.differences) == ("one", pytest.approx([-1.0, -1.0, -1.0], abs=1e-9))


def test_seeds_that_disagree_widen_the_error():
    calm, wild = (models([4.0, 3.0, 2.0], spread=spread).at(2).value(0).error for spread in (0.001, 0.1))
    assert wild > 10 * calm


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 20, "heads": 4}, "a width of 20 is not a multiple of twice 4 heads"),
        ({"rates": [0.0]}, "learning rates are above 0"),
    ],
)
def test_bodies_and_rates_that_cannot_be_are_refused(options, message):
    with pytest.raises(ValidationError, match=message):
        TransformerOptions(**options)


def test_missing_jax_is_said_when_options_are_read(monkeypatch):
    monkeypatch.setattr("tokbench.studies.language_models.transformer.find_spec", lambda name: None)
    with pytest.raises(ValidationError, match=r"pip install 'tokbench\[lm\]'"):
        TransformerOptions()


@pytest.mark.slow
def test_ids_that_are_not_all_below_their_number_give_the_same_models():
    """A tokenizer with special tokens has ids that no text gives, so that others lie above the number of its ids."""

    def fitted(shift):
        rng = np.random.default_rng(0)
        texts = [rng.integers(0, 5, 400).astype(np.uint32) + np.uint32(shift) for _ in range(2)]
        parts = [EncodedPart(Encoded(ids, np.arange(0, 401, 20)), np.full(20, 20)) for ids in texts]
        options = TransformerOptions(
            width=4, layers=1, heads=1, context_bytes=16, step_bytes=128, seeds=2, rates=[0.01, 0.02]
        )
        return TransformerBits(options).fit(ModelTask(*parts, 5, {}), silent)

    assert (fitted(1000).bits == fitted(0).bits).all()


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_from_its_trainings(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    for k in range(60):
        words = [f"{chr(97 + n % 26)}{'aeiou'[n % 5]}" for n in np.minimum(rng.zipf(1.5, 80), 200)]
        (tmp_path / f"{k:02}.txt").write_text(" ".join(words), encoding="utf-8")
    path = tmp_path / "run.yaml"
    path.write_text(
        """
schema: tokbench/1
name: killed
corpora: {c: {source: text, path: "*.txt", holdout: 0.4}}
tokenizers: {bytes: {backend: utf8_bytes}}
metrics:
  - transformer: {width: 8, layers: 1, heads: 1, context_bytes: 32, step_bytes: 256, rates: [0.02, 0.04], seeds: 2}
show: {documents: 0}
report: {formats: [csv]}
""",
        encoding="utf-8",
    )
    monkeypatch.setenv("TOKBENCH_STORE", str(tmp_path / "store"))
    monkeypatch.delenv("TOKBENCH_NO_STORE", raising=False)
    whole = tokbench.run(path, workers=0, store=False, output=tmp_path / "whole")
    command = [sys.executable, "-m", "tokbench", "run", str(path), "-o", str(tmp_path / "killed")]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    kept = tmp_path / "store" / "model checkpoint"
    while len(found := [file for file in kept.glob("*/*") if not file.name.startswith(".")]) < 4:
        assert child.poll() is None
        time.sleep(0.01)
    child.kill()
    child.wait()
    files = {file: file.stat().st_ino for file in found}
    again = tokbench.run(path, workers=0, output=tmp_path / "again")
    assert [(cell.metric, cell.value) for cell in again.cells] == [(cell.metric, cell.value) for cell in whole.cells]
    assert {file: file.stat().st_ino for file in files} == files  # what was kept was not made again
    assert len(list(kept.glob("*/*"))) > len(files)
