"""Scores from elsewhere as the target of the study of validity: their table, its mistakes, and planted relations."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from shared_fixtures import problems

import tokbench
from tokbench.formats import html, markdown
from tokbench_models.language_models.block import BITS_PER_BYTE
from tokbench_models.validity.block import VALIDITY, ExternalScore, ExternalScores
from tokbench_models.validity.csv import validity_csv
from tokbench_models.validity.scores import read_scores, scores_target

SIZES = tuple(range(257, 273, 2))
NAMES = [f"size-{size}" for size in SIZES]
RELATED = dict(zip(NAMES, [0.31, 0.33, 0.36, 0.40, 0.41, 0.47, 0.52, 0.58], strict=True))
"""Scores that rise with the size of a BPE, and so with its compression."""
UNRELATED = dict(zip(NAMES, [4.0, 7.0, 1.0, 6.0, 3.0, 8.0, 2.0, 5.0], strict=True))
"""Ranks 4 7 1 6 3 8 2 5 beside 1 to 8: the squares of the differences are 9 25 4 4 4 4 25 9, and rho is 1 - 6 * 84 / 504 = 0."""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A run without any language model, with two models in one table."""
    folder = tmp_path_factory.mktemp("scores")
    (folder / "text.txt").write_text(
        "the cat that sat there hated the other cats\nwhat a treat\n" * 9, encoding="utf-8"
    )
    lines = ["tokenizer,score,better,model,source,low,high"]
    lines += [f"{name},{score},higher,large model,A 2024,," for name, score in RELATED.items()]
    lines += [
        f"{name},{score},lower,small model,B 2023,{score - 1.5},{score + 1.5}" for name, score in UNRELATED.items()
    ]
    (folder / "scores.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "run.yaml").write_text(
        f"""
schema: tokbench/1
name: scored
corpora: {{c: {{source: text, path: "*.txt", document: line}}}}
tokenizers:
  size: {{backend: regex_bpe, train: {{corpus: c, vocab_size: {list(SIZES)}}}}}
metrics: [compression]
study:
  validity:
    scores: scores.csv
    hypotheses:
      - {{metric: compression_ratio, predicts: scores, at_least: 0, source: C 2020}}
      - {{metric: tokens, predicts: large model, at_least: 0}}
report: {{formats: [csv]}}
""",
        encoding="utf-8",
    )
    return tokbench.run(folder / "run.yaml", workers=0, store=False)


def correlation(results, model):
    [study] = [study for study in results.studies.get(VALIDITY) if study.models == [model]]
    [group] = study.classes
    return next(row for row in group.correlations if row.metric == "compression_ratio")


def test_a_planted_relation_is_found(results):
    assert results.studies.get(BITS_PER_BYTE) is None
    row = correlation(results, "large model")
    assert (row.rho, row.tokenizers) == (1.0, 8)
    assert row.ci_low > 0.8


def test_a_planted_absence_is_not_found(results):
    """Lower is better here, which turns the sign and leaves nothing."""
    row = correlation(results, "small model")
    assert row.rho == pytest.approx(0, abs=1e-12)
    assert row.ci_low < 0 < row.ci_high


def test_hypotheses_name_a_model_or_all_of_them(results):
    claims = [
        (claim.metric, claim.model, claim.verdict)
        for study in results.studies.get(VALIDITY)
        for claim in study.hypotheses
    ]
    assert claims == [
        ("compression_ratio", "large model", "held"),
        ("tokens", "large model", "held"),
        ("compression_ratio", "small model", "undecided"),
    ]


def test_the_reports_name_the_source(results):
    page, text = html.render(results), markdown.render(results)
    assert all("A 2024" in report for report in (page, text))
    assert "### the score of large model on c" in text
    rows = list(csv.DictReader(validity_csv(results).splitlines()))
    assert {(row["family"], row["model"], row["source"]) for row in rows} == {
        ("scores", "large model", "A 2024"),
        ("scores", "small model", "B 2023"),
    }


