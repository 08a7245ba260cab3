"""Who is first: each side of every condition, against a plain computation."""

import math

import numpy as np
import pytest

from tokbench.statistics.jackknife import interval, spread
from tokbench.statistics.sample_units import SampleUnits, unit_keys
from tokbench.statistics.standings import (
    LEVEL,
    Gap,
    GroupNumber,
    StandingSums,
    Verdict,
    gap,
    leaders,
    places,
    standings,
    verdicts,
)

RNG = np.random.default_rng(4)
BYTES = RNG.integers(900, 1100, 40).astype(float)
TOKENS = np.round(BYTES / 4 * RNG.uniform(0.9, 1.1, 40))


def number(tokens, n_bytes=None, keys=None):
    """A number of bytes per token from the tokens of each document."""
    n_bytes = BYTES[: len(tokens)] if n_bytes is None else np.asarray(n_bytes, dtype=float)
    units = SampleUnits.of(np.arange(len(tokens)) if keys is None else keys).units
    sums = StandingSums(above=n_bytes, below=np.asarray(tokens, dtype=float), units=units)
    return GroupNumber(float(n_bytes.sum() / sums.below.sum()), sums=sums)


def noisy(share, noise, seed=1, base=TOKENS):
    jitter = np.random.default_rng(seed).normal(0, noise, len(base))
    return base * (1 + share) * (1 + jitter - jitter.mean())


def found(numbers, **options):
    return {standing.contender: standing.verdict.name for standing in standings(numbers, **options)}


def test_the_mean_and_its_interval_equal_a_plain_computation():
    """Two groups with their own documents, of which the second weighs three times as much."""
    keys = [unit_keys(np.arange(40), group) for group in (1, 2)]
    a, b = [TOKENS, noisy(0, 0.1, 5)], [noisy(0.2, 0.05), noisy(0.02, 0.05, 3)]
    rows = {name: [number(t, keys=k) for t, k in zip(own, keys, strict=True)] for name, own in (("a", a), ("b", b))}
    _, second = standings(rows, [1, 3])
    logs = [math.log(two.sum() / one.sum()) for one, two in zip(a, b, strict=True)]
    whole = math.exp(0.25 * logs[0] + 0.75 * logs[1])
    left_out = [
        [
            math.exp(math.log((two.sum() - y) / (one.sum() - x)) * w + math.log(whole) - w * log)
            for x, y in zip(one, two, strict=True)
        ]
        for one, two, w, log in zip(a, b, (0.25, 0.75), logs, strict=True)
    ]
    both = SampleUnits.of(np.concatenate(keys)).units
    low, high, _ = interval(whole, np.concatenate(left_out), both)
    assert (second.contender, second.gap.more) == ("b", pytest.approx(whole - 1))
    assert (second.gap.low, second.gap.high) == pytest.approx((low - 1, high - 1))


@pytest.mark.parametrize(
    ("gap", "margin", "verdict"),
    [
        (Gap(0.0), 0.0, "SAME"),
        (Gap(0.0, 0.0, 0.0, 1.0), 0.01, "SAME"),
        (Gap(0.0099, 0.009, 0.011, 1e-9), 0.01, "SMALL"),
        (Gap(0.01, 0.009, 0.011, 1e-9), 0.01, "BEHIND"),
        (Gap(-0.0099, -0.011, -0.009, 1e-9), 0.01, "SMALL"),
        (Gap(-0.01, -0.011, -0.009, 1e-9), 0.01, "BEHIND"),
        (Gap(0.0099), 0.01, "SMALL"),
        (Gap(0.01), 0.01, "OPEN"),
        (Gap(0.01, 0.009, None, 1e-9), 0.01, "OPEN"),
        (Gap(0.01, None, 0.011, 1e-9), 0.01, "OPEN"),
        (Gap(0.2, 0.1, 0.3, LEVEL), 0.01, "BEHIND"),
        (Gap(0.2, 0.1, 0.3, LEVEL + 1e-9), 0.01, "UNSURE"),
        (Gap(0.2, 0.0, 0.4), 0.01, "UNSURE"),
        (Gap(0.2, 1e-9, 0.4), 0.01, "BEHIND"),
        (Gap(-0.2, -0.4, 0.0), 0.01, "UNSURE"),
        (Gap(-0.2, -0.4, -1e-9), 0.01, "BEHIND"),
        (Gap(math.inf, 0.001, 0.002, 0.01), 0.01, "BEHIND"),
    ],
)
def test_each_side_of_every_condition(gap, margin, verdict):
    assert [each.name for each in verdicts([gap], margin)] == [verdict]


def test_every_other_comparison_asks_more_of_each_and_copies_ask_nothing():
    near, other = Gap(0.1, 0.01, 0.2, 0.03, b"near"), Gap(0.1, 0.01, 0.2, 0.04, b"other")
    same, unknown = Gap(0.0, 0.0, 0.0, 1.0), Gap(0.1)
    for gaps, verdict in (
        ([near], "BEHIND"),
        ([near, other], "UNSURE"),
        ([near, near, near], "BEHIND"),
        ([near, same, same], "BEHIND"),
        ([near, unknown, unknown], "BEHIND"),
    ):
        assert verdicts(gaps, 0.01)[0].name == verdict


