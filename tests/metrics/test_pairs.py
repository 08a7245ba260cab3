"""Paired differences, ranks with ties, length beside a reference; premiums in the answer."""

import csv
import dataclasses
import io
from dataclasses import replace

import numpy as np
import pytest
from made_up_results import results_of
from shared_fixtures import cell, problems

import tokbench
from tokbench.formats.csv import pairs_csv
from tokbench.measuring.metric import CorpusStates, Measured, NotApplicable, Role
from tokbench.measuring.sums import Sums
from tokbench.metrics.fairness.answer import premium_lines
from tokbench.metrics.pairs import PairsMetric
from tokbench.report.tables import CellTables
from tokbench.results.blocks import CorpusInfo, MetricInfo
from tokbench.results.cells import WHOLE, Cell, Status
from tokbench.statistics.jackknife import jackknife, too_few
from tokbench.tokenizers.options import Options

THREE = (
    "  bytes: {backend: utf8_bytes}\n  utf-16: {backend: utf16_units}\n  again: {backend: utf16_units}\n"
    "  code-points: {backend: utf32_units}"
)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "run.yaml"
    path.write_text(
        "schema: tokbench/1\nname: test\ncorpora:\n  c: {source: sample, part: languages, groups: [en, fi, th], parallel: true}\n"
        f"tokenizers:\n{THREE}\nmetrics: [compression, pairs, {{nsl: {{reference: utf-16}}}}]\n",
        encoding="utf-8",
    )
    return tokbench.run(path, workers=0)


def pair(results, one, other, group):
    [found] = [p for p in results.pairs if {p.tokenizer, p.other} == {one, other} and p.group == group]
    return found


LOSSES = ("edits beyond NFC", "lost characters")


def states(tokens, lost=None):
    """States of tokenizers with so many tokens by jackknife group, and so many lost characters."""
    known = {}
    for name, column in tokens.items():
        number = (lost or {}).get(name, 0)
        losses = {what: np.eye(1, 32)[0] * number for what in LOSSES}
        exact = np.full(32, 2.0) - np.eye(1, 32)[0] * bool(number)
        columns = {"tokens": np.array(column, dtype=float), "characters": np.full(32, 2500.0), "exact": exact}
        known[name, "g"] = Sums(64, columns | losses)
    return CorpusStates("c", False, "", {"g": 64}, list(tokens), known)


def test_a_difference_by_hand():
    one, other = [90.0, 97, 95, 92, 94, 96] * 5 + [91, 93], [100.0] * 32
    outcome = PairsMetric(Options()).finish_corpus(states({"B": other, "A": one}))
    [found, whole] = outcome.pairs
    assert (found.corpus, found.tokenizer, found.tokens, found.n) == ("c", "A", (int(sum(one)), 3200), 64)
    assert {value["rank"] for (name, _), value in outcome.values.items() if name == "B"} == {Measured(2, 64)}
    ratio = sum(one) / 3200
    assert found.difference == pytest.approx(ratio - 1)
    low, high, _ = jackknife(np.array(one), np.array(other))
    assert (found.ci_low, found.ci_high) == pytest.approx((low - 1, high - 1))
    assert dataclasses.replace(whole, group="g") == found
    assert found.differ


def test_ties_share_a_rank():
    noise = [1.0, -1, 2, -2] * 8
    base = np.full(32, 1000.0)
    values = (
        PairsMetric(Options())
        .finish_corpus(
            states({"B": base + noise, "A": base - 100 + noise[::-1], "C": base + noise[::-1], "D": base * 2})
        )
        .values
    )
    ranks = {name: value["rank"].value for (name, group), value in values.items() if group == "g"}
    assert ranks == {"A": 1, "B": 2, "C": 2, "D": 4}


def test_the_same_ratio_everywhere_is_certain():
    [double, _] = PairsMetric(Options()).finish_corpus(states({"A": [10.0] * 32, "B": [20.0] * 32})).pairs
    assert (double.p, double.differ, double.ci_low, double.ci_high) == (0.0, True, None, None)
    [equal, _] = PairsMetric(Options()).finish_corpus(states({"A": [10.0] * 32, "B": [10.0] * 32})).pairs
    assert (equal.p, equal.p_holm, equal.differ) == (1.0, 1.0, False)


@pytest.mark.parametrize(("margin", "rank"), [(0.0, 2), (0.005, 2), (0.0051, 1)])
def test_less_than_the_margin_shares_a_rank(margin, rank):
    near = states({"A": [1000.0] * 32, "B": [1005.0] * 32})._replace(margin=margin)
    assert PairsMetric(Options()).finish_corpus(near).values["B", "g"]["rank"].value == rank


