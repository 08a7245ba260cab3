"""The family transformer: the reading-off at equal computing, the verdicts, and its options."""

import numpy as np
import pytest
from pydantic import ValidationError

from tokbench.measuring.metric import Measured, NotApplicable
from tokbench_models.language_models.contract import ModelStates

pytest.importorskip("jax")

from tokbench_models.language_models.transformer import SPEC, TrainedModels, TransformerBits, TransformerOptions

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
    return TransformerBits(TransformerOptions(width=16)).finish_models(ModelStates(states, pairs))


def test_a_budget_is_read_off_between_points_linear_in_its_logarithm():
    state = models([4.0, 3.0, 2.0])
    assert state.place_of(100 * 2**0.25) == pytest.approx(0.25)
    assert state.at(0.25).value(0).value == pytest.approx(3.75)
    assert state.at(2).value(0).value == pytest.approx(2.0)


def test_nothing_is_read_off_beyond_the_points():
    assert [models([4.0, 3.0, 2.0]).place_of(flops) for flops in (99, 401)] == [None, None]


def test_all_tokenizers_are_compared_at_the_computing_that_the_cheapest_took():
    values = outcome(cheap=models([4.0, 3.0, 2.0]), dear=models([4.0, 3.0, 2.0], flops=(200, 400, 800))).values
    assert values["cheap"][COMPUTING].value == pytest.approx(2.0)
    assert values["dear"][COMPUTING].value == pytest.approx(3.0)
    assert values["dear"][TEXT].value == pytest.approx(2.0)
    assert values["dear"][QUARTER].value == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("bits_per_byte", "seen", "quarter"),
    [
        ([5.0, 4.0, 3.0], (120, 240, 1000), 4.0),  # no document ends at a half
        ([4.0, 3.0], (500, 1000), None),
        ([5.0, 4.0, 3.0], (120, 310, 1000), None),
    ],
)
def test_the_model_of_a_quarter_is_found_by_the_text_that_it_has_seen(bits_per_byte, seen, quarter):
    found = outcome(few=models(bits_per_byte, (100, 200, 400)[: len(seen)], seen=seen)).values["few"]
    if quarter is None:
        assert isinstance(found[QUARTER], NotApplicable)
    else:
        assert found[QUARTER].value == pytest.approx(quarter)
    assert found[TEXT].value == pytest.approx(3.0)


def test_a_tokenizer_whose_first_model_took_more_than_the_budget_has_no_value_there():
    found = outcome(cheap=models([4.0, 3.0, 2.0]), dear=models([4.0, 3.0, 2.0], flops=(500, 800, 900)))
    assert isinstance(found.values["dear"][COMPUTING], NotApplicable)
    assert isinstance(found.values["dear"][TEXT], Measured)
    assert not found.comparisons


@pytest.mark.parametrize(
    ("other", "flops", "verdict"),
    [
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
    monkeypatch.setattr("tokbench_models.language_models.transformer.find_spec", lambda name: None)
    with pytest.raises(ValidationError, match=r"pip install 'tokbench-models\[lm\]'"):
        TransformerOptions()
