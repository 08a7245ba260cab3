"""The answer of a report and its golden files: who wins, what the others need, and what is distrusted."""

import re
from dataclasses import replace

import answer_runs
import numpy as np
import pytest
import write_goldens
from made_up_results import METRICS, TOKENS, made_up, more

from tokbench.corpus.shards import BUCKETS
from tokbench.formats import html, latex, markdown
from tokbench.notebook.results import NotebookResults
from tokbench.report.answer.answer import answer_of
from tokbench.report.report import Report
from tokbench.report.sections.cautions import distrust
from tokbench.report.sections.overview import ready_tokenizers
from tokbench.report.tables import CellTables
from tokbench.results.blocks import CorpusInfo, RunConfig, TokenizerInfo, TrainingInfo

POINTS = {"points": TokenizerInfo(backend="utf32_units", vocab_size=1_114_112, baseline=True)}


def behind(results):
    """Return by tokenizer what the others need beyond the best."""
    return answer_of(CellTables(results)).ranking.standings[1:]


def best(results):
    return answer_of(CellTables(results)).ranking.best


def distrusted(results):
    return list(distrust(CellTables(results)))


def test_each_made_up_run_has_its_answer():
    assert {name: answer_runs.text_of(name) for name in answer_runs.RUNS} == answer_runs.written()


def test_tables_have_the_order_of_the_answer():
    """Over both corpora b is ahead, on the first a; the table of all corpora begins with b, like the sentence."""
    texts = {"prose": {"de": {"a": 4.4, "b": 4.2, "c": 4.3}}, "code": {"c": {"a": 2.0, "b": 4.0, "c": 3.0}}}
    for round_trip in (True, False):
        tables = CellTables(answer_runs.made_up(texts, round_trip=round_trip))
        order = [standing.tokenizer for standing in answer_of(tables).ranking.standings]
        prose = tables.series("ratio", "prose")
        assert prose.ranked() == ["a", "c", "b"]
        assert order == ready_tokenizers(tables, [prose]) == ["b", "c", "a"]


def test_languages_count_alike_and_the_sum_over_all_bytes_names_another():
    tables = CellTables(answer_runs.sum_and_mean())
    answer = answer_of(tables)
    rates = {
        group: {name: tables.cell("ratio", "prose", group, name).value for name in "ab"} for group in ("de", "hi", "th")
    }
    b = next(standing for standing in answer.ranking.standings if standing.tokenizer == "b")
    assert answer.ranking.best == "a"
    assert b.more == pytest.approx(np.prod([rate["a"] / rate["b"] for rate in rates.values()]) ** (1 / 3) - 1)
    assert tables.cell("ratio", "prose", "*", "b").value > tables.cell("ratio", "prose", "*", "a").value


SURE = {"a": (9.0, 10.0, 11.0), "b": (13.0, 14.0, 15.0), "c": (4.0, 5.0, 6.0)}


@pytest.mark.parametrize(
    ("speeds", "keys", "said"),
    [
        (SURE, {}, ["b encodes prose fastest: 14 MB/s, 40% faster than a."]),
        (SURE | {"a": (9.0, 12.0, 13.0)}, {}, ["b and a tie: 14 MB/s on prose."]),
        (SURE | {"a": (9.0, 11.2, 13.0)}, {}, ["b and a tie: 14 MB/s on prose."]),
        (SURE | {"a": (9.0, 11.1, 13.0)}, {}, ["Speeds are too noisy to rank."]),
        (SURE | {"a": (9.0, 12.0, 12.9)}, {}, ["b encodes prose fastest: 14 MB/s, 17% faster than a."]),
        (SURE | {"c": (1.0, 5.0, 14.0)}, {}, ["b encodes prose fastest: 14 MB/s, 40% faster than a."]),
        (SURE | {"b": (None, 14.0, None)}, {}, ["Speeds are too noisy to rank."]),
        (SURE | {"c": (None, 5.0, None)}, {}, ["b encodes prose fastest: 14 MB/s, 40% faster than a."]),
        (SURE | {"a": (None, 10.0, None)}, {}, ["Speeds are too noisy to rank."]),
        (SURE, {"evaluated_bytes": 100_000}, ["b encodes prose fastest: 14 MB/s, 40% faster than a."]),
        (SURE, {"evaluated_bytes": 99_999}, []),
        (SURE, {"evaluated_bytes": None}, []),
        (SURE, {"designed": ["prose"]}, []),
        (
            SURE,
            {"returns": ["a"]},
            ["b encodes prose fastest among those returning arrays: 14 MB/s, 180% faster than c."],
        ),
        (SURE, {"returns": ["a", "c"]}, []),
        ({"b": (13.0, 14.0, 15.0)}, {}, []),
    ],
)
def test_a_speed_wins_by_significance_alone(speeds, keys, said):
    results = answer_runs.made_up({"prose": {"de": dict.fromkeys("abc", 4.5)}}, speeds=speeds, **keys)
    lines = answer_of(CellTables(results)).lines
    assert [sentence for line in lines if line.label == "Speed" for sentence in line.sentences] == said


