"""Sums over documents and ratios of two tokenizers, by hand."""

import numpy as np
import pytest
from made_up_results import results_of
from metric_views import view

import tokbench
from tokbench.corpus.shards import BUCKETS
from tokbench.measuring.metric import CorpusStates, Measured, NotApplicable
from tokbench.measuring.paired import KeptSums, PairedChange, paired_difference, paired_quotient
from tokbench.measuring.round_trip import Loss
from tokbench.measuring.sums import PairedSums, SummedMetric, Sums, compared_sums
from tokbench.results.blocks import MetricInfo
from tokbench.results.cells import Cell
from tokbench.statistics.jackknife import too_few
from tokbench.statistics.sample_units import SampleUnits

RATIO = ("tokens", "bytes")
NOT_KEPT = "the sums behind it are not kept, so it has no interval"


def sums(tokens, size=20.0, documents=12):
    return Sums(documents, {"bytes": np.full(len(tokens), size), "tokens": np.array(tokens, float)})


UNEQUAL = [4.0, 5, 6] * 4
ONE = sums([10.0] * 12)


@pytest.mark.parametrize(
    ("one", "two", "ratio_of", "reason"),
    [
        (ONE, ONE, (), "not a ratio of sums, so it has no interval"),
        (None, ONE, RATIO, NOT_KEPT),
        (ONE, None, RATIO, NOT_KEPT),
        (None, None, RATIO, NOT_KEPT),
        (ONE, Sums(12, {"tokens": np.ones(12)}), RATIO, NOT_KEPT),
        (Sums(12, {"bytes": np.ones(12)}), ONE, RATIO, NOT_KEPT),
        (sums(UNEQUAL, 0), ONE, RATIO, "there are no bytes"),
        (ONE, sums(UNEQUAL, 0), RATIO, "there are no bytes"),
        (Sums(12, {"a_b": np.zeros(12), "c": np.ones(12)}),) * 2 + (("c", "a_b"), "there are no a b"),
        (sums([1.0] * 9, documents=9), sums([2.0] * 9, documents=9), RATIO, too_few(9, 9)),
    ],
)
def test_why_two_ratios_have_no_interval(one, two, ratio_of, reason):
    for change in (paired_difference, paired_quotient):
        assert change(one, two, ratio_of) == PairedChange(reason=reason)


def test_what_does_not_vary_is_certain():
    """10 tokens of 20 bytes, 15 of 20, and 0 of 20."""
    more, none = sums([15.0] * 12), sums([0.0] * 12)
    difference = paired_difference(ONE, more, RATIO)
    assert difference[:5] == (0.25, 0.25, 0.0, None, "")
    assert difference.without_units == np.full(12, 0.25).tobytes()
    assert paired_difference(ONE, ONE, RATIO)[:3] == (0.0, 0.0, 1.0)
    assert paired_quotient(ONE, more, RATIO) == PairedChange(0.5, 0.5)
    assert paired_quotient(ONE, none, RATIO) == PairedChange(-1.0, -1.0)
    assert paired_quotient(none, ONE, RATIO) == PairedChange(reason="the first is 0")
    one_alone = sums([9.0, *[0.0] * 11])  # without its first unit it is 0
    assert paired_quotient(one_alone, ONE, RATIO) == PairedChange(reason="the first is 0")


def test_what_varies_by_hand():
    """Tokens 60 of 240 bytes, then 72: .25 and .3; without a unit of 4 tokens 56 / 220, of 5, and of 6."""
    more = sums([5.0, 6, 7] * 4)
    difference = paired_difference(sums(UNEQUAL), sums([4.0, 7, 7] * 4), RATIO)
    without = [((72 - b) - (60 - a)) / 220 for a, b in zip(UNEQUAL, [4.0, 7, 7] * 4, strict=True)]
    assert np.frombuffer(difference.without_units) == pytest.approx(without)
    assert (difference.low + difference.high) / 2 == pytest.approx(0.05, abs=0.002)
    assert difference.low < 0.05 < difference.high
    assert 0 < difference.p < 1
    assert difference.spread.error > 0
    constant = paired_difference(sums(UNEQUAL), more, RATIO)  # one token more in each, but rounded
    assert (constant.low, constant.high) == pytest.approx((0.05, 0.05))
    quotient = paired_quotient(sums(UNEQUAL), more, RATIO)
    assert quotient.low < 0.2 < quotient.high
    assert (quotient.p, quotient.reason, quotient.spread.error > 0) == (None, "", True)


def test_units_of_two_sums_are_joined():
    """Unit 1 is in the first alone, unit 3 in the second alone."""

    def made(keys, values):
        return Sums.by_key(np.array(keys, np.int64) << 32, tokens=np.array(values))

    one, two = made([1, 2, 2], [1, 2, 3]), made([3, 2], [10, 20])
    joined = one + two
    assert (joined.documents, joined.columns["tokens"].tolist()) == (5, [1, 25, 10])
    first, second, units = one.paired(two)
    assert (first.columns["tokens"].tolist(), second.columns["tokens"].tolist()) == ([1, 5, 0], [0, 20, 10])
    assert units.documents.tolist() == [1, 2, 0]
    assert one.paired(one).one is one
    assert Sums.restore(joined.raw()).raw() == joined.raw()
    assert joined.total("tokens") == Measured(36.0, 5)
    assert Sums(0, {}).units.keys.tolist() == []


