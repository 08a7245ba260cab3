"""Premiums: by hand, of documents, as a whole run, script by script, and in the reports."""

import numpy as np
import pytest
from shared_fixtures import cell

import tokbench
from tokbench.measuring.metric import CorpusStates, NotApplicable
from tokbench.metrics.fairness.fairness import FairnessMetric
from tokbench.metrics.fairness.premium import Aligned, Documents, inequality, mean, median, premium
from tokbench.results.cells import WHOLE
from tokbench.sources.sample import SampleOptions, SampleSource
from tokbench.statistics.jackknife import interval
from tokbench.tokenizers.options import Options

CORPUS = "  c: {{source: text, path: '??.txt', document: line, parallel: true{more}}}"
REFERENCE = CORPUS.format(more=", reference: en")


@pytest.fixture
def aligned(tmp_path):
    """Forty lines each; German is twice, Thai three times as many bytes as English, to the byte."""
    for name, letter in {"en": "a", "de": "aa", "th": "ก"}.items():
        lines = [letter * (3 + k % 7) for k in range(40)]
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def run(write_config, corpora=REFERENCE, tokenizers="  bytes: {backend: utf8_bytes}", metrics="[fairness]"):
    return tokbench.run(write_config(corpora, tokenizers, metrics), workers=0)


def test_premiums_by_hand(write_config, aligned):
    results = run(write_config)
    assert {g: cell(results, "bytes", "premium", g).value for g in ("en", "de", "th")} == {"en": 1, "de": 2, "th": 3}
    assert cell(results, "bytes", "premium", "th").n == 40
    assert cell(results, "bytes", "premium").value == 2.5
    assert cell(results, "bytes", "relative_context", "th").value == pytest.approx(1 / 3)
    assert cell(results, "bytes", "max_min").value == 3
    assert cell(results, "bytes", "gini").value == pytest.approx((1 + 2 + 1) * 2 / (2 * 3 * 6))
    assert cell(results, "bytes", "left_out").value == 0
    assert cell(results, "bytes", "median_premium", "de").value == 2
    assert cell(results, "bytes", "median_premium").value == 2.5
    # The same in every jackknife group: nothing varies, so there is no interval to tell.
    assert cell(results, "bytes", "premium", "th").ci_low is None
    assert not [c for c in results.cells if c.metric in {"gini", "max_min"} and c.group in {"en", "de", "th"}]


def test_slices_are_the_mean_of_their_languages(write_config, aligned):
    results = run(write_config)
    assert cell(results, "bytes", "premium", "script: Latin").value == 2
    assert cell(results, "bytes", "premium", "script: Thai").value == 3
    assert cell(results, "bytes", "premium", "family: Indo-European").value == 2
    assert cell(results, "bytes", "max_min", "resource class: 5").value == 2
    assert not [c for c in results.cells if c.group == "script: Thai" and c.metric == "gini"]


def test_premiums_have_the_paired_interval(write_config):
    results = run(
        write_config, "  c: {source: sample, part: languages, groups: [en, de, th], parallel: true, reference: en}"
    )
    for group in ("de", "th", WHOLE, "script: Thai"):
        found, context = (cell(results, "bytes", metric, group) for metric in ("premium", "relative_context"))
        assert found.ci_low < found.value < found.ci_high
        assert context.ci_low == pytest.approx(1 / found.ci_high)
        assert context.ci_high == pytest.approx(1 / found.ci_low)
    gini_ = cell(results, "bytes", "gini")
    assert 0 < gini_.ci_low < gini_.value < gini_.ci_high
    # Paired: the spread of the ratio, not that of two sums that know nothing of each other.
    [state_en], [state_de] = ([s.state for s in results.states if s.group == g] for g in ("en", "de"))
    a, b = (np.array(s["sums"]["tokens without loss"], dtype=float) for s in (state_de, state_en))
    left_out = (a.sum() - a) / (b.sum() - b)
    error = (31 / 32 * ((left_out - left_out.mean()) ** 2).sum()) ** 0.5
    found = cell(results, "bytes", "premium", "de")
    assert 2.03 * error < found.ci_high - found.value < 2.2 * error


