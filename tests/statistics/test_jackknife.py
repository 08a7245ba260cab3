"""Intervals, quantiles, inequality and p-values: by a plain computation, by hand, and as tables have them."""

import itertools
import math
import random
from fractions import Fraction
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokbench.measuring.paired import paired_difference
from tokbench.measuring.sums import Sums
from tokbench.statistics.inequality import gini_coefficient, lorenz
from tokbench.statistics.jackknife import Interval, Spread, interval, jackknife, leave_out, p_value, spread, student_t
from tokbench.statistics.quantiles import median_interval, quantile_interval
from tokbench.statistics.sample_units import MOST_UNITS, SampleUnits, unit_keys


def test_the_jackknife_equals_a_plain_computation():
    random.seed(5)
    above = np.array([random.randint(50, 99) for _ in range(32)], dtype=float)
    below = np.array([random.randint(10, 30) for _ in range(32)], dtype=float)
    left_out = [(above.sum() - a) / (below.sum() - b) for a, b in zip(above, below, strict=True)]
    mean = sum(left_out) / 32
    error = (31 / 32 * sum((r - mean) ** 2 for r in left_out)) ** 0.5
    squares = [(r - mean) ** 2 for r in left_out]
    freedom = 2 / (sum(s**2 for s in squares) / sum(squares) ** 2 - 1 / 32)
    assert freedom > 31  # all units vary alike
    interval, value = jackknife(above, below), above.sum() / below.sum()
    skewness = -sum((r - mean) ** 3 for r in left_out) / sum(squares) ** 1.5
    ends = [value - error * t for t in (student_t(31), -student_t(31))]
    # Hall's ends: the t of which the cubic is the quantile, found by bisection.
    for k, x in enumerate((student_t(31), -student_t(31))):
        low, high = -20.0, 20.0
        for _ in range(200):
            t = (low + high) / 2
            bent = t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / 6
            low, high = (t, high) if bent < x else (low, t)
        ends[k] = (min if k == 0 else max)(ends[k], value - error * t)
    assert (interval.low, interval.high) == pytest.approx(tuple(ends), rel=1e-9)


@given(st.floats(-4, 4), st.integers(4, 31), st.floats(-12, 12))
def test_the_p_value_and_the_interval_agree(skewness, freedom, difference):
    its_spread = Spread(1.0, freedom, skewness)
    low, high = its_spread.ends(difference)
    outside = not low <= 0 <= high
    if min(abs(low), abs(high)) > 0.03:  # the quantile has three digits
        assert (its_spread.p_value(difference) <= 0.05) == outside


def test_few_units_have_no_interval_and_few_more_a_rough_one():
    above, below = np.arange(100.0, 140.0), np.full(40, 50.0)
    assert jackknife(above[:9], below[:9]) == Interval(
        None, None, "too few documents for an interval: 9, and it needs 10"
    )
    assert jackknife(above[:10], below[:10]).reason == "rough: only 10 documents"
    assert jackknife(above[:29], below[:29]).reason == "rough: only 29 documents"
    assert jackknife(above[:30], below[:30]).reason == ""
    above[0] += 1000
    assert jackknife(above, below).reason == "rough: few of its 40 documents decide it"
    assert jackknife(np.ones(32), np.ones(32)) == Interval(None, None, "")


def test_equal_documents_are_counted_once_and_the_reason_says_so():
    """Forty times the same text tells as much as one text; five texts and their translations tell as much as five."""
    counted = "too few documents for an interval: {}, equal ones and translations counted once, and it needs 10"
    equal = Sums.by_key(np.full(40, 7), tokens=np.full(40, 3), words=np.full(40, 2))
    assert equal.ratio("tokens", "words").no_interval == counted.format("1 of 40")
    text = Sums.by_key(np.arange(5), tokens=np.arange(5) + 3, words=np.full(5, 2))
    assert text.ratio("tokens", "words").no_interval == "too few documents for an interval: 5, and it needs 10"
    assert (text + text).ratio("tokens", "words").no_interval == counted.format("5 of 10")
    assert paired_difference(equal, equal, ("tokens", "words")).reason == counted.format("1 of 40")


def test_a_few_long_documents_leave_few_degrees_of_freedom():
    deviations = np.array([30.0, -30.0, 20.0, -20.0] + [0.1, -0.1] * 14)
    its_spread = spread(5 + deviations)
    squares = deviations**2
    assert its_spread.freedom == int(2 / ((squares**2).sum() / squares.sum() ** 2 - 1 / 32)) == 7
    assert its_spread.error == pytest.approx((31 / 32 * squares.sum()) ** 0.5)


def test_student_t_equals_the_tables():
    for freedom, quantile in {5: 2.570582, 8: 2.306004, 15: 2.131450, 31: 2.039513}.items():
        assert student_t(freedom) == pytest.approx(quantile, abs=2e-3)


def test_p_values_equal_the_tables():
    for freedom, quantiles in {5: (2.570582, 4.032143), 8: (2.306004, 3.355387), 31: (2.039513, 2.744042)}.items():
        assert [p_value(t, freedom) for t in quantiles] == pytest.approx([0.05, 0.01], rel=1e-5)
        assert p_value(-quantiles[0], freedom) == pytest.approx(0.05, rel=1e-5)
    assert p_value(0.0, 4) == 1.0
    assert p_value(40.0, 31) < 1e-12


