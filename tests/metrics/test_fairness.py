"""Premiums: by hand, as a whole run, and in the reports."""

import numpy as np
import pytest
from shared_fixtures import cell

import tokbench
from tokbench.results.cells import WHOLE, Status
from tokbench.sources.sample import SampleOptions, SampleSource

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
    found = cell(results, "bytes", "median_premium", "fi")
    assert found.value == pytest.approx(np.median(ratios))
    # Of 66 the 25th and the 42nd.
    assert (found.ci_low, found.ci_high, found.n) == (ratios[24], ratios[41], 66)


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
    found = cell(results, "chars", "premium", "de")
    assert found.value == 2  # with lines 7, 8, 9 it would be more
    assert found.n == 37
    assert cell(results, "chars", "left_out", "de").value == 3
    assert cell(results, "chars", "left_out", "en").value == 1


@pytest.mark.parametrize(
    ("corpora", "reason"),
    [
        ("  c: {source: text, path: '??.txt', document: line}", "corpus c is not aligned; add 'parallel: true' if"),
        (CORPUS.format(more=""), "corpus c names no reference language; add 'reference: en'"),
    ],
)
def test_what_cannot_be_compared_says_why(write_config, aligned, corpora, reason):
    results = run(write_config, corpora)
    assert results.cells
    assert {c.status for c in results.cells} == {Status.NOT_APPLICABLE}
    assert all(c.reason.startswith(reason) for c in results.cells)
    assert bool(list(results.states)) == ("parallel" in corpora), "only translations have a state of documents"
