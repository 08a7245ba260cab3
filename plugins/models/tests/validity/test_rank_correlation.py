"""Rank correlations by brute force, their draws, and how often the intervals hold the true value."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokbench_models.language_models.scored_bits import ScoredBits
from tokbench_models.validity.rank_correlation import (
    RankInterval,
    difference,
    draw_bits,
    drawn_correlations,
    rank_correlations,
    rho_interval,
)


def mean_ranks(values):
    return [sum(other < each for other in values) + (sum(other == each for other in values) + 1) / 2 for each in values]


def by_hand(x, y):
    """Return rho as the correlation of mean ranks; NaN where one is constant."""
    ranks = [np.array(mean_ranks(values)) for values in (x, y)]
    return math.nan if min(np.ptp(each) for each in ranks) == 0 else np.corrcoef(*ranks)[0, 1]


small = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 3)), min_size=3, max_size=9)


@settings(max_examples=50)
@given(small.filter(lambda rows: sum(count for *_, count in rows) > 2))
def test_ties_and_repeated_tokenizers_are_those_of_brute_force(rows):
    x, y, counts = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    found = rank_correlations(x[None], y[None], counts)
    repeated = [np.repeat(values, counts.astype(int)).tolist() for values in (x, y)]
    expected = by_hand(*repeated)
    assert found.item() == pytest.approx(expected, abs=1e-12, nan_ok=True)


def scored(means, seed, groups=32, parts=5):
    """Tokenizers with these bits per byte under one model, with noise of documents and of training parts."""
    random = np.random.default_rng(seed)
    shared = random.normal(0, 0.3, groups)
    sizes = random.integers(500, 1500, groups)
    return [
        ScoredBits.of(
            ((mean + shared + random.normal(0, 0.1, groups)) * sizes)[None],
            [((mean + 0.1 + random.normal(0, 0.01)) * sizes)[None] for _ in range(parts)],
            sizes,
        )
        for mean in means
    ]


def test_draws_have_the_errors_of_documents_and_training_parts():
    state, other = scored([2.0, 2.3], 1)
    drawn = draw_bits([state, other], 2000)
    assert drawn.shape == (2000, 1, 2)
    assert drawn[0, 0].tolist() == pytest.approx([state.value(0).value, other.value(0).value])
    assert drawn[:, 0, 0].std() == pytest.approx(state.value(0).error, rel=0.1)
    apart = drawn[:, 0, 0] - drawn[:, 0, 1]
    assert apart.std() == pytest.approx(state.minus(other)[0].error, rel=0.1)


def test_an_order_that_documents_decide_may_be_perfect():
    states = scored(np.linspace(2, 5, 8), 2)
    bits = draw_bits(states, 400)
    found = drawn_correlations(np.arange(8.0)[None], bits[:, :0], bits, np.ones((400, 8)))
    interval = rho_interval(found[:, 0, 0], 8)
    assert interval.value == 1.0
    assert 0.5 < interval.low < 0.95 < interval.high == 1.0


def test_more_tokenizers_make_intervals_narrower():
    found = [rho_interval(np.full(3, 0.6), n) for n in (5, 8, 12, 30)]
    assert all(wide.high - wide.low > narrow.high - narrow.low for wide, narrow in pairwise(found))


def test_a_p_value_is_that_of_the_interval():
    found = rho_interval(np.full(3, 0.6), 12)
    assert found.p_value(found.low) == pytest.approx(0.05, abs=1e-6)
    assert found.p_value(0.6) == pytest.approx(1.0, abs=1e-6)


def test_correlations_that_move_together_are_told_apart_sooner():
    one, other = (RankInterval(value, value - 0.4, min(value + 0.2, 1), 1.0, 0.3) for value in (0.8, 0.4))
    noise = np.random.default_rng(0).normal(size=(500, 2)) * 0.05
    together = np.array([0.8, 0.4]) + noise[:, :1]
    widths = [np.ptp(difference(one, other, draws)[1:]) for draws in (together, np.array([0.8, 0.4]) + noise)]
    assert widths[0] < widths[1] * 0.6


@pytest.mark.slow
def test_intervals_hold_the_true_correlation():
    """Of simulated tokenizers with a known rank correlation, noise of documents and of training parts included."""
    random = np.random.default_rng(4)
    samples, tokenizers, linear = 200, 16, 0.6
    rho = 6 / math.pi * math.asin(linear / 2)
    held = 0
    for k in range(samples):
        x = random.normal(size=tokenizers)
        true = linear * x + math.sqrt(1 - linear**2) * random.normal(size=tokenizers)
        bits = draw_bits(scored(2.5 + 0.2 * true, 1000 * k + 1), 100)
        found = drawn_correlations(x[None], bits[:, :0], bits, np.ones((100, tokenizers)))
        interval = rho_interval(found[:, 0, 0], tokenizers)
        held += interval.low <= rho <= interval.high
    assert 0.91 <= held / samples <= 0.99
