"""The answer of a report: for made-up results, the sentences that a careful reader would write."""

import re
from dataclasses import replace

import numpy as np
import pytest
from made_up_results import METRICS, TOKENS, made_up, more

from tokbench.corpus.shards import BUCKETS
from tokbench.formats import html, latex, markdown
from tokbench.measuring.metric import Role
from tokbench.notebook.results import NotebookResults
from tokbench.report.report import Report
from tokbench.report.sections.answer import answer
from tokbench.report.tables import CellTables
from tokbench.results.blocks import (
    CorpusInfo,
    LossCause,
    LossExample,
    LossInfo,
    MetricInfo,
    RunConfig,
    TokenizerInfo,
)
from tokbench.results.cells import WHOLE, Cell, Status, TokenizerState
from tokbench.results.states import RawStates


def said(results):
    """Return the sentences on the corpus, and what to distrust."""
    given = answer(CellTables(results))
    [corpus] = given.corpora
    return list(corpus.sentences), list(given.distrust)


def test_one_is_best():
    sentences, distrust = said(made_up({"a": TOKENS, "b": more(0.1, 5), "c": more(0.5, 5)}))
    assert sentences == [
        "a needs the fewest tokens, 4.000 bytes per token, and is significantly ahead of all others.",
        "The others need 10.0 % (b) to 50.0 % (c) more tokens; price and latency grow by as much.",
    ]
    assert distrust == []


def test_caution_of_a_tokenizer_is_distrusted():
    results = made_up({"a": TOKENS, "b": more(0.1, 5)})
    results.tokenizers["b"].notes[:] = ["caution: split gpt4 assumed", "another note"]
    assert said(results)[1] == ["b: caution: split gpt4 assumed"]


def test_a_tie_is_said():
    sentences, _ = said(made_up({"a": TOKENS, "b": more(0.001, 60), "c": more(0.5, 5)}))
    assert sentences[0].endswith("; b is so near that these documents do not tell them apart.")
    assert sentences[1].startswith("c needs 50.0 % [")


def test_a_tie_is_bold_and_a_difference_is_not():
    tables = Report(made_up({"a": TOKENS, "b": more(0.001, 60), "c": more(0.5, 5), "d": more(0.6, 5)})).tables
    cells = tables.series("density", "prose").cells
    assert [name for name, cell in cells.items() if cell.best] == ["a", "b"]


def with_groups(results):
    """The same results with the cells of the one group beside those of the whole corpus."""
    return replace(results, cells=[*results.cells, *(replace(cell, group="g") for cell in results.cells)])


def test_every_format_and_table_has_the_same_numbers_bold():
    """One rule: the best, and those that a paired comparison does not tell apart from it; never a baseline."""
    infos = {"points": TokenizerInfo(backend="utf32_units", vocab_size=1_114_112, baseline=True)}
    tokens = {"points": more(-0.3), "a": TOKENS, "b": more(0.001, 60), "c": more(0.5, 5), "d": more(0.6, 5)}
    results = with_groups(made_up(tokens, infos=infos))
    bold = {"a": "4.000", "b": Report(results).tables.series("density", "prose").cells["b"].text}
    assert bold["b"] != bold["a"]
    page, text, paper = html.render(results), markdown.render(results), latex.render(results)
    overview, groups = page.partition('id="overview"')[2].split('id="groups"')
    assert set(re.findall(r'<td class="n best"[^>]*>([\d.]+)', overview)) == set(bold.values())
    assert len(re.findall(r'<td class="[^"]* best"', groups.partition("</table>")[0])) == 2 * len(
        bold
    )  # whole corpus and group
    shorter = {f"{float(value):.2f}" for value in bold.values()}
    assert set(re.findall(r"\*\*([\d.]+)\*\*", text)) == {*bold.values(), *shorter}
    assert set(re.findall(r"\\textbf\{([\d.]+)\}", paper)) == {*bold.values(), *shorter}
    styled = NotebookResults.of(results).table("density", "prose").to_html()
    rules = re.findall(r"([^{}]+)\{[^{}]*font-weight: bold", styled)
    assert sum(rule.count("#T_") for rule in rules) == 2 * len(bold)


def test_a_difference_within_wide_intervals_is_told_apart():
    """Documents differ more than tokenizers, so that the intervals overlap; the paired difference does not care."""
    wide = TOKENS + np.random.default_rng(2).integers(-900, 900, BUCKETS)
    sentences, _ = said(made_up({"a": wide, "b": np.round(wide * 1.01).astype(int)}))
    assert sentences[0].endswith("and is significantly ahead of all others.")
    assert sentences[1].startswith("b needs 1.0 % [")


