"""Premiums of documents by hand: each side of every condition, in the sums, the medians, and the tables of a corpus."""

import numpy as np
import pytest

from tokbench.measuring.metric import CorpusStates, NotApplicable
from tokbench.metrics.fairness.fairness import FairnessMetric
from tokbench.metrics.fairness.premium import Aligned, Documents, inequality, mean, median, premium
from tokbench.results.cells import WHOLE
from tokbench.statistics.jackknife import interval
from tokbench.tokenizers.options import Options


def documents(tokens, lost=(), keys=None):
    kept = ~np.isin(np.arange(len(tokens)), lost)
    return Documents(np.array(tokens), kept, np.arange(len(tokens)) << 40 if keys is None else np.array(keys))


ENGLISH = [5, 10, 3, 7]
GERMAN = [10, 20, 90, 700]
"""Twice as many, if neither of the last two counts."""


@pytest.mark.parametrize(
    ("lost_de", "lost_en", "value", "left_out"),
    [
        ((), (), 820 / 25, 0),
        ((3,), (), 120 / 18, 1),
        ((), (3,), 120 / 18, 1),
        ((2,), (3,), 30 / 15, 2),
        ((2, 3), (3,), 30 / 15, 2),
    ],
)
def test_a_document_that_is_lost_on_either_side_is_left_out_on_both(lost_de, lost_en, value, left_out):
    found = premium(documents(GERMAN, lost_de), documents(ENGLISH, lost_en))
    assert (mean([found]).value, found.left_out, found.documents) == (value, left_out, 4 - left_out)
    ratios = [de / en for k, (de, en) in enumerate(zip(GERMAN, ENGLISH, strict=True)) if k not in {*lost_de, *lost_en}]
    assert found.ratios.tolist() == ratios
    assert (median([found]).value, median([found]).n) == (np.median(ratios), len(ratios))


def test_a_document_without_tokens_in_the_reference_counts_in_the_sum_and_has_no_ratio():
    found = premium(documents([10, 4, 6]), documents([5, 0, 2]))
    assert (mean([found]).value, found.documents, found.ratios.tolist()) == (20 / 7, 3, [2, 3])


@pytest.mark.parametrize(
    ("lost", "group", "reason"),
    [
        ((0, 1), "de", ""),
        ((0, 1, 2), "de", "only 1 of 4 documents lose nothing in de and en"),
        ((0, 1, 2), "en", "only 1 of 4 documents lose nothing in en"),
    ],
)
def test_half_of_the_documents_must_be_kept(lost, group, reason):
    found = premium(documents(GERMAN), documents(ENGLISH, lost))
    assert found.reason_not_comparable(group, "en") == reason


def test_a_reference_without_tokens_has_no_premium():
    assert premium(documents([1, 2]), documents([0, 0])).reason_not_comparable("de", "en") == "en has no tokens"


def by_hand(languages, statistic):
    """The interval from ratios without each document, of languages as pairs of sums by document."""
    without = []
    for k in range(len(languages[0][0])):
        if any(below[k] for _, below in languages):
            sums = [(above.sum() - above[k], below.sum() - below[k]) for above, below in languages]
            without.append(statistic([above / below for above, below in sums]))
    whole = statistic([above.sum() / below.sum() for above, below in languages])
    return interval(whole, np.array(without))


def test_intervals_leave_each_document_out_in_all_languages_that_have_it():
    rng = np.random.default_rng(3)
    english, german, thai = (rng.integers(20, 40, 14) * factor for factor in (1, 2, 3))
    base = documents(english)
    parts = [premium(documents(german, (0, 13)), base), premium(documents(thai, (0, 5)), base)]
    sums = [
        (np.where(np.isin(np.arange(14), lost), 0, tokens), np.where(np.isin(np.arange(14), lost), 0, english))
        for tokens, lost in ((german, (0, 13)), (thai, (0, 5)))
    ]
    dearest = by_hand(sums, lambda values: max(values) / min(values))
    found = inequality(parts)["max_min"]
    assert (found.ci_low, found.ci_high) == pytest.approx((dearest.low, dearest.high))
    one = by_hand(sums[:1], lambda values: values[0])
    found = mean(parts[:1])
    assert (found.ci_low, found.ci_high, found.n) == pytest.approx((one.low, one.high, 12))
    assert median(parts[:1]).ci_low is not None
    assert median(parts).ci_low is None
    assert median(parts).n == 24
    assert mean(parts).n == 24


