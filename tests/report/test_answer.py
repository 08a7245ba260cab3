"""The answer of a report: who leads, what the others cost, and what is distrusted. The sentences are in the goldens."""

import re
from dataclasses import replace

import numpy as np
import pytest
from made_up_results import METRICS, TOKENS, made_up, more

from tokbench.corpus.shards import BUCKETS
from tokbench.formats import html, latex, markdown
from tokbench.notebook.results import NotebookResults
from tokbench.report.report import Report
from tokbench.report.sections.answer import answer_section, costs, distrust
from tokbench.report.sections.answer_subject import subject_sentences
from tokbench.report.sections.headline import headline_sentences
from tokbench.report.tables import CellTables
from tokbench.results.blocks import CorpusInfo, MetricInfo, RunConfig, TokenizerInfo
from tokbench.results.cells import Cell, Status, TokenizerState
from tokbench.results.states import RawStates

LANGUAGES = {"en": 100, "de": 100, "hi": 100, "th": 100}
POINTS = {"points": TokenizerInfo(backend="utf32_units", vocab_size=1_114_112, baseline=True)}


def on_prose(results):
    """Return what the others cost on the one corpus."""
    return costs(CellTables(results), "prose")


def distrusted(results):
    return list(distrust(CellTables(results)))


def leader(results):
    """Return the best tokenizer."""
    return CellTables(results).competing("density", "prose")[0].tokenizer


def test_costs_of_the_others_have_paired_intervals():
    found = on_prose(made_up({"a": TOKENS, "b": more(0.1, 5), "c": more(0.5, 5)}))
    assert [(cost.tokenizer, round(cost.more, 3), cost.tied) for cost in found] == [
        ("b", 0.1, False),
        ("c", 0.5, False),
    ]
    assert all(cost.low <= cost.more <= cost.high for cost in found)


def test_a_tie_is_bold_and_a_difference_is_not():
    results = made_up({"a": TOKENS, "b": more(0.001, 60), "c": more(0.5, 5), "d": more(0.6, 5)})
    assert [cost.tied for cost in on_prose(results)] == [True, False, False]
    cells = Report(results).tables.series("density", "prose").cells
    assert [name for name, cell in cells.items() if cell.best] == ["a", "b"]


def test_every_format_has_the_same_numbers_bold():
    """One rule: the best, and those that a paired comparison cannot distinguish from it; never a baseline."""
    tokens = {"points": more(-0.3), "a": TOKENS, "b": more(0.001, 60), "c": more(0.5, 5), "d": more(0.6, 5)}
    results = made_up(tokens, infos=POINTS)
    results.cells += [replace(cell, group="g") for cell in results.cells]
    bold = {"a": "4.000", "b": Report(results).tables.series("density", "prose").cells["b"].text}
    assert bold["b"] != bold["a"]
    page, text, paper = html.render(results), markdown.render(results), latex.render(results)
    overview, groups = page.partition('id="overview"')[2].split('id="groups"')
    assert set(re.findall(r'<td class="n best"[^>]*>([\d.]+)', overview)) == set(bold.values())
    assert len(re.findall(r'<td class="[^"]* best"', groups.partition("</table>")[0])) == 2 * len(bold)
    shorter = {f"{float(value):.2f}" for value in bold.values()}
    assert set(re.findall(r"\*\*([\d.]+)\*\*", text)) == {*bold.values(), *shorter}
    assert set(re.findall(r"\\textbf\{([\d.]+)\}", paper)) == {*bold.values(), *shorter}
    styled = NotebookResults.of(results).table("density", "prose").to_html()
    rules = re.findall(r"([^{}]+)\{[^{}]*font-weight: bold", styled)
    assert sum(rule.count("#T_") for rule in rules) == 2 * len(bold)


def test_paired_differences_do_not_care_for_wide_intervals():
    """Documents differ more than tokenizers, so that the intervals overlap."""
    wide = TOKENS + np.random.default_rng(2).integers(-900, 900, BUCKETS)
    [cost] = on_prose(made_up({"a": wide, "b": np.round(wide * 1.01).astype(int)}))
    assert (cost.tied, round(cost.more, 3)) == (False, 0.01)