def test_a_lossy_tokenizer_cannot_win():
    first = LossExample(origin="x.txt:1", position=0, expected="  a", got="a")
    cause = LossCause(cause="whitespace", documents=3, taking_part=3, first=first)
    loss = LossInfo(tokenizer="t5", corpus="prose", group="g", documents=3, first=first, causes=[cause])
    results = made_up({"t5": more(-0.3), "a": TOKENS, "b": more(0.1)}, exact={"t5": 0.9}, losses=[loss])
    sentences, _ = said(results)
    assert sentences[0].startswith("a needs the fewest tokens")
    assert sentences[-1] == "t5 (white space) loses text, and is not ranked."


def test_who_was_trained_on_the_text_cannot_win():
    sentences, distrust = said(made_up({"mine": more(-0.3), "a": TOKENS, "b": more(0.1)}, in_sample={"mine": 0.5}))
    assert sentences[0].startswith("a needs the fewest tokens")
    assert distrust == ["mine saw up to 50 % of the documents in training, and cannot win there."]


def test_a_baseline_gives_proportion_and_does_not_win():
    infos = {"points": TokenizerInfo(backend="utf32_units", vocab_size=1_114_112, baseline=True)}
    sentences, _ = said(made_up({"points": more(-0.3), "a": TOKENS, "b": more(0.1)}, infos=infos))
    assert sentences[0].startswith("a needs the fewest tokens")
    assert len(sentences) == 2


def test_too_few_documents_carry_no_sentence_on_other_text():
    results = made_up({"a": TOKENS[:9], "b": more(0.1)[:9]}, documents=9)
    cells = Report(results).tables.series("density", "prose").cells.values()
    assert not any(cell.best for cell in cells), "the larger of two is not the best because it is larger"
    sentences, _ = said(results)
    assert sentences[:2] == [
        "a needs the fewest tokens here, 4.000 bytes per token.",
        "Nothing shows that this holds on other text: too few documents for an interval: 9, and it needs 10.",
    ]
    assert sentences[2].startswith("b needs 10.0 % more tokens")


def test_nothing_is_inferred_from_designed_texts():
    results = made_up({"a": TOKENS, "b": more(0.1, 5)})
    [corpus] = results.corpora.values()
    designed = replace(results, corpora={"prose": replace(corpus, designed=True)})
    assert not any(cell.best for cell in Report(designed).tables.series("density", "prose").cells.values())
    sentences, distrust = said(designed)
    assert sentences == [
        "a needs the fewest tokens for these texts, 4.000 bytes per token; they were chosen, and are no sample.",
        "b needs 10.0 % more tokens; price and latency grow by as much.",
    ]
    assert not distrust


def test_one_that_could_not_be_compared_is_named():
    """The sums of b are of another kind, so that nothing pairs it with a; c is told apart."""
    results = made_up({"a": TOKENS, "b": more(0.01), "c": more(0.5, 5)})
    states = [
        replace(state, state={**state.state, "sums": {"bytes": state.state["sums"]["bytes"]}})
        if state.tokenizer == "b"
        else state
        for state in results.states
    ]
    sentences, _ = said(replace(results, states=RawStates(states)))
    assert sentences[0] == "a needs the fewest tokens, 4.000 bytes per token, and is significantly ahead of all but b."
    assert sentences[1].startswith("Nothing shows that b needs more on other text: the sums behind it are not kept")


def test_nobody_is_best_where_no_round_trip_was_made():
    results = made_up({"a": TOKENS, "b": more(0.1)})
    kept = [cell for cell in results.cells if cell.metric != "exact"]
    given = answer(CellTables(replace(results, cells=kept, metrics={"density": METRICS["density"]})))
    assert not given.corpora
    assert given.distrust == ["No round trip was made, so that losses are unknown, and no tokenizer is ranked best."]


def test_one_that_failed_and_one_that_did_not_run_are_named():
    gone = TokenizerInfo(backend="b", state=TokenizerState.UNAVAILABLE, reason="no network")
    results = made_up({"a": TOKENS, "b": more(0.1)})
    failed = Cell("b", "prose", "g", "density", None, status=Status.FAILED, reason="it broke")
    results = replace(results, cells=[*results.cells, failed], tokenizers=results.tokenizers | {"far": gone})
    assert said(results)[1] == ["far did not run.", "b failed in places."]


def test_a_first_look_and_a_stopped_run_are_distrusted():
    results = made_up({"a": TOKENS, "b": more(0.1)}, config=RunConfig(limit=5), interrupted=True)
    assert said(results)[1] == [
        "The run was stopped before it was through.",
        "At most 5 documents of each group were measured: a first look.",
    ]


def test_the_fastest_of_all_and_of_those_with_the_same_ids():
    infos = {"fast": TokenizerInfo(same_as="a"), "near": TokenizerInfo(same_as="a")}
    speed = {"a": (9, 10, 11), "fast": (95, 100, 105), "near": (98, 99, 104), "b": (190, 200, 210)}
    sentences, _ = said(
        made_up({"a": TOKENS, "fast": TOKENS, "near": TOKENS, "b": more(0.1, 5)}, speed=speed, infos=infos)
    )
    assert sentences[-2:] == [
        "b encodes fastest, 200 MB/s.",
        "fast encodes fastest of those with the ids of a, 100 MB/s; near may be as fast.",
    ]