def test_strata_by_the_formula_of_a_stratified_mean():
    """A mean of two strata with single documents: the variance is the sum of n_h s_h^2 / n^2 (Wolter 2007)."""
    rng = np.random.default_rng(3)
    values = np.concatenate([rng.normal(10, 1, 20), rng.normal(50, 2, 40)])
    keys = np.concatenate([unit_keys(np.arange(20), 0), unit_keys(np.arange(40), 1)])
    units, places = SampleUnits.of(keys)
    ones = np.ones(60)
    its_spread = spread(leave_out(values[np.argsort(places)], ones), units)
    strata = values[:20], values[20:]
    assert its_spread.error == pytest.approx(sum(len(h) * h.var(ddof=1) for h in strata) ** 0.5 / 60, rel=1e-9)
    assert spread(leave_out(values, ones)).error > 5 * its_spread.error
    assert its_spread.freedom <= 58


def test_a_single_document_beside_a_large_stratum_keeps_its_deviation():
    values = np.random.default_rng(4).normal(10, 1, 21)
    keys = np.concatenate([unit_keys(np.arange(20), 0), unit_keys(np.array([7]), 1)])
    units, places = SampleUnits.of(keys)
    values = values[np.argsort(places)]
    left_out = (values.sum() - values) / 20
    deviations = (left_out - left_out.mean()) * (20 / 21) ** 0.5
    large = (deviations[:20] - deviations[:20].mean()) * (20 / 19 * 20 / 21) ** 0.5
    error = ((large**2).sum() + deviations[20] ** 2) ** 0.5
    assert spread(leave_out(values, np.ones(21)), units).error == pytest.approx(error, rel=1e-9)


DOCUMENTS = st.lists(st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 2)), min_size=1, max_size=900)


@given(DOCUMENTS, st.randoms(use_true_random=False), st.integers(1, 12))
def test_units_do_not_depend_on_the_order_in_which_parts_are_joined(documents, order, parts):
    keys = np.array([unit_keys(np.array([value]), group)[0] for value, group in documents])
    whole = Sums.by_key(keys, tokens=np.arange(len(keys)), one=np.ones(len(keys)))
    shuffled = list(range(len(keys)))
    order.shuffle(shuffled)
    cut = [np.array(shuffled[k::parts], dtype=np.int64) for k in range(parts)]
    sums = [Sums.by_key(keys[part], tokens=part, one=np.ones(len(part))) for part in cut if len(part)]
    while len(sums) > 1:  # a tree of any shape
        one, other = sums.pop(order.randrange(len(sums))), sums.pop(order.randrange(len(sums)))
        sums.append(one + other)
    assert sums[0].raw() == whole.raw()
    units = whole.units
    assert units.documents.tolist() == whole.columns["one"].tolist()
    assert max(np.unique(units.strata, return_counts=True)[1]) <= MOST_UNITS


def test_many_documents_become_the_most_units_that_fit():
    rng = np.random.default_rng(6)
    small, large = (SampleUnits.of(unit_keys(rng.integers(0, 2**32, size), None)).units for size in (250, 100_000))
    assert (small.bits, len(small)) == (32, 250)
    assert (large.bits, len(large)) == (8, 256)
    assert large.documents.sum() == 100_000


@pytest.mark.parametrize("below", [[3.0] * 12, [3.0] * 9 + [0.0] * 6, [0.0, 5.0], list(range(12))])
@pytest.mark.parametrize("part", [0.0, 1.0])
def test_a_ratio_of_nothing_or_of_all_is_as_the_plain_way_has_it(below, part):
    """It is known without leaving out a unit."""
    whole = np.array(below, dtype=float)
    value = part if whole.any() else 0.0
    plain = interval(value, leave_out(whole * part, whole), SampleUnits.numbered(len(whole)))
    assert jackknife(whole * part, whole, SampleUnits.numbered(len(whole))) == plain


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


costs = st.lists(st.integers(1, 1000), min_size=1, max_size=30)


@given(costs)
def test_gini_equals_its_definition(values):
    differences = sum(abs(a - b) for a in values for b in values)
    assert gini_coefficient(values) == pytest.approx(
        float(Fraction(differences, 2 * len(values) * sum(values))), abs=1e-12
    )


@given(costs)
def test_gini_is_twice_the_area_between_the_lorenz_curve_and_the_diagonal(values):
    points = lorenz(values)
    area = sum((x1 - x0) * (y0 + y1) / 2 for (x0, y0), (x1, y1) in itertools.pairwise(points))
    assert gini_coefficient(values) == pytest.approx(1 - 2 * area, abs=1e-12)
    assert points[0] == (0, 0)
    assert points[-1] == (1, pytest.approx(1))
    assert all(y <= x + 1e-12 for x, y in points)


def test_gini_and_lorenz_by_hand():
    # Premiums 1, 2, 3, 6: differences 1+2+5+1+4+3 = 16, each twice; 2 * 4 * 12 = 96.
    assert gini_coefficient([1, 2, 3, 6]) == pytest.approx(32 / 96)
    assert lorenz([6, 1, 3, 2]) == [(0, 0), (0.25, 1 / 12), (0.5, 3 / 12), (0.75, 6 / 12), (1, 1)]


def test_gini_equals_established_packages():
    """The example of the manual of R's ``ineq``; PySAL's ``inequality`` 1.1.2 gives the same, to 15 digits."""
    incomes = [541, 1463, 2445, 3438, 4437, 5401, 6392, 8304, 11904, 22261]
    assert gini_coefficient(incomes) == pytest.approx(0.4620911, abs=5e-8)
    assert gini_coefficient(incomes) == pytest.approx(0.46209113026762383, abs=1e-15)