@pytest.mark.parametrize(
    "why", [{"exact": {"mine": 0.9}}, {"in_sample": {"mine": 0.5}}, {"infos": {"mine": POINTS["points"]}}]
)
def test_lossy_trained_and_baselines_cannot_win(why):
    results = made_up({"mine": more(-0.3), "a": TOKENS, "b": more(0.1)}, **why)
    assert leader(results) == "a"
    assert [cost.tokenizer for cost in on_prose(results)] == ["b"]


@pytest.mark.parametrize("few", [True, False])
def test_nothing_is_inferred_from_few_or_chosen_texts(few):
    results = (
        made_up({"a": TOKENS[:9], "b": more(0.1)[:9]}, documents=9) if few else made_up({"a": TOKENS, "b": more(0.1)})
    )
    results.corpora["prose"] = replace(results.corpora["prose"], designed=not few)
    assert not any(cell.best for cell in Report(results).tables.series("density", "prose").cells.values())
    [cost] = on_prose(results)
    assert (cost.low, cost.high, bool(cost.reason)) == (None, None, True)
    assert leader(results) == "a"


def test_one_that_cannot_be_compared_has_a_reason():
    """The sums of b are of another kind, so that nothing pairs it with a."""
    results = made_up({"a": TOKENS, "b": more(0.01), "c": more(0.5, 5)})
    states = [
        replace(state, state={**state.state, "sums": {"bytes": state.state["sums"]["bytes"]}})
        if state.tokenizer == "b"
        else state
        for state in results.states
    ]
    costs = on_prose(replace(results, states=RawStates(states)))
    assert [bool(cost.reason) for cost in costs] == [True, False]


def test_no_round_trip_means_no_answer():
    results = made_up({"a": TOKENS, "b": more(0.1)})
    kept = [cell for cell in results.cells if cell.metric != "exact"]
    results = replace(results, cells=kept, metrics={"density": METRICS["density"]})
    assert not on_prose(results)
    assert answer_section(CellTables(results)).nodes[0].nodes == ()
    assert len(distrusted(results)) == 1


def test_what_is_distrusted_is_named():
    gone = TokenizerInfo(backend="b", state=TokenizerState.UNAVAILABLE, reason="no network")
    results = made_up({"a": TOKENS, "b": more(0.1)}, config=RunConfig(limit=5), interrupted=True, in_sample={"b": 0.5})
    assert [re.findall(r"\d+", line) for line in distrusted(results)] == [[], ["5"], ["50"]]
    results = made_up({"a": TOKENS, "b": more(0.1)})
    results.cells.append(Cell("b", "prose", "g", "density", status=Status.FAILED, reason="it broke"))
    results.tokenizers["far"] = gone
    results.tokenizers["b"].notes[:] = ["caution: split gpt4 assumed", "another note"]
    assert [line.split()[0] for line in distrusted(results)] == ["far", "b", "b:"]


CODE = MetricInfo(family="f", direction="lower", headline=True, leads=True, ratio_of=["tokens", "bytes"])


@pytest.mark.parametrize(
    ("tokens", "documents", "words"),
    [
        ({"a": TOKENS, "b": more(0.1, 5)}, 400, "ahead of all others"),
        ({"a": TOKENS, "b": more(0.001, 60), "c": more(0.5, 5)}, 400, "b does not differ"),
        ({"a": TOKENS[:9], "b": more(0.1, 5)[:9]}, 9, "do not show"),
    ],
)
def test_the_subject_of_a_study_has_a_sentence(tokens, documents, words):
    results = made_up(tokens, documents=documents)
    results.metrics["indent"] = CODE
    results.cells += [
        replace(cell, metric="indent", value=4 / cell.value, unit="tokens/line")
        for cell in results.cells
        if cell.metric == "density"
    ]
    [sentence] = [line for line in subject_sentences(CellTables(results), "prose") if "indent" in line]
    assert words in sentence


def test_languages_are_counted_in_the_headline():
    results = made_up({"a": TOKENS, "b": more(0.1, 5)}, corpora={"prose": CorpusInfo(groups=LANGUAGES)})
    results.states = RawStates([replace(state, group=group) for state in results.states for group in LANGUAGES])
    [sentence] = headline_sentences(CellTables(results))
    assert "over 4 languages" in sentence


def test_a_run_without_compression_has_no_headline():
    results = made_up({"a": TOKENS})
    kept = [cell for cell in results.cells if cell.metric != "density"]
    assert headline_sentences(CellTables(replace(results, cells=kept, metrics={"exact": METRICS["exact"]}))) == []