CODE = MetricInfo(
    family="f", direction="lower", headline=True, leads=True, label="tokens per indent", ratio_of=["tokens", "bytes"]
)


def about_indentation(tokens, **changes):
    """Results that have a headline metric of their subject beside compression."""
    results = made_up(tokens, **changes)
    own = [
        replace(cell, metric="indent", value=4 / cell.value, unit="tokens/line")
        for cell in results.cells
        if cell.metric == "density"
    ]
    return replace(results, metrics={**METRICS, "indent": CODE}, cells=[*results.cells, *own])


def test_the_subject_of_a_study_is_spoken_of():
    sentences, _ = said(about_indentation({"a": TOKENS, "b": more(0.1, 5), "c": more(0.5, 5)}))
    assert (
        sentences[2]
        == "a is best in tokens per indent, 1.000 tokens per line, and is significantly ahead of all others."
    )
    sentences, _ = said(about_indentation({"a": TOKENS, "b": more(0.001, 60), "c": more(0.5, 5)}))
    assert sentences[2].endswith("; b is so near that these documents do not tell them apart.")


def test_what_intervals_do_not_carry_of_the_subject_is_not_said():
    sentences, _ = said(about_indentation({"a": TOKENS[:9], "b": more(0.1, 5)[:9]}, documents=9))
    assert sentences[3] == (
        "These documents do not show who is best in tokens per indent: too few documents for an interval."
    )
    assert not any("is best in" in sentence and "do not show" not in sentence for sentence in sentences)


PREMIUMS = {
    "premium": MetricInfo(family="fair", direction="lower", headline=True, leads=True, role=Role.PREMIUM),
    "gini": MetricInfo(family="fair", direction="lower", headline=True, leads=True, role=Role.INEQUALITY, label="Gini"),
}


def about_languages(premiums, gini):
    """Results of two tokenizers on a corpus in parallel: by tokenizer and language the premium with its interval."""
    results = made_up({"a": TOKENS, "b": more(0.1, 5)})
    cells = [
        Cell(name, "prose", group, "premium", value, "times", low, high, 400)
        for name, by_group in premiums.items()
        for group, (low, value, high) in by_group.items()
    ]
    cells += [
        Cell(name, "prose", group, "exact", 1.0, "share", n=400)
        for name, by_group in premiums.items()
        for group in by_group
    ]
    cells += [
        Cell(name, "prose", WHOLE, "gini", value, "Gini coefficient", low, high, 400)
        for name, (low, value, high) in gini.items()
    ]
    corpora = {"prose": CorpusInfo(groups={"en": 400, "hy": 400, "am": 400}, reference="en")}
    return replace(results, corpora=corpora, cells=[*results.cells, *cells], metrics={**METRICS, **PREMIUMS})


def test_the_language_that_is_worst_off_has_its_name_and_its_interval():
    apart = {"a": {"hy": (2.2, 2.4, 2.5), "am": (4.8, 5.2, 5.7)}, "b": {"hy": (1.3, 1.5, 1.7), "am": (1.2, 1.4, 1.6)}}
    sentences, _ = said(about_languages(apart, {"a": (0.2, 0.22, 0.24), "b": (0.1, 0.11, 0.12)}))
    assert "b is most even between languages, Gini 0.1100." in sentences
    assert "Amharic (am) is worst off under a: 5.20 times [4.80, 5.70] the tokens of English (en)." in sentences
    assert (
        "Armenian (hy) is worst off under b: 1.50 times [1.30, 1.70] the tokens of English (en); Amharic (am) may be worse off."
        in sentences
    )


def test_who_may_be_as_even_is_named_and_no_premium_without_an_interval():
    none = {"a": {"hy": (None, 2.4, None), "am": (None, 5.2, None)}, "b": {}}
    sentences, _ = said(about_languages(none, {"a": (0.1, 0.12, 0.14), "b": (0.1, 0.11, 0.13)}))
    assert "b is most even between languages, Gini 0.1100; a may be as even." in sentences
    assert not any("worst off" in sentence for sentence in sentences)


def test_one_alone_is_not_the_best():
    assert said(made_up({"a": TOKENS}))[0] == ["a alone competes: 4.000 bytes per token."]


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "\u202ename\x1b[31m", "{{ 7 * 7 }}"])
def test_hostile_names_are_inert(name):
    results = made_up({name: TOKENS, "b": more(0.1, 5)})
    for page in (html.render(results), markdown.render(results)):
        assert "<script>alert" not in page
        assert "\u202e" not in page
        assert "49" not in page.partition("The answer")[2][:400]