@pytest.mark.parametrize(("kept", "has_interval"), [(1, False), (2, True)])
def test_a_language_with_one_unit_has_no_interval(kept, has_interval):
    """Without it nothing is left; the other language has all twelve."""
    tokens = np.arange(10, 22)
    lost = range(kept, 12)
    parts = [premium(documents(tokens * 2, lost), documents(tokens)), premium(documents(tokens**2), documents(tokens))]
    found = inequality(parts)["gini"]
    assert (found.ci_low is not None) == has_interval
    assert ("a language has none left" in found.no_interval) != has_interval


def states(groups, reference="en", **more):
    """By group tokens, and which documents are lost; ``None`` for a group that was not measured."""
    known = {("t", group): Aligned(((0, documents(*given)),)) for group, given in groups.items() if given is not None}
    counted = dict.fromkeys(groups, 4)
    return CorpusStates(
        "c", **{"parallel": True, "reference": reference} | more, groups=counted, tokenizers=["t"], states=known
    )


def outcome(*given, **more):
    return {
        group: values
        for (_, group), values in FairnessMetric(Options()).finish_corpus(states(*given, **more)).values.items()
    }


def reasons(values):
    return {id_: value.reason for id_, value in values.items() if isinstance(value, NotApplicable)}


def test_a_language_that_was_not_measured_leaves_the_others_their_premium():
    found = outcome({"en": (ENGLISH,), "de": (GERMAN,), "th": None})
    assert found["de"]["premium"].value == 820 / 25
    assert "th" not in found
    assert reasons(found[WHOLE])["gini"] == "no premium for th: it was not measured"
    assert found["script: Latin"]["max_min"].value == 820 / 25


def test_a_language_that_loses_too_much_takes_the_whole_with_it():
    found = outcome({"en": (ENGLISH,), "de": (GERMAN, (0, 1, 2)), "th": (GERMAN,)})
    why = "only 1 of 4 documents lose nothing in de and en"
    assert reasons(found["de"])["premium"] == why
    assert reasons(found[WHOLE])["premium"] == f"no premium for de: {why}"
    assert found["de"]["left_out"].value == 3
    assert (found[WHOLE]["left_out"].value, found[WHOLE]["left_out"].n) == (3, 12)
    assert found["script: Thai"]["premium"].value == 820 / 25
    assert "gini" not in found["script: Thai"], "nothing is uneven in one language"


def test_the_reference_is_compared_and_is_no_slice_of_its_own():
    found = outcome({"en": (ENGLISH,), "th": (GERMAN,), "tlh": (GERMAN,)})
    assert found["en"]["premium"].value == 1
    assert "script: Latin" not in found
    assert set(reasons(found["script: unknown"])) == {"premium", "median_premium", "relative_context"}
    assert found[WHOLE]["premium"].value == 820 / 25


@pytest.mark.parametrize(
    ("groups", "more", "reason"),
    [
        ({"en": (ENGLISH,), "de": (GERMAN,)}, {"parallel": False}, "corpus c is not aligned; "),
        (
            {"de": (GERMAN,), "en": (ENGLISH,)},
            {"reference": ""},
            "corpus c names no reference language; add 'reference: en'",
        ),
        ({"en": None, "de": (GERMAN,)}, {}, "the reference en was not measured"),
        ({"en": (ENGLISH,)}, {}, "the corpus has no language but the reference"),
    ],
)
def test_what_cannot_be_compared_has_no_number(groups, more, reason):
    found = outcome(groups, **more)
    assert reasons(found[WHOLE])["premium"].startswith(reason)
    assert reasons(found[WHOLE])["gini"].startswith(reason)


@pytest.mark.parametrize("order", [1, -1])
def test_shards_are_put_in_the_order_of_their_documents(order):
    shards = [Aligned(((0, documents([1, 2])),)), Aligned(((2, documents([3, 4], (0,))),))]
    one, other = shards[::order]
    both = (one + other).documents()
    assert (both.tokens.tolist(), both.kept.tolist()) == ([1, 2, 3, 4], [True, True, False, True])
    assert Aligned(()).raw() is None
    sums = (one + other).raw()["sums"]
    assert (sum(sums["tokens"]), sum(sums["tokens without loss"])) == (10, 7)