def test_a_difference_below_the_margin_is_a_tie_in_words_whatever_its_interval():
    """Documents differ more than tokenizers do: the difference of .8 % is significant, and a tie in words."""
    wide = TOKENS + np.random.default_rng(2).integers(-900, 900, BUCKETS)
    results = made_up({"a": wide, "b": np.round(wide * 1.008).astype(int), "c": np.round(wide * 1.02).astype(int)})
    near, far = behind(results)
    assert (near.tied, near.low > 0, far.tied) == (True, True, False)
    assert not behind(replace(results, config=RunConfig(practical_margin=0.001)))[0].tied


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
    assert set(re.findall(r"\*\*([\d.]+)\*\*", text)) == set(bold.values())
    assert set(re.findall(r"\*\*(\S+)\*\*", text.partition("## By group")[2])) == {"best", "+0.1%"}
    assert set(re.findall(r"\\textbf\{([\d.]+)\}", paper)) == {*bold.values(), *shorter}
    styled = NotebookResults.of(results).table("density", "prose").to_html()
    rules = re.findall(r"([^{}]+)\{[^{}]*font-weight: bold", styled)
    assert sum(rule.count("#T_") for rule in rules) == 2 * len(bold)


@pytest.mark.parametrize(
    "why", [{"exact": {"mine": 0.9}}, {"in_sample": {"mine": 0.5}}, {"infos": {"mine": POINTS["points"]}}]
)
def test_lossy_trained_and_baselines_cannot_win(why):
    results = made_up({"mine": more(-0.3), "a": TOKENS, "b": more(0.1)}, **why)
    results.cells += [replace(cell, group="g") for cell in results.cells]
    assert best(results) == "a"
    assert [each.tokenizer for each in behind(results)] == ["b"]


@pytest.mark.parametrize(
    ("info", "label"),
    [
        (TokenizerInfo(notes=["caution: trained with tokbench on 9 documents"]), "Your own"),
        (TokenizerInfo(train=TrainingInfo(corpora=["prose"])), "Your own"),
        (TokenizerInfo(notes=["caution: split gpt4 assumed"]), "Published"),
    ],
)
def test_what_tokbench_trained_is_not_published(info, label):
    answer = answer_of(CellTables(made_up({"mine": more(-0.1), "a": TOKENS, "b": TOKENS}, infos={"mine": info})))
    said = {line.label: " ".join(line.sentences) for line in answer.lines}
    assert "mine" in said[label]
    assert ("Your own" in said) == (label == "Your own")


def test_numbers_of_what_learned_from_counts_are_distrusted():
    infos = {"mine": TokenizerInfo(train=TrainingInfo(corpora=["table"]))}
    for source, sentences in (("counts", 1), ("text", 0)):
        results = made_up({"mine": TOKENS, "a": TOKENS}, infos=infos)
        results.corpora["table"] = CorpusInfo(source=source)
        assert len([line for line in distrusted(results) if "mine" in line and "counts" in line]) == sentences


def test_a_run_without_compression_has_no_ranking():
    results = made_up({"a": TOKENS})
    kept = [cell for cell in results.cells if cell.metric != "density"]
    answer = answer_of(CellTables(replace(results, cells=kept, metrics={"exact": METRICS["exact"]})))
    assert (answer.text, answer.ranking.best) == ("", "")


@pytest.mark.parametrize("name", write_goldens.RUNS)
def test_the_report_is_its_golden_file(name):
    golden = (write_goldens.FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert write_goldens.report_of(name) == golden, (
        "PYTHONPATH=tests/helpers python .ci/write_goldens.py writes it again"
    )
