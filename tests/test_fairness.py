"""Premiums, Gini and Lorenz, language facts: by hand, by published values, and as a whole run."""

import functools
import io
import itertools
import json
import os
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import tiktoken
from conftest import cell, problems
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import tokbench
from tokbench.backend import Options
from tokbench.batch import encode_batch
from tokbench.corpus.languages import FACETS, find_language, slices
from tokbench.corpus.sample import SampleOptions, SampleSource
from tokbench.corpus.shards import shards
from tokbench.corpus.source import Document
from tokbench.metrics.contract import CorpusStates
from tokbench.metrics.fairness.family import Fairness
from tokbench.metrics.fairness.inequality import gini, lorenz
from tokbench.metrics.view import Subject, View
from tokbench.report import html, markdown
from tokbench.report.terminal import summary
from tokbench.results import WHOLE, Status

CORPUS = "  c: {{source: text, path: '??.txt', document: line, parallel: true{more}}}"
REFERENCE = CORPUS.format(more=", reference: en")


@pytest.fixture
def aligned(tmp_path):
    """Forty lines each; German is twice, Thai three times as many bytes as English, to the byte."""
    for name, letter in {"en": "a", "de": "aa", "th": "ก"}.items():
        lines = [letter * (3 + k % 7) for k in range(40)]
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def run(write_config, corpora=REFERENCE, tokenizers="  bytes: {backend: utf8_bytes}", metrics="[fairness]"):
    return tokbench.run(write_config(corpora, tokenizers, metrics))


# ------------------------------------------------------------------------------------------------ Gini and Lorenz

costs = st.lists(st.integers(1, 1000), min_size=1, max_size=30)


@given(costs)
def test_gini_equals_its_definition(values):
    differences = sum(abs(a - b) for a in values for b in values)
    assert gini(values) == pytest.approx(float(Fraction(differences, 2 * len(values) * sum(values))), abs=1e-12)


@given(costs)
def test_gini_is_twice_the_area_between_the_lorenz_curve_and_the_diagonal(values):
    points = lorenz(values)
    area = sum((x1 - x0) * (y0 + y1) / 2 for (x0, y0), (x1, y1) in itertools.pairwise(points))
    assert gini(values) == pytest.approx(1 - 2 * area, abs=1e-12)
    assert points[0] == (0, 0)
    assert points[-1] == (1, pytest.approx(1))
    assert all(y <= x + 1e-12 for x, y in points)


@given(costs, st.integers(2, 9))
def test_gini_does_not_see_scale_or_copies(values, factor):
    assert gini([factor * value for value in values]) == pytest.approx(gini(values), abs=1e-12)
    assert gini(values * factor) == pytest.approx(gini(values), abs=1e-12)


def test_gini_and_lorenz_by_hand():
    # Premiums 1, 2, 3, 6: differences 1+2+5+1+4+3 = 16, each twice; 2 * 4 * 12 = 96.
    assert gini([1, 2, 3, 6]) == pytest.approx(32 / 96)
    assert lorenz([6, 1, 3, 2]) == [(0, 0), (0.25, 1 / 12), (0.5, 3 / 12), (0.75, 6 / 12), (1, 1)]


def test_gini_equals_established_packages():
    """The example of the manual of R's ``ineq``; PySAL's ``inequality`` 1.1.2 gives the same, to 15 digits."""
    incomes = [541, 1463, 2445, 3438, 4437, 5401, 6392, 8304, 11904, 22261]
    assert gini(incomes) == pytest.approx(0.4620911, abs=5e-8)
    assert gini(incomes) == pytest.approx(0.46209113026762383, abs=1e-15)


# ------------------------------------------------------------------------------------------------ premiums


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
    [state_en], [state_de] = ([s["state"] for s in results.states if s["group"] == g] for g in ("en", "de"))
    a, b = (np.array(s["sums"]["tokens that come back"], dtype=float) for s in (state_de, state_en))
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