def test_ties_go_by_the_paired_interval():
    """Documents differ more than tokenizers do: what differs in each by the same share is behind, noise is a tie."""
    numbers = {"a": [number(TOKENS)], "near": [number(noisy(0.03, 0.2))], "far": [number(noisy(0.03, 0.001))]}
    assert found({name: numbers[name] for name in ("a", "near")}) == {"a": "FIRST", "near": "UNSURE"}
    assert found({name: numbers[name] for name in ("a", "far")}) == {"a": "FIRST", "far": "BEHIND"}
    assert found({name: numbers[name] for name in ("a", "far")}, margin=0.05) == {"a": "FIRST", "far": "SMALL"}


@pytest.mark.parametrize(("documents", "verdict"), [(9, "OPEN"), (10, "BEHIND")])
def test_a_group_without_enough_documents_has_no_interval(documents, verdict):
    """Of a mean every group needs them, whatever the other has."""
    small, large = TOKENS[:documents], TOKENS
    numbers = {
        "a": [number(small), number(large)],
        "b": [number(2 * small + np.arange(documents)), number(2 * large + 1)],
    }
    assert found(numbers, weights=[1, 1])["b"] == verdict
    assert found({name: [own[0]] for name, own in numbers.items()})["b"] == verdict


def test_one_document_many_times_is_one_document():
    keys = np.zeros(40, dtype=np.int64)
    one, other = (number([column.sum()], [BYTES.sum()], keys[:1]) for column in (TOKENS, 2 * TOKENS))
    assert found({"a": [one], "b": [other]}) == {"a": "FIRST", "b": "OPEN"}


def test_copies_are_a_perfect_tie_and_not_missing_evidence():
    both = standings({"a": [number(TOKENS)], "b": [number(TOKENS)], "few": [number(TOKENS)]})
    verdict = [(each.verdict.name, each.gap.low, each.gap.high, each.gap.p) for each in both[1:]]
    assert verdict == [("SAME", 0.0, 0.0, 1.0)] * 2
    assert found({"a": [number([9.0], [30.0])], "b": [number([9.0], [30.0])]})["b"] == "SAME"


def test_the_same_quotient_in_every_document_is_certain():
    double = standings({"a": [number(TOKENS)], "b": [number(2 * TOKENS)]})[1]
    assert (double.gap.low, double.gap.high, double.gap.p, double.verdict.name) == (1.0, 1.0, 0.0, "BEHIND")


@pytest.mark.parametrize(("higher", "first"), [(True, "b"), (False, "a")])
def test_the_direction_decides_who_is_first(higher, first):
    numbers = {"a": [GroupNumber(2.0, 1.9, 2.1)], "b": [GroupNumber(3.0, 2.9, 3.1)]}
    best, other = standings(numbers, higher=higher)
    assert (best.contender, other.verdict, other.gap.more) == (first, Verdict.BEHIND, pytest.approx(0.5))


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (3.1, 3.3, "UNSURE"),
        (3.11, 3.3, "UNSURE"),
        (2.9, 3.09, "BEHIND"),
        (None, None, "OPEN"),
        (2.9, None, "OPEN"),
        (None, 3.09, "OPEN"),
    ],
)
def test_numbers_without_documents_tie_if_their_intervals_overlap(low, high, verdict):
    best = GroupNumber(4.0, 3.1, 5.0)
    assert found({"a": [best], "b": [GroupNumber(3.0, low, high)]})["b"] == verdict
    assert found({"a": [GroupNumber(4.0, low, high)], "b": [GroupNumber(3.0, 2.9, 3.09)]})["b"] == (
        "OPEN" if None in {low, high} else "BEHIND" if low > 3.09 else "UNSURE"
    )


@pytest.mark.parametrize(("low", "verdict"), [(0.0, "UNSURE"), (0.1, "UNSURE"), (0.11, "BEHIND")])
def test_intervals_that_reach_nothing_are_compared_by_their_ends(low, verdict):
    numbers = {"a": [GroupNumber(0.0, 0.0, 0.1)], "b": [GroupNumber(0.5, low, 0.7)]}
    assert found(numbers, higher=False)["b"] == verdict
    numbers = {"a": [GroupNumber(0.05, 0.0, 0.1)], "b": [GroupNumber(0.5, low, 0.7)]}
    assert found(numbers, higher=False)["b"] == verdict


