"""The recommended size and fronts: by hand, and what must hold for any."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokbench.studies.vocabulary_size.block import SizeChoice
from tokbench.studies.vocabulary_size.recommend import allowed_rare, beaten, pareto_front, recommend


def dominates(one, other, directions):
    better = [(a < b) if d == "lower" else (a > b) for a, b, d in zip(one, other, directions, strict=True)]
    worse = [(a > b) if d == "lower" else (a < b) for a, b, d in zip(one, other, directions, strict=True)]
    return any(better) and not any(worse)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_the_front_is_what_nothing_dominates(data):
    width = data.draw(st.integers(1, 4))
    directions = data.draw(st.lists(st.sampled_from(["lower", "higher"]), min_size=width, max_size=width))
    numbers = st.integers(-3, 3) | st.floats(-1e6, 1e6)
    points = data.draw(st.lists(st.lists(numbers, min_size=width, max_size=width), min_size=1, max_size=25))
    on = pareto_front(points, directions)
    assert on.any()
    for point, kept in zip(points, on, strict=True):
        assert kept == (not any(dominates(other, point, directions) for other in points))


def test_points_that_are_none_are_refused():
    with pytest.raises(ValueError, match="directions need"):
        pareto_front([[1, 2]], ["lower"])
    with pytest.raises(ValueError, match="finite"):
        pareto_front([[1, float("inf")]], ["lower", "higher"])


def choice(size, cost, ratio, worst, line="own"):
    return SizeChoice(line=line, vocab_size=size, flops_per_byte=cost, compression_ratio=ratio, worst_ratio=worst)


def test_the_rule_step_by_step():
    dear = choice(64_000, 103, 4.0, 3.0)  # beyond 2 % of 100
    cheap = choice(40_000, 100, 3.0, 1.0)
    fair = choice(60_000, 102, 3.1, 2.0)
    small = choice(50_000, 101, 3.2, 1.9)
    unfair = choice(30_000, 101, 3.3, 1.89)  # beyond 5 % of 2.0
    other = choice(5_000, 90, 4.1, 3.1, "other")
    assert recommend([dear, cheap, unfair, fair, small], "own") is small
    assert recommend([dear, cheap, unfair, fair, small, other], "own") is small, "others decide the front alone"


@pytest.mark.parametrize(
    ("shares", "allowed"), [([0.5, 0.05], 0.05), ([0.5, None], 0.05), ([0.5, 0.7, 0.54], 0.55), ([None], None)]
)
def test_the_share_of_rare_ids_with_which_a_size_is_taken(shares, allowed):
    assert allowed_rare(shares) == (allowed if allowed is None else pytest.approx(allowed))


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(256, 10**6), st.floats(1, 100), st.floats(1, 9), st.floats(1, 9)),
        min_size=1,
        max_size=12,
    )
)
def test_the_recommended_costs_little_and_is_the_same_in_any_order(rows):
    table = [choice(*row) for row in rows]
    taken = recommend(table, "own")
    assert taken.vocab_size == recommend(table[::-1], "own").vocab_size
    assert taken.flops_per_byte <= 1.02 * min(row[1] for row in rows)


WEIGHTS = {"prose": 0.5, "code": 0.25, "talk": 0.25}


@pytest.mark.parametrize(
    ("costs", "expected"),
    [
        ({"a": [1, 9, 9], "b": [5, 1, 1]}, {}),  # each costs less on half of the text
        ({"a": [1, 1, 9], "b": [5, 5, 1]}, {"b": "a"}),
        ({"a": [1.0, 1.0, 1.0], "b": [1.019, 1.019, 1.019]}, {}),  # not by 2 %
        ({"a": [1.0, 1.0, 1.0], "b": [1.03, 1.03, 1.0]}, {"b": "a"}),
    ],
)
def test_a_line_that_costs_more_on_most_of_the_text_is_beaten(costs, expected):
    by_corpus = {line: dict(zip(WEIGHTS, values, strict=True)) for line, values in costs.items()}
    assert beaten(by_corpus, WEIGHTS) == expected


def test_where_every_line_is_beaten_none_is():
    thirds = dict.fromkeys(WEIGHTS, 1 / 3)
    costs = {"a": [1, 2, 3], "b": [2, 3, 1], "c": [3, 1, 2]}
    assert beaten({line: dict(zip(thirds, values, strict=True)) for line, values in costs.items()}, thirds) == {}