def test_mostly_lost_text_has_no_premium(write_config, aligned, tmp_path):
    (tmp_path / "train.txt").write_text("a" * 30, encoding="utf-8")
    corpora = "  t: {source: text, path: train.txt, evaluate: false}\n" + REFERENCE
    results = run(write_config, corpora, "  chars: {backend: codepoints, train: {corpus: t, vocab_size: 2}}")
    thai = cell(results, "chars", "premium", "th")
    assert thai.status == Status.NOT_APPLICABLE
    assert thai.reason == "only 0 of 40 documents come back in th and en"
    assert cell(results, "chars", "left_out", "th").value == 40
    assert cell(results, "chars", "premium", "de").value == 2
    for metric in ("premium", "gini", "max_min"):
        whole = cell(results, "chars", metric)
        assert whole.reason == "no premium for th: only 0 of 40 documents come back in th and en"
    assert "none for 1 of 3, whose text is lost" in markdown.render(results)


@pytest.mark.parametrize(
    ("corpora", "reason"),
    [
        ("  c: {source: text, path: '??.txt', document: line}", "corpus c is not aligned; add 'parallel: true' if"),
        (CORPUS.format(more=""), "corpus c names no reference language; add 'reference: de'"),
    ],
)
def test_what_cannot_be_compared_says_why(write_config, aligned, corpora, reason):
    results = run(write_config, corpora)
    assert results.cells
    assert {c.status for c in results.cells} == {Status.NOT_APPLICABLE}
    assert all(c.reason.startswith(reason) for c in results.cells)


def test_a_wrong_reference_is_told_before_anything_is_measured(write_config, aligned):
    assert problems(write_config(CORPUS.format(more=", reference: eng"))) == [
        "run.yaml:4:80: unknown group 'eng'; did you mean 'en'?"
    ]
    unaligned = "  c: {source: text, path: '??.txt', document: line, reference: en}"
    [line] = problems(write_config(unaligned))
    assert line.endswith("a reference needs groups that are translations; add 'parallel: true', or remove it")


def test_a_tokenizer_that_fails_fails_its_own_cells(write_config, aligned, faulty):
    results = run(write_config, tokenizers="  bytes: {backend: utf8_bytes}\n  bad: {backend: DecodeRaises}")
    assert cell(results, "bytes", "premium", "th").value == 3
    assert {c.status for c in results.cells if c.tokenizer == "bad"} == {Status.FAILED}


def test_the_corpus_s_reference_is_in_the_results(write_config, aligned):
    results = run(write_config)
    assert results.corpora["c"]["reference"] == "en"
    assert json.loads(results.to_json())["pairs"] == []


@functools.cache
def utf8_bytes():
    return tokbench.load("utf8_bytes")


texts = st.lists(st.text(alphabet="abA ก\n", max_size=8), min_size=1, max_size=15)


@given(texts, st.randoms(use_true_random=False), st.integers(1, 30))
def test_shards_in_any_order_give_the_same_premium_and_interval(lines, order, size):
    metric, subject = Fairness(Options()), Subject("t", utf8_bytes())

    def state(group, size):
        rows = [Document(line * (1 + (group == "de")), group, str(k), f"c:{k}") for k, line in enumerate(lines)]
        parts = [
            metric.map(View(subject, shard, encode_batch(subject.tokenizer, shard.texts)))
            for shard in shards("c", rows, by_key=True, size=size)
        ]
        order.shuffle(parts)
        while len(parts) > 1:
            one, other = parts.pop(order.randrange(len(parts))), parts.pop(order.randrange(len(parts)))
            parts.append(metric.merge(one, other))
        return parts[0]

    def values(size):
        states = {("t", group): state(group, size) for group in ("en", "de")}
        raw = {place: metric.raw(one) for place, one in states.items()}
        groups = dict.fromkeys(("en", "de"), len(lines))
        return raw, metric.across(CorpusStates("c", True, "en", groups, ["t"], states)).values

    assert values(size) == values(10**9)


# ------------------------------------------------------------------------------------------------ languages


def test_languages_by_any_of_their_codes():
    for codes in (("zh", "zho", "cmn", "zho-CN", "zh_Hant"), ("fa", "fas", "pes"), ("sw", "swa", "swh_Latn")):
        assert len({find_language(code) for code in codes}) == 1
    assert find_language("sr").script == ""
    assert find_language("srp_Cyrl").script == "Cyrillic"
    assert [find_language(word) for word in ("python", "hostile", "xx", "")] == [None] * 4


