"""Rare ids and fronts: by hand, and what must hold for any."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tokbench.studies.vocabulary_size.trainable import trainable

from tokbench.foundation.errors import InputError
from tokbench.studies.vocabulary_size.recommend import (
    SizeCandidate,
    allowed_rare,
    beaten,
    pareto_front,
    recommend,
)


def test_each_class_by_its_edges():
    # 10,000 tokens and training on as many: expected counts are counts. Then a tenth and half of that.
    counts = np.array([8802, 1000, 99, 98, 1, 0, 0])
    assert counts.sum() == 10_000
    found = trainable(counts, 7, [10_000, 1_000, 5_000])
    assert found.enough.tolist() == [2, 0, 1]
    assert found.some.tolist() == [0, 2, 1]
    assert found.few.tolist() == [3, 2, 2]
    assert found.never.tolist() == [0, 1, 1]
    assert found.unseen.tolist() == [2, 2, 2]
    assert found.bound.tolist() == [3, 0.3, 1.5]


@settings(max_examples=30, deadline=None)
@given(
    hnp.arrays(np.int64, st.tuples(st.integers(1, 4), st.integers(1, 30)), elements=st.integers(0, 10**6)),
    st.floats(1, 1e15),
)
def test_every_id_is_of_one_class_and_more_training_makes_none_rarer(counts, tokens):
    counts[:, 0] += 1
    sizes = np.full(len(counts), counts.shape[1])
    short, longer = trainable(counts, sizes, tokens), trainable(counts, sizes, 10 * tokens)
    assert (sum(short[:5]) == sizes).all()
    assert (sum(longer[:3]) <= sum(short[:3])).all()
    assert [int(trainable(row, len(row), tokens).few) for row in counts] == short.few.tolist()


@pytest.mark.parametrize(
    ("counts", "size", "said"),
    [
        ([0, 0], 2, "tokens in the sample"),
        ([1, -1, 5], 3, "whole numbers from 0"),
        ([1, 2], 3, "needs as many counts"),
        ([1, 2], [1, 2], "2 sizes need as many rows"),
        ([1, 2], 1, "at or beyond"),
    ],
)
def test_counts_that_cannot_be_are_refused(counts, size, said):
    with pytest.raises(InputError, match=said):
        trainable(counts, size, 100)


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


def test_the_rule_step_by_step():
    dear = SizeCandidate("own", 64_000, 103, 4.0, 3.0)  # beyond 2 % of 100
    cheap = SizeCandidate("own", 40_000, 100, 3.0, 1.0)
    fair = SizeCandidate("own", 60_000, 102, 3.1, 2.0)
    small = SizeCandidate("own", 50_000, 101, 3.2, 1.9)
    unfair = SizeCandidate("own", 30_000, 101, 3.3, 1.89)  # beyond 5 % of 2.0
    other = SizeCandidate("other", 5_000, 90, 4.1, 3.1)
    advice = recommend([dear, cheap, unfair, fair, small], "own")
    assert advice.candidate is small
    assert advice.front == (dear, cheap, unfair, fair, small)
    advice = recommend([dear, cheap, unfair, fair, small, other], "own")
    assert advice.candidate is small, "what another line has only decides the front"
    assert advice.front == (other,)


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
    table = [SizeCandidate("own", *row) for row in rows]
    advice = recommend(table, "own")
    assert advice.candidate.vocab_size == recommend(table[::-1], "own").candidate.vocab_size
    assert advice.candidate.flops_per_byte <= 1.02 * min(row[1] for row in rows)


def test_nothing_to_recommend():
    with pytest.raises(InputError, match="no candidates"):
        recommend([], "own")
    with pytest.raises(InputError, match="cost and compression"):
        recommend([SizeCandidate("own", 300, 0, 1, 1)], "own")


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
