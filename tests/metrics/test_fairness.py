"""Premiums: by hand, as a whole run, and in the reports."""

import base64
import functools
import io
import json
import re
import zlib

import numpy as np
import pytest
from conftest import cell, problems
from hypothesis import given
from hypothesis import strategies as st
from raw_states import content
from rich.console import Console

import tokbench
from tokbench.corpus.contract import Document
from tokbench.corpus.shards import shards
from tokbench.formats import html, markdown
from tokbench.measuring.encoded_shard import EncodedShard, LoadedTokenizer
from tokbench.measuring.metric import CorpusStates
from tokbench.metrics.fairness.fairness import FairnessMetric
from tokbench.report.terminal import summary
from tokbench.results.cells import WHOLE, Status
from tokbench.sources.sample import SampleOptions, SampleSource
from tokbench.tokenizers.batch import encode_batch
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
    assert thai.reason == "only 0 of 40 documents lose nothing in th and en"
    assert cell(results, "chars", "left_out", "th").value == 40
    assert cell(results, "chars", "premium", "de").value == 2
    for metric in ("premium", "gini", "max_min"):
        whole = cell(results, "chars", metric)
        assert whole.reason == "no premium for th: only 0 of 40 documents lose nothing in th and en"
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
    assert results.corpora["c"].reference == "en"
    assert json.loads(results.to_json())["pairs"] == []


@functools.cache
def utf8_bytes():
    return tokbench.load("utf8_bytes")


texts = st.lists(st.text(alphabet="abA ก\n", max_size=8), min_size=1, max_size=15)


@pytest.mark.slow
@given(texts, st.randoms(use_true_random=False), st.integers(1, 30))
def test_shards_in_any_order_give_the_same_premium_and_interval(lines, order, size):
    metric, loaded = FairnessMetric(Options()), LoadedTokenizer("t", utf8_bytes())

    def state(group, size):
        rows = [Document(line * (1 + (group == "de")), group, str(k), f"c:{k}") for k, line in enumerate(lines)]
        parts = [
            metric.map(EncodedShard(loaded, shard, encode_batch(loaded.tokenizer, shard.texts)))
            for shard in shards("c", rows, by_key=True, size=size)
        ]
        order.shuffle(parts)
        while len(parts) > 1:
            one, other = parts.pop(order.randrange(len(parts))), parts.pop(order.randrange(len(parts)))
            parts.append(metric.merge(one, other))
        return parts[0]

    def values(size):
        states = {("t", group): state(group, size) for group in ("en", "de")}
        raw = {place: content(one.documents()) for place, one in states.items()}
        groups = dict.fromkeys(("en", "de"), len(lines))
        return raw, metric.finish_corpus(CorpusStates("c", True, "en", groups, ["t"], states)).values

    assert values(size) == values(10**9)


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "run.yaml"
    path.write_text(
        "schema: tokbench/1\nname: test\ncorpora:\n"
        "  c: {source: sample, part: languages, groups: [en, de, th, zh], parallel: true, reference: en}\n"
        "tokenizers: {bytes: {backend: utf8_bytes}, units: {backend: utf16_units}}\nmetrics: [fairness]\n",
        encoding="utf-8",
    )
    return tokbench.run(path, workers=0)


def unpacked(page):
    """The page with all that it unpacks when somebody chooses it."""
    return re.sub(r"<template>([\w+/=]+)", lambda found: zlib.decompress(base64.b64decode(found[1])).decode(), page)


def test_the_page_has_bars_and_curves(shown):
    packed = html.render(shown)
    page = unpacked(packed)
    assert packed.count("<rect ") == 4, "the bars of the first tokenizer; the others are packed until they are chosen"
    assert page.count("<rect ") == 8
    # Bars, and small pictures of the three other languages; the reference has no interval.
    assert page.count('class="whisker"') == 6 + 6
    assert page.count('<g class="point"') == 6
    assert "Premium of Thai (th) under each tokenizer" in page
    assert "Premium of English (en) under each tokenizer" not in page
    assert page.count('class="bar curve"') == 4  # two curves, two keys
    assert "Thai (th)" in page
    for name in ("bytes", "units"):
        assert f"<title>{name}, Gini {cell(shown, name, 'gini').value:.3f}".rstrip("0") in page


def test_markdown_has_the_table(shown):
    text = markdown.render(shown)
    assert "## Fairness\n" in text
    assert "### c, reference " in text
    value = cell(shown, "bytes", "premium", "th")
    assert f"{value.value:.2f}** [{value.ci_low:.2f}–{value.ci_high:.2f}]" in text or f"{value.value:.2f} [" in text
    assert "| script: Thai |" in text


def test_the_terminal_lives_with_it(shown):
    console = Console(file=io.StringIO(), width=100)
    summary(shown, console)
    assert "do not apply" not in console.file.getvalue()