def test_shares_of_losses_that_may_be_nothing_are_compared_by_their_difference():
    n = np.full(40, 100.0)
    lost = {"none": np.zeros(40), "one": np.eye(1, 40)[0] * 7, "many": RNG.integers(1, 5, 40).astype(float)}
    numbers = {
        name: [GroupNumber(v.sum() / n.sum(), sums=StandingSums(above=v, below=n, units=SampleUnits.numbered(40)))]
        for name, v in lost.items()
    }
    assert found(numbers, higher=False, margin=0.01) == {"none": "FIRST", "one": "UNSURE", "many": "BEHIND"}
    assert found({name: numbers[name] for name in ("one", "many")}, higher=False)["many"] == "BEHIND"

    found_gap = gap(numbers["many"][0], numbers["one"][0])
    left_out = [
        (lost["many"].sum() - x - lost["one"].sum() + y) / 3900 for x, y in zip(lost["many"], lost["one"], strict=True)
    ]
    value = numbers["many"][0].value - numbers["one"][0].value
    low, high = spread(np.array(left_out), SampleUnits.numbered(40)).ends(value)
    assert (found_gap.low, found_gap.high) == pytest.approx((low, high))


def test_who_follows_one_that_is_behind_is_behind():
    numbers = {"a": [number(TOKENS)], "b": [number(noisy(0.03, 0.001))], "wide": [number(noisy(0.04, 0.3))]}
    assert found({name: numbers[name] for name in ("a", "wide")})["wide"] == "UNSURE"
    assert found(numbers) == {"a": "FIRST", "b": "BEHIND", "wide": "BEHIND"}
    unknown = numbers | {"wide": [GroupNumber(3.0)]}
    assert found(unknown)["wide"] == "BEHIND"
    assert leaders(standings(unknown)) == {"a"}
    assert leaders(standings({"a": [number(TOKENS)], "wide": [GroupNumber(3.0)]})) == set()


def test_places_go_on_with_the_best_of_the_rest():
    """Two in the middle tie with each other and not with the first; a copy does not move those behind it."""
    numbers = {
        "a": [number(TOKENS)],
        "its copy": [number(TOKENS)],
        "b": [number(noisy(0.1, 0.01))],
        "c": [number(noisy(0.1005, 0.01, 2))],
        "d": [number(noisy(0.5, 0.01, 3))],
    }
    assert places(numbers) == {"a": 1, "its copy": 1, "b": 2, "c": 2, "d": 4}
    assert places({"x": [GroupNumber(3.0)], "y": [GroupNumber(2.0)]}) == {"x": 1, "y": 2}


def test_nobody_is_first_among_none():
    assert standings({}) == []
    assert found({"a": [GroupNumber(1.0)]}) == {"a": "FIRST"}


def test_places_know_the_direction_the_margin_and_what_is_no_copy():
    numbers = {"x": [GroupNumber(3.0, 3.0, 3.0)], "y": [GroupNumber(2.0, 2.0, 2.0)]}
    assert places(numbers, higher=False) == {"y": 1, "x": 2}
    few = {
        "a": [GroupNumber(4.0, 4.0, 4.0)],
        "b": [GroupNumber(3.99, 3.99, 3.99)],
        "c": [GroupNumber(3.98, 3.98, 3.98)],
    }
    assert places(few) == {"a": 1, "b": 2, "c": 3}
    assert places(few, margin=0.004) == {"a": 1, "b": 1, "c": 3}
    noise = [number(TOKENS)], [number(TOKENS[::-1], BYTES[::-1])], [number(2 * TOKENS)]
    assert places(dict(zip("abc", noise, strict=True))) == {"a": 1, "b": 1, "c": 3}


@pytest.mark.parametrize(
    ("larger", "smaller", "gap_of"),
    [
        ((0.5, 0.4, 0.6), (0.25, 0.2, 0.3), (1.0, 0.4 / 0.3 - 1, 2.0)),
        ((0.5, 0.4, 0.6), (0.0, 0.0, 0.1), (math.inf, 0.3, 0.6)),
        ((0.5, 0.0, 0.6), (0.25, 0.1, 0.3), (1.0, -0.3, 0.5)),
        ((0.0, 0.0, 0.1), (0.0, 0.0, 0.2), (0.0, -0.2, 0.1)),
        ((3.0, 2.0, 4.0), (4.0, 3.0, 5.0), (-0.25, -0.6, 1 / 3)),
    ],
)
def test_a_gap_without_documents_by_hand(larger, smaller, gap_of):
    found_gap = gap(GroupNumber(*larger), GroupNumber(*smaller))
    assert (found_gap.more, found_gap.low, found_gap.high) == pytest.approx(gap_of)
    assert (found_gap.p, found_gap.hypothesis) == (None, None)


def test_several_groups_without_documents_are_no_evidence():
    best, other = [GroupNumber(4.0, 4.0, 4.0), GroupNumber(9.0)], [GroupNumber(1.0, 1.0, 1.0), GroupNumber(1.0)]
    _, second = standings({"a": best, "b": other}, [1, 1])
    assert (second.gap, second.verdict) == (Gap(pytest.approx(5.0)), Verdict.OPEN)


def test_copies_are_one_hypothesis_and_have_a_p_value():
    one, other = (number(noisy(0.03, 0.1, seed)) for seed in (1, 2))
    first, copy, else_ = (gap(number(TOKENS), each) for each in (one, one, other))
    assert 0 < first.p < 1
    assert first.hypothesis == copy.hypothesis != else_.hypothesis
    assert first.hypothesis is not None