def test_the_table_of_languages_is_whole():
    """Each row has the fields that its header names, no code twice, classes as in the paper's description."""
    from importlib.resources import files

    rows = (files("tokbench.corpus") / "languages.tsv").read_text(encoding="utf-8").splitlines()
    rows = [row.split("\t") for row in rows if not row.startswith("#")]
    assert {len(row) for row in rows} == {7}
    codes = [code for row in rows for code in row[:3] if code != "-"]
    assert len(codes) == len(set(codes))
    assert all(re.fullmatch(r"[a-z]{2}|-", row[0]) and re.fullmatch(r"[a-z]{3}", row[1]) for row in rows)
    assert {row[6] for row in rows} == {*"012345", "-"}
    # The classes 5 and 4 are few, and named in full in the paper.
    of_class = {k: {row[3] for row in rows if row[6] == k} for k in "45"}
    assert of_class["5"] == {"English", "Spanish", "German", "Japanese", "French", "Arabic", "Chinese"}
    assert len(of_class["4"]) == 18


def test_every_language_of_the_sample_is_known():
    groups = {document.group for document in SampleSource(SampleOptions(part="languages")).documents()}
    assert len(groups) == 28
    for group in groups:
        assert all(find_language(group).facet(facet) for facet in FACETS)


def test_unknown_languages_are_a_slice_with_a_message(write_config, tmp_path):
    for name in ("en", "q1", "q2"):
        (tmp_path / f"{name}.txt").write_text("".join(f"{name} {k}\n" for k in range(20)), encoding="utf-8")
    results = run(write_config)
    assert cell(results, "bytes", "premium", "q1").value == 1
    for facet in FACETS:
        unknown = cell(results, "bytes", "premium", f"{facet}: unknown")
        assert unknown.status == Status.NOT_APPLICABLE
        assert unknown.reason == f"nothing is known of the {facet} of q1, q2"
    assert [s.groups for s in slices(["q2", "en"]) if not s.value] == [("q2",)] * 3


# ------------------------------------------------------------------------------------------------ reports


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "run.yaml"
    path.write_text(
        "schema: tokbench/1\nname: test\ncorpora:\n"
        "  c: {source: sample, part: languages, groups: [en, de, th, zh], parallel: true, reference: en}\n"
        "tokenizers: {bytes: {backend: utf8_bytes}, units: {backend: utf16_units}}\nmetrics: [fairness]\n",
        encoding="utf-8",
    )
    return tokbench.run(path)


def test_the_page_has_bars_and_curves(shown):
    page = html.render(shown)
    assert page.count("<rect ") == 8
    # Bars, and small pictures of the three other languages; the reference has no interval.
    assert page.count('class="whisker"') == 6 + 6
    assert page.count('<g class="point">') == 6
    assert "Premium of Thai (th) under each tokenizer" in page
    assert "Premium of English (en) under each tokenizer" not in page
    assert page.count('class="bar curve"') == 4  # two curves, two keys
    assert "Thai (th)" in page
    for name in ("bytes", "units"):
        assert f"<title>{name}, Gini {cell(shown, name, 'gini').value:.3f}".rstrip("0") in page


def test_markdown_has_the_table(shown):
    text = markdown.render(shown)
    assert "## Fairness: c" in text
    value = cell(shown, "bytes", "premium", "th")
    assert f"{value.value:.2f}** [{value.ci_low:.2f}–{value.ci_high:.2f}]" in text or f"{value.value:.2f} [" in text
    assert "| script: Thai |" in text


def test_the_terminal_lives_with_it(shown):
    console = Console(file=io.StringIO(), width=100)
    summary(shown, console)
    assert "do not apply" not in console.file.getvalue()


# ------------------------------------------------------------------------------------------------ NTREX


@pytest.mark.slow
def test_the_configuration_that_ships_has_a_value_everywhere():
    pytest.importorskip("splintr")
    results = tokbench.run(Path(__file__).parent.parent / "configs" / "multilingual.yaml")
    assert not results.failed
    for name in results.tokenizers:
        for group in results.corpora["languages"]["groups"]:
            assert cell(results, name, "premium", group).value > 0
            assert cell(results, name, "rank", group).value >= 1
            assert cell(results, name, "nsl", group).value > 0
        assert 0 < cell(results, name, "gini").value < 1
    ours = [c for c in results.cells if c.tokenizer == "regex-8192" and c.value is not None]
    assert {c.in_sample for c in ours} == {0.0}


