"""Errors and verdicts on bits per byte, by hand and by drawing whole experiments again."""

from __future__ import annotations

from math import hypot

import numpy as np
import pytest

from tokbench.statistics.jackknife import leave_out, spread
from tokbench_models.language_models.scored_bits import GROUPS, TRAINING_PARTS, ScoredBits, Uncertain, bits_verdict

DECIDING = 4


def experiment(rng, shift=0.0, documents=64, noise=0.02, part_noise=0.01, alike=0.9):
    """Draw the bits of two tokenizers under four models; models agree on a document by the correlation ``alike``."""
    sizes = np.full(documents, 4000)
    difficulty = 2 + 0.3 * rng.standard_normal(documents)
    parts_difficulty = 0.05 * rng.standard_normal(TRAINING_PARTS)
    found = []
    for own in (0.0, shift):
        common, alone = rng.standard_normal(documents), rng.standard_normal((DECIDING, documents))
        bits = (difficulty + own + noise * (alike**0.5 * common + (1 - alike) ** 0.5 * alone)) * sizes
        parts = [
            np.outer(np.ones(DECIDING), sizes) * (2.3 + each + own + part_noise * rng.standard_normal())
            for each in parts_difficulty
        ]
        found.append(ScoredBits.of(bits, parts, sizes))
    return found


def test_both_errors_by_hand():
    rng = np.random.default_rng(1)
    sizes = rng.integers(3000, 5000, 64)
    bits = rng.normal(2, 0.1, (1, 64)) * sizes
    parts = [np.full((1, 64), level) * sizes for level in (2.0, 2.1, 2.2, 2.3, 2.4)]
    found = ScoredBits.of(bits, parts, sizes).value(0)
    groups = np.arange(64) % GROUPS
    sums = np.bincount(groups, bits[0]), np.bincount(groups, sizes).astype(float)
    documents = spread(leave_out(*sums)).error
    training = np.std([2.0, 2.1, 2.2, 2.3, 2.4], ddof=1) / 5**0.5
    assert found.value == pytest.approx(bits.sum() / sizes.sum())
    assert found.error == pytest.approx(hypot(documents, training))
    assert 4 <= found.freedom < 31
    low, high = found.ends()
    assert low < found.value < high


def test_differences_are_paired():
    """A hard document or a poor training part, which two tokenizers share, is not an error of their difference."""
    one, other = experiment(np.random.default_rng(2), noise=0.0, part_noise=0.0, shift=0.1)
    for each in other.minus(one):
        assert each.value == pytest.approx(0.1)
        assert each.error < 1e-9
    assert one.value(0).error > 0.02


def test_no_error_without_enough_text():
    few = ScoredBits.of(np.full((1, 9), 2000.0), [np.ones((1, 9))] * 5, np.full(9, 1000))
    assert few.value(0) == Uncertain(2.0, reason="too few documents for an interval: 9, and it needs 10")
    alone = ScoredBits.of(np.full((1, 60), 2000.0), [], np.full(60, 1000))
    assert alone.value(0).reason == "too few training documents for an interval"
    assert bits_verdict([alone.value(0)]) == ("unknown", False)


def test_two_names_of_one_quality_are_level_in_19_of_20_experiments():
    rng = np.random.default_rng(3)
    said = [bits_verdict(one.minus(other))[0] for one, other in (experiment(rng, noise=0.1) for _ in range(60))]
    assert said.count("level") >= 57


def test_a_difference_within_two_errors_says_nothing():
    assert bits_verdict([Uncertain(-0.05, 0.026, 10_000)] * 4) == ("level", False)
    assert bits_verdict([Uncertain(-0.05, 0.0249, 10_000)] * 4) == ("better", False)
    # Student's t with 9 degrees of freedom asks for 2.262 / 1.96 times as many: 2.308
    assert bits_verdict([Uncertain(-0.05, 0.0218, 9)] * 4) == ("level", False)
    assert bits_verdict([Uncertain(-0.05, 0.0216, 9)] * 4) == ("better", False)