def test_an_interval_moves_the_draws_by_its_standard_error():
    """From -1.96 to 1.96 is one standard error; higher is better, so that the draws are turned."""
    scores = {"a": ExternalScore(score=3.0, low=1.04, high=4.96), "b": ExternalScore(score=2.0)}
    table = ExternalScores(file="s.csv", model="m", source="", better="higher", scores=scores)
    draws = scores_target(table, "c").draws
    assert draws[0].tolist() == [[-3.0, -2.0]]
    assert draws[:, 0, 0].std() == pytest.approx(1, abs=0.05)
    assert np.ptp(draws[:, 0, 1]) == 0


HEAD = "tokenizer,score,better,model\n"
GOOD = [f"t{k},{k},higher,m" for k in range(5)]
TOKENIZERS = [f"t{k}" for k in range(6)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HEAD + "\n".join([*GOOD, "t55,1,higher,m"]), "7: unknown tokenizer 't55'; did you mean 't5'?"),
        ("tokenizer,score\nt0,1\n", "1: no column 'better'"),
        ("tokenizer,score,better,modle\n", "1: unknown column 'modle'"),
        (HEAD, "1: no scores"),
        (HEAD + "\n".join([*GOOD, "t5,nan,higher,m"]), "7: score is 'nan'"),
        (HEAD + "\n".join([*GOOD, "t5,1,more,m"]), "7: better is 'more'"),
        (HEAD + "\n".join([*GOOD, "t5,1,higher"]), "7: more or fewer"),
        (HEAD + "\n".join([*GOOD, "t3,1,higher,m"]), "7: a second score of 't3'"),
        (HEAD + "\n".join([*GOOD, "t5,1,lower,m"]), "7: better is 'lower', and before 'higher'"),
        (HEAD.replace("model", "low,high") + "t0,1,lower,0.5,", "2: an interval has both ends"),
        (HEAD.replace("model", "low,high") + "t0,1,lower,x,2", "2: low is 'x'"),
        (HEAD.replace("model", "low,high") + "t0,1,lower,2,3", "2: the score 1 lies outside"),
        (HEAD + "\n".join(GOOD[:4]), " 'm' has scores of 4 tokenizers"),
    ],
)
def test_mistakes_in_a_table_are_listed_with_their_lines(text, expected, tmp_path):
    (tmp_path / "s.csv").write_text(text, encoding="utf-8")
    read = read_scores(tmp_path / "s.csv", TOKENIZERS)
    [problem] = read.problems
    assert problem.startswith(f"s.csv:{expected}")
    assert read.tables == []


def test_a_run_of_some_tokenizers_ignores_the_others(tmp_path):
    (tmp_path / "s.csv").write_text(HEAD + "\n".join(GOOD), encoding="utf-8")
    read = read_scores(tmp_path / "s.csv", ["t1"], some=True)
    assert [list(table.scores) for table in read.tables] == [["t1"]]


def test_a_run_refuses_a_table_before_anything_is_measured(write_config):
    path = write_config(extra="study:\n  validity: {scores: data/s.csv}\n")
    (path.parent / "data").mkdir()
    (path.parent / "data" / "s.csv").write_text("tokenizer,score,better\nbites,1,lower\n", encoding="utf-8")
    [problem] = problems(path)
    assert problem.startswith("run.yaml:10:22: s.csv:2: unknown tokenizer 'bites'")


def test_a_table_that_cannot_be_read_is_refused(tmp_path):
    assert read_scores(tmp_path / "none.csv", TOKENIZERS).problems[0].startswith("none.csv cannot be read: ")
    (tmp_path / "s.csv").write_bytes(f"{HEAD}é".encode("latin-1"))
    assert read_scores(tmp_path / "s.csv", TOKENIZERS).problems[0].startswith("s.csv:2:1: not UTF-8")
    assert "not a regular file" in read_scores(Path("/dev/zero"), TOKENIZERS).problems[0]


def test_a_model_may_not_have_the_name_of_a_metric(write_config):
    tokenizers = "\n".join(f"  t{k}: {{backend: utf8_bytes}}" for k in range(5))
    path = write_config(tokenizers=tokenizers, extra="study: {validity: {scores: s.csv}}\n")
    (path.parent / "s.csv").write_text(HEAD + "\n".join(GOOD).replace(",m", ",tokens"), encoding="utf-8")
    [problem] = problems(path)
    assert "'tokens'" in problem
