"""The line of the answer on what languages cost, from made-up premiums."""

from dataclasses import replace

import pytest

from tokbench.measuring.metric import Role
from tokbench.metrics.fairness.answer import premium_lines
from tokbench.report.tables import CellTables
from tokbench.results.blocks import CorpusInfo, MetricInfo, TokenizerInfo
from tokbench.results.cells import WHOLE, Cell, Status
from tokbench.results.model import Results

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


def results(premiums, gini, *, ratios=(), reference="en", metrics=METRICS, **more):
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
    return Results(
        name="r",
        corpora={"c": CorpusInfo(groups=dict.fromkeys(languages, 40), parallel=True, reference=reference)},
        tokenizers={name: TokenizerInfo(backend="b", vocab_size=9) for name in premiums},
        metrics=metrics,
        cells=cells,
    )


def said(*given, **more):
    lines = list(premium_lines(CellTables(results(*given, **more))))
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


def test_without_a_ranking_it_is_the_tokenizer_with_the_lowest_premiums():
    assert "(b); most equal: b" in said({"a": A, "b": B}, {"a": 0.4, "b": 0.1})[0]


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


def test_a_reference_that_is_not_among_them_is_named():
    groups = {"de": 0.7, "fr": 0.8, "es": 0.9, "en": 1, "ru": 1.1, "hi": 1.2, "th": 1.3}
    [sentence] = said({"a": groups}, {}, ratios={"a": 4})
    assert sentence.startswith("English = 1: German 0.70 [0.69, 0.71] · French")


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
    one = results({"a": A}, {}, ratios={"a": 4}, spread=0, n=40)
    one.cells = [replace(cell, n=n) if cell.group == "am" else cell for cell in one.cells]
    assert (
        any("no intervals" in sentence for line in premium_lines(CellTables(one)) for sentence in line.sentences) == few
    )
    assert "most equal" not in sentence