def test_who_loses_more_than_a_thousandth_has_no_rank():
    tokens = {"A": [10.0] * 32, "B": [20.0] * 32, "C": [30.0] * 32}
    outcome = PairsMetric(Options()).finish_corpus(states(tokens, lost={"A": 81, "B": 80}))
    assert "81 of 80,000 characters" in outcome.values["A", "g"]["rank"].reason
    assert {(p.tokenizer, p.other) for p in outcome.pairs} == {("B", "C")}
    assert outcome.values["B", "*"]["rank"].value == 1


@pytest.mark.parametrize(("documents", "ranked"), [(9, False), (10, True)])
def test_few_documents_have_no_rank(documents, ranked):
    few = [1.0] * documents + [0.0] * (32 - documents)
    outcome = PairsMetric(Options()).finish_corpus(states({"A": few, "B": few}))
    assert (bool(outcome.pairs), isinstance(outcome.values["A", "g"]["rank"], NotApplicable)) == (ranked, not ranked)
    assert ranked or too_few(9, 9) == outcome.values["A", "g"]["rank"].reason


def test_many_comparisons_ask_more_of_each():
    """One comparison would be enough for the difference; three comparisons are not."""
    base = np.full(32, 1000.0)
    tokens = {
        "A": base,
        "B": base + 4 + np.array([10.0, -10] * 16),
        "C": base + 4.1 + np.array([10.0, 10, -10, -10] * 8),
    }
    [alone, _] = PairsMetric(Options()).finish_corpus(states({name: tokens[name] for name in "AB"})).pairs
    assert 0.05 / 3 < alone.p == alone.p_holm < 0.05
    assert alone.differ
    outcome = PairsMetric(Options()).finish_corpus(states(tokens))
    found = {pair.tokenizer + pair.other: pair for pair in outcome.pairs if pair.group == "g"}
    assert found["AB"].p == alone.p
    assert found["AB"].p_holm == pytest.approx(3 * min(found["AB"].p, found["AC"].p))
    assert not any(pair.differ for pair in found.values())
    assert {name: outcome.values[name, "g"]["rank"].value for name in "ABC"} == {"A": 1, "B": 1, "C": 1}


@pytest.mark.slow
def test_a_run_and_its_table_have_all_pairs(results):
    assert len(results.pairs) == 6 * 4
    rows = list(csv.DictReader(io.StringIO(pairs_csv(results))))
    for row, found in zip(rows, results.pairs, strict=True):
        one, other = (cell(results, name, "tokens", found.group).value for name in (found.tokenizer, found.other))
        assert (int(row["tokens"]), int(row["tokens_other"])) == found.tokens == (one, other)
        assert found.difference == pytest.approx(one / other - 1)
        assert found.p <= found.p_holm <= 1
        assert found.n == cell(results, found.tokenizer, "tokens", found.group).n
        assert float(row["difference"]) == found.difference
        assert row["differ"] == str(found.differ).lower()


def test_sequence_length_needs_a_tokenizer_of_the_run(write_config):
    [line] = problems(write_config(metrics="[{nsl: {reference: byte}}]"))
    assert line.startswith("run.yaml:7:29: unknown tokenizer 'byte'")
    assert len(problems(write_config(metrics="[nsl]"))) == 1
    sizes = "  b: {backend: naive_bpe, train: {corpus: sample, vocab_size: [256, 260]}}"
    assert len(problems(write_config(tokenizers=sizes, metrics="[{nsl: {reference: b}}]"))) == 1


def test_a_reference_that_loses_text_is_no_reference(write_config):
    tokenizers = "  bytes: {backend: utf8_bytes}\n  few: {backend: codepoints, train: {corpus: sample, vocab_size: 9}}"
    results = tokbench.run(write_config(tokenizers=tokenizers, metrics="[{nsl: {reference: few}}]"), workers=0)
    assert {c.status for c in results.cells} == {Status.NOT_APPLICABLE}
    assert cell(results, "bytes", "nsl").reason.startswith("few is lossy: ")


METRICS = {
    "exact": MetricInfo(family="r", direction="higher", role=Role.ROUND_TRIP, loss_cannot_help="it is the loss"),
    "ratio": MetricInfo(family="c", direction="higher", role=Role.TEXT_PER_TOKEN),
    "price": MetricInfo(family="f", direction="lower", role=Role.PREMIUM),
    "gini": MetricInfo(family="f", direction="lower", role=Role.INEQUALITY),
}


def number(tokenizer, metric, value, group=WHOLE, spread=0.01, n=40, corpus="c"):
    if value is None:
        return Cell(tokenizer, corpus, group, metric, status=Status.NOT_APPLICABLE, reason="lost")
    low, high = (value - spread, value + spread) if spread else (None, None)
    return Cell(tokenizer, corpus, group, metric, value, ci_low=low, ci_high=high, n=n)


