"""Gini and Lorenz: by definition, by hand and as established packages have them."""

import itertools
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokbench.statistics.inequality import gini_coefficient, lorenz

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