ENCODINGS = {"cl100k": "cl100k_base", "o200k": "o200k_base"}


@pytest.fixture(scope="module")
def ntrex(data, tmp_path_factory):
    """Thirteen languages, 1,997 sentences each, and premiums from a plain count with tiktoken."""
    pytest.importorskip("splintr")
    if not os.environ.get("TIKTOKEN_CACHE_DIR"):
        pytest.skip("TIKTOKEN_CACHE_DIR names no folder with tiktoken's files")
    path = tmp_path_factory.mktemp("ntrex") / "ntrex.yaml"
    path.write_text(
        "schema: tokbench/1\nname: ntrex\ncorpora:\n"
        f"  ntrex: {{source: text, path: '{data}/ntrex/*.txt', document: line, parallel: true, reference: eng}}\n"
        "tokenizers:\n  cl100k: {backend: splintr, vocabulary: cl100k_base}\n"
        "  o200k: {backend: splintr, vocabulary: o200k_base}\nmetrics: [fairness, pairs]\n",
        encoding="utf-8",
    )
    plain = {}
    for name, encoding in ENCODINGS.items():
        encode = tiktoken.get_encoding(encoding).encode_ordinary
        counts = {
            file.stem: sum(len(encode(line)) for line in file.read_text(encoding="utf-8").split("\n"))
            for file in (data / "ntrex").glob("*.txt")
        }
        plain[name] = {group: count / counts["eng"] for group, count in counts.items()}
    return tokbench.run(path), plain


@pytest.mark.slow
def test_ntrex_premiums_equal_a_plain_count(ntrex):
    results, plain = ntrex
    for name in ENCODINGS:
        assert len(plain[name]) == 13
        for group, premium in plain[name].items():
            assert cell(results, name, "premium", group).value == pytest.approx(premium, rel=1e-12)
        assert cell(results, name, "gini").value == pytest.approx(gini(list(plain[name].values())), rel=1e-12)


@pytest.mark.slow
def test_ntrex_o200k_lowers_what_cl100k_had(ntrex):
    results, plain = ntrex
    old, new = ({g: cell(results, name, "premium", g) for g in plain[name]} for name in ENCODINGS)
    for group in set(old) - {"eng"}:
        assert new[group].ci_high < old[group].ci_low, group
    assert cell(results, "o200k", "gini").ci_high < cell(results, "cl100k", "gini").ci_low
    # Latin script, Chinese and Cyrillic cost two or three times English, the scripts of South and Southeast Asia and of
    # Ethiopia four to seven times.
    assert sorted(old, key=lambda group: old[group].value) == [
        *("eng", "deu", "zho-CN", "tur", "swa", "vie", "rus", "ukr", "arb", "heb", "tha", "ben", "amh"),
    ]
    assert 1.5 < old["deu"].value < 1.7
    assert 7 < old["amh"].value < 8
    # Everything but Amharic costs less than twice English with o200k_base.
    assert {group for group in new if new[group].value >= 2} == {"amh"}


# Petrov, La Malfa, Torr and Bibi 2023, "Language Model Tokenizers Introduce Unfairness Between Languages" (NeurIPS), from
# their published table tokenization_lengths_validated.csv: tokens of cl100k_base on 2,000 sentences of FLORES-200.
FLORES = {
    "eng": 52_835,
    "deu": 83_450,
    "zho-CN": 101_138,
    "tur": 101_176,
    "swa": 103_109,
    "vie": 129_258,
    "rus": 131_496,
    "ukr": 158_296,
    "arb": 160_485,
    "heb": 193_616,
    "tha": 231_995,
    "ben": 308_325,
    "amh": 405_644,
}


@pytest.mark.slow
def test_ntrex_premiums_are_those_of_the_published_study(ntrex):
    """Other sentences by other translators, the same languages: the same order, and within a tenth."""
    results, _ = ntrex
    found = {group: cell(results, "cl100k", "premium", group).value for group in FLORES}
    published = {group: tokens / FLORES["eng"] for group, tokens in FLORES.items()}
    assert sorted(found, key=found.get) == sorted(published, key=published.get)
    off = {group: found[group] / published[group] - 1 for group in FLORES}
    assert all(abs(each) < 0.1 for each in off.values()), off
    assert sum(abs(each) < 0.02 for each in off.values()) >= 9