def results_premium(premiums, gini, *, ratios=(), reference="en", metrics=METRICS, **more):
    """Results of one corpus from premiums by tokenizer and language, Gini coefficients, and bytes per token."""
    languages = list(dict.fromkeys(group for values in premiums.values() for group in values))
    cells = [
        number(name, "ratio", value, group) for name, value in dict(ratios).items() for group in [WHOLE, *languages]
    ]
    for name, values in premiums.items():
        cells += [
            number(name, "price", value, group, **({"spread": 0} if group == reference else {}) | more)
            for group, value in values.items()
        ]
        whole = None if None in values.values() else sum(values.values()) / len(values)
        cells += [number(name, "price", whole, **more), number(name, "gini", gini.get(name), **more)]
        cells += [number(name, "exact", 1.0, group) for group in [WHOLE, *languages]]
    info = CorpusInfo(groups=dict.fromkeys(languages, 40), parallel=True, reference=reference)
    return results_of(cells, metrics, corpora={"c": info})


def said(*given, **more):
    lines = list(premium_lines(CellTables(results_premium(*given, **more))))
    assert [line.label for line in lines] in ([], ["Languages"])
    assert all(line.sentences for line in lines)
    return [sentence for line in lines for sentence in line.sentences]


A = {"en": 1, "de": 1.3, "am": 5.62}
B = {"en": 1, "de": 1.1, "am": 2.5}


def test_the_best_tokenizer_says_what_each_language_costs_and_the_most_equal_is_named():
    [sentence] = said({"a": A, "b": B}, {"a": 0.4, "b": 0.1}, ratios={"a": 4, "b": 3})
    assert sentence == (
        "English 1.00 · German 1.30 [1.29, 1.31] · Amharic 5.62 [5.61, 5.63] (a); most equal: b, Gini 0.10 [0.09, 0.11]."
    )


def test_a_best_tokenizer_without_premiums_leaves_the_place_to_the_next():
    lost = dict.fromkeys(A) | {"en": 1}
    assert "Amharic 2.50 [2.49, 2.51] (b)" in said({"a": lost, "b": B}, {"b": 0.1}, ratios={"a": 4, "b": 3})[0]
    assert said({"a": lost}, {}, ratios={"a": 4}) == []


def test_languages_without_a_premium_are_named_and_groups_of_no_language_by_their_own_name():
    [sentence] = said({"a": A | {"de": None}}, {}, ratios={"a": 4})
    assert sentence == "English 1.00 · Amharic 5.62 [5.61, 5.63] (a); no premium for German."
    names = {"x-1": 1, "x-3": 3.0, "x-2": 2.0, "x-4": None}
    [sentence] = said({"a": names}, {}, ratios={"a": 4}, reference="x-1", spread=0)
    assert sentence == "x-1 1.00 · x-2 2.00 · x-3 3.00 (a); no premium for x-4."
    many = {f"x-{k}": 1 + k for k in range(-3, 4)}
    [sentence] = said({"a": many}, {}, ratios={"a": 4}, reference="x-9")
    assert sentence.startswith("x-9 = 1: ")


@pytest.mark.parametrize(("more", "names"), [(0, 6), (1, 5)])
def test_of_many_languages_the_cheapest_and_the_dearest_are_named(more, names):
    groups = ["en", "de", "fr", "es", "ru", "hi", "th"][: 6 + more]
    [sentence] = said({"a": {group: 1 + k for k, group in enumerate(groups)}}, {}, ratios={"a": 4})
    shown = sentence.partition(" (a)")[0].split(" · ")
    assert (len([one for one in shown if one != "…"]), "…" in shown) == (names, bool(more))
    assert [one.split()[0] for one in (shown[0], shown[-1])] == ["English", {0: "Hindi", 1: "Thai"}[more]]


@pytest.mark.parametrize(
    ("gini", "named"),
    [
        ({"a": 0.1, "b": 0.4}, "most equal: a, Gini 0.10"),
        ({"a": 0.1, "b": 0.11, "c": 0.4}, "most equal: a and b tie, Gini 0.10"),
        ({"a": 0.1}, ""),
    ],
)
def test_who_is_most_equal_needs_others_and_evidence(gini, named):
    [sentence] = said(dict.fromkeys(gini, A), gini, ratios=dict.fromkeys(gini, 4))
    assert ("most equal" in sentence) == bool(named)
    assert named in sentence


@pytest.mark.parametrize(("n", "few"), [(9, True), (10, False)])
def test_few_documents_claim_nothing(n, few):
    [sentence] = said({"a": A, "b": B}, {"a": 0.4, "b": 0.1}, spread=0, n=n)
    assert ("no intervals: " in sentence) == ("9 documents are too few" in sentence) == few
    one = results_premium({"a": A}, {}, ratios={"a": 4}, spread=0, n=40)
    one.cells = [replace(cell, n=n) if cell.group == "am" else cell for cell in one.cells]
    assert (
        any("no intervals" in sentence for line in premium_lines(CellTables(one)) for sentence in line.sentences) == few
    )
    assert "most equal" not in sentence