def test_sums_by_bucket():
    keys = np.array([0, 1, BUCKETS, BUCKETS + 1, 5])
    buckets = Sums.by_key(keys, tokens=np.array([1, 2, 4, 8, 16])).by_bucket("tokens")
    assert (buckets.shape, buckets[[0, 1, 5]].tolist(), buckets.sum()) == ((BUCKETS,), [5, 10, 16], 31)


def test_ratios_and_shares():
    made = Sums(4, {"part": np.array([9.0, 10] * 20), "of": np.full(40, 10.0), "no_words": np.zeros(40)})
    assert made.ratio("part", "no_words") == NotApplicable("there are no no words")
    ratio = made.ratio("part", "of", unit="u", n=3)
    assert (ratio.value, ratio.n, ratio.unit, ratio.ratio_of) == (0.95, 3, "u", ("part", "of"))
    assert made.ratio("part", "of").n == 4
    high = Sums(4, {"part": np.array([10.0] * 39 + [0.0]), "of": np.full(40, 10.0)})
    assert high.ratio("part", "of").ci_high > 1 == high.share("part", "of").ci_high
    assert high.share("part", "of", unit="u", n=3)[1:2] + high.share("part", "of", unit="u")[4:5] == (3, "u")


def test_the_loss_of_sums():
    columns = {"exact": [1, 0], "characters": [3, 1], "lost characters": [0, 1], "edits beyond NFC": [0, 2]}
    made = Sums(2, {name: np.array(column, float) for name, column in columns.items()})
    assert Loss.of(made) == Loss(False, 0.25, 0.5)
    empty = Sums(0, {name: np.zeros(2) for name in columns})
    assert Loss.of(empty) == Loss(True, 0.0, 0.0)
    some = Sums(1, {name: np.array([number]) for name, number in zip(columns, (0.0, 0, 3, 3), strict=True)})
    assert Loss.of(some) == Loss(False, 3.0, 3.0)


def lossy(tokens, lost=0.0, characters=1000.0):
    return Sums(1, {
        "tokens": np.array([tokens]), "characters": np.array([characters]), "exact": np.array([float(not lost)]),
        "lost characters": np.array([lost]), "edits beyond NFC": np.array([lost]),
    })  # fmt: skip


def test_whose_tokens_are_compared():
    """b loses 2 of 1,000 characters in g, and of the corpus 2 of 2,000, which is a thousandth."""
    known = {
        ("a", "g"): lossy(9.0), ("a", "h"): lossy(9.0), ("b", "g"): lossy(8.0, 2.0), ("b", "h"): lossy(8.0),
        ("c", "g"): lossy(0.0), ("d", "g"): lossy(8.0, 3.0), ("d", "h"): lossy(8.0), ("f", "g"): lossy(8.0, 2.0),
    }  # fmt: skip
    states = CorpusStates("x", False, "", {"g": 1, "h": 1}, list("abcdef"), known)
    compared = compared_sums(states, "g")
    assert [name for name, sums in compared.items() if isinstance(sums, Sums)] == ["a", "b"]
    assert {name: reason for name, reason in compared.items() if isinstance(reason, str)} == {
        "c": "c has no tokens",
        "d": "d is lossy: 3 of 1,000 characters are lost, which may save tokens",
        "e": "e was not measured",
        "f": "f is lossy: 2 of 1,000 characters are lost, which may save tokens",
    }


def test_raw_states_of_a_metric():
    metric, made = SummedMetric(None), Sums(1, {"tokens": np.array([3.0])}, SampleUnits.numbered(1))
    holder = type("Holder", (), {"sums": made})()
    assert metric.raw(made) == metric.raw(holder) == made.raw()
    assert metric.raw(object()) is None
    assert metric.merge(made, made).total("tokens").value == 6


def test_sums_that_a_run_has_kept():
    def raw(*tokens):
        return {"documents": 2, "sums": {"tokens": list(tokens)}}

    states = {"t g": raw(1, 2), "t h": raw(3, 4), "u g": raw(5, 6), "v g": [1], "v h": {"sums": 3}}
    kept = KeptSums(
        results_of(
            [Cell("t", "c", "g", "m", 1.0, n=2), Cell("t", "c", "h", "m", 1.0, n=2)],
            {"m": MetricInfo(family="f")},
            {(place[0], "c", place[2], "f"): state for place, state in states.items()},
        )
    )
    by_place = {
        place: kept.sums(place[0], "c", place[2], "f") for place in ("t g", "t h", "t *", "u g", "u *", "v g", "v h")
    }
    shown = {place: sums and sums.columns["tokens"].tolist() for place, sums in by_place.items()}
    assert shown == {"t g": [1, 2], "t h": [3, 4], "t *": [4, 6], "u g": [5, 6], "u *": None, "v g": None, "v h": None}
    assert (by_place["t g"].documents, by_place["t *"].documents) == (2, 4)
    assert kept.sums("t", "c", "g", "f") is by_place["t g"]
    assert kept.sums("t", "other", "*", "f") is None


def test_sums_of_a_shard_count_what_occurs_often():
    """Documents of 2 and 3 bytes; as chunks that occur 5 and 7 times."""
    encoded = view(tokbench.load("utf8_bytes"), "ab", "cé")
    made = PairedSums(None).map(encoded)
    assert (made.documents, made.total("tokens").value, made.total("characters").value) == (2, 5, 4)
    encoded.shard.times = np.array([5, 7])
    often = PairedSums(None).map(encoded)
    assert (often.total("tokens").value, often.total("characters").value) == (2 * 5 + 3 * 7, 2 * 5 + 2 * 7)
