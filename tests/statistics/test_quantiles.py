"""The interval of a median: as tables have it, by a simulation, and as scipy's binomial would give it."""

import math
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokbench.statistics.quantiles import median_interval, quantile_interval


@pytest.mark.parametrize(("n", "ranks"), [(6, (1, 6)), (9, (2, 8)), (10, (2, 9)), (20, (6, 15)), (40, (14, 27))])
def test_order_statistics_equal_the_tables(n, ranks):
    """No symmetric interval inside covers 95%: one order statistic more on both sides would be wider than needed."""
    assert median_interval(range(1, n + 1))[:2] == ranks
    k = ranks[0]
    covered = 1 - 2 * sum(math.comb(n, i) for i in range(k)) / 2**n
    assert covered >= 0.95
    assert 1 - 2 * sum(math.comb(n, i) for i in range(k + 1)) / 2**n < 0.95


@given(st.lists(st.floats(0.1, 100), min_size=1, max_size=30, unique=True))
def test_the_median_lies_in_its_interval(values):
    low, high, reason = median_interval(values)
    assert low is None or low <= median(values) <= high
    assert (low is None) == bool(reason) == (len(values) < 6)


def test_equal_values_have_no_interval():
    assert median_interval([1.5] * 40)[:2] == (None, None)


def test_a_quantile_of_many_is_missed_once_in_forty_on_each_side():
    rng = np.random.default_rng(3)
    samples = rng.random((4000, 1500))
    ends = np.array([quantile_interval(sample, 0.9)[:2] for sample in samples])
    assert 0.015 < (ends[:, 0] > 0.9).mean() <= 0.027
    assert 0.015 < (ends[:, 1] < 0.9).mean() <= 0.027