def test_the_premium_document_by_document(write_config):
    source = "source: sample, part: languages, groups: [en, fi], parallel: true, reference: en"
    results = run(write_config, f"  c: {{{source}}}")
    texts = {"en": [], "fi": []}
    for document in SampleSource(SampleOptions(part="languages", groups=("en", "fi"))).documents():
        texts[document.group].append(document.text)
    ratios = sorted(len(fi.encode()) / len(en.encode()) for en, fi in zip(texts["en"], texts["fi"], strict=True))
    value = cell(results, "bytes", "median_premium", "fi")
    assert value.value == pytest.approx(np.median(ratios))
    # Of 66 the 25th and the 42nd.
    assert (value.ci_low, value.ci_high, value.n) == (ratios[24], ratios[41], 66)


def test_lost_text_is_left_out_in_both_languages(write_config, tmp_path):
    """Capitals are lost: three German lines of forty, one of them lost in English, too."""
    english = ["A" if k == 7 else "a" * (1 + k % 5) for k in range(40)]
    german = ["B" * 50 if k in {7, 8, 9} else "bb" * (1 + k % 5) for k in range(40)]
    for name, lines in {"en": english, "de": german}.items():
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    # Pieces of one character, seen in training: a and b. What is not there is unknown.
    (tmp_path / "train.txt").write_text("ab" * 30, encoding="utf-8")
    corpora = "  t: {source: text, path: train.txt, evaluate: false}\n" + REFERENCE
    results = run(write_config, corpora, "  chars: {backend: codepoints, train: {corpus: t, vocab_size: 3}}")
    value = cell(results, "chars", "premium", "de")
    assert value.value == 2  # with lines 7, 8, 9 it would be more
    assert value.n == 37
    assert cell(results, "chars", "left_out", "de").value == 3
    assert cell(results, "chars", "left_out", "en").value == 1


VALUES = ("chars_split", "partial_tokens", "graphemes_split")


BPE = "  b: {backend: regex_bpe, train: {corpus: c, vocab_size: 400}}"


def cells(write_config, groups, tokenizers=BPE):
    corpus = f"  c: {{source: sample, part: languages, groups: [{groups}]}}"
    results = tokbench.run(write_config(corpus, tokenizers, "[utf8, compression]"), workers=0)
    assert not results.failed
    return {(c.tokenizer, c.group, c.metric): c for c in results.cells}


def test_a_script_is_its_languages_put_together(write_config):
    found = cells(write_config, "en, th, de, ru, uk")
    scripts = {group for _, group, _ in found if group.startswith("script: ")}
    assert scripts == {"script: Latin", "script: Thai", "script: Cyrillic"}
    for script, groups in {"script: Latin": ("en", "de"), "script: Cyrillic": ("ru", "uk")}.items():
        for value in VALUES:
            whole, parts = found["b", script, value], [found["b", group, value] for group in groups]
            low, high = sorted(part.value for part in parts)
            assert low <= whole.value <= high
            assert whole.n == sum(part.n for part in parts)
            assert whole.in_sample == 1
    for value in VALUES:
        assert found["b", "script: Thai", value].value == found["b", "th", value].value
    assert ("b", "script: Latin", "compression_ratio") not in found, "bytes per token compare with no other script's"


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
    premiums = premium(documents(GERMAN, lost_de), documents(ENGLISH, lost_en))
    assert (mean([premiums]).value, premiums.left_out, premiums.documents) == (value, left_out, 4 - left_out)
    ratios = [de / en for k, (de, en) in enumerate(zip(GERMAN, ENGLISH, strict=True)) if k not in {*lost_de, *lost_en}]
    assert premiums.ratios.tolist() == ratios
    assert (median([premiums]).value, median([premiums]).n) == (np.median(ratios), len(ratios))


def test_a_document_without_tokens_in_the_reference_counts_in_the_sum_and_has_no_ratio():
    premiums = premium(documents([10, 4, 6]), documents([5, 0, 2]))
    assert (mean([premiums]).value, premiums.documents, premiums.ratios.tolist()) == (20 / 7, 3, [2, 3])


@pytest.mark.parametrize(
    ("lost", "group", "reason"),
    [
        ((0, 1), "de", ""),
        ((0, 1, 2), "de", "only 1 of 4 documents lose nothing in de and en"),
        ((0, 1, 2), "en", "only 1 of 4 documents lose nothing in en"),
    ],
)
def test_half_of_the_documents_must_be_kept(lost, group, reason):
    premiums = premium(documents(GERMAN), documents(ENGLISH, lost))
    assert premiums.reason_not_comparable(group, "en") == reason


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
