"""The referee says equal, parted with cause, open or not run, and gives a cause only where it gives the whole column."""

import hashlib
import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

import tokbench
from tokbench import InputError
from tokbench_maintain.referee.command import referee
from tokbench_maintain.referee.judge import judge
from tokbench_maintain.referee.table import read_tables

TABLES = Path(__file__).parents[4] / "reports" / "referee"
WORDS = ["नमस्ते", "किताब", "पानी", "घर", "हिन्दी", "it's", "don't", "x"]


def written(folder, **changes):
    table = {
        "title": "t",
        "source": "s",
        "licence": "l",
        "definition": "d",
        "metric": "tokens",
        "tokenizers": {"A": "gpt-4o"},
    }
    (folder / "made.yaml").write_text(yaml.safe_dump(table | changes, allow_unicode=True), encoding="utf-8")
    return read_tables(folder)[0]


def counted(name, texts):
    tokenizer = tokbench.load(name)
    return {text: {"A": len(tokenizer.encode(text))} for text in texts}


@pytest.mark.usefixtures("tiktoken_files")
def test_tables_with_their_texts_have_nothing_open():
    verdicts = [judge(published, Path()) for published in read_tables(TABLES) if not published.table.text_files]
    assert sum(len(verdict.cells) for verdict in verdicts) >= 58
    assert {verdict.published.name: verdict.count("open") + verdict.count("not_run") for verdict in verdicts} == {
        "magikarp": 0,
        "minbpe": 0,
        "openai-20": 0,
        "openai-cookbook": 0,
    }


def test_every_cell_has_its_text_and_tokenizer():
    cells = 0
    for published in read_tables(TABLES):
        known = published.files if published.table.text_files else published.table.texts
        for cell in published.cells():
            cells += 1
            assert cell.tokenizer in published.table.tokenizers
            assert published.table.metric == "utf8_fragments" or cell.text in known
    assert cells >= 2_500


@pytest.mark.parametrize(
    ("added", "cause"),
    [
        (1, "one special token counted a text"),
        (2, "two special tokens counted a text"),
    ],
)
def test_marks_that_were_counted_are_named(tmp_path, added, cause):
    cells = {text: {"A": row["A"] + added} for text, row in counted("gpt-4o", WORDS).items()}
    verdict = judge(written(tmp_path, texts={word: word for word in WORDS}, cells=cells), tmp_path)
    assert verdict.count("cause") == len(WORDS)
    assert cause in verdict.cells[0].why.split(" or ")


def test_another_split_is_named_from_the_numbers(tmp_path):
    texts = {word: word for word in WORDS}
    published = written(tmp_path, texts=texts, cells=counted("gpt-4o", WORDS))
    assert judge(published, tmp_path).count("equal") == len(WORDS)
    from tokbench_maintain.referee.causes import causes

    other = next(cause for cause in causes(tokbench.load("gpt-4o")) if "cl100k" in cause.words)
    cells = {word: {"A": len(other.encode([word])[0])} for word in WORDS}
    verdict = judge(written(tmp_path, texts=texts, cells=cells), tmp_path)
    parted = [one for one in verdict.cells if one.state == "cause"]
    assert parted
    assert all("the split of cl100k" in one.why for one in parted)
    assert verdict.count("open") == 0


def test_a_number_without_a_cause_stays_open(tmp_path):
    cells = counted("gpt-4o", WORDS)
    cells["x"] = {"A": 7}
    verdict = judge(written(tmp_path, texts={word: word for word in WORDS}, cells=cells), tmp_path)
    assert (verdict.count("equal"), verdict.count("open")) == (len(WORDS) - 1, 1)


@pytest.mark.parametrize(("other", "state"), [("x y", "cause"), ("x", "open")])
def test_a_variant_counts_if_it_gives_all(tmp_path, other, state):
    tokenizers = {"A": "gpt-4o", "B": "gpt-4"}
    variants = {"t": {"texts": other, "why": "the page lost a word"}}
    published = written(
        tmp_path, tokenizers=tokenizers, texts={"t": "x z z"}, cells={"t": {"A": 2, "B": 2}}, variants=variants
    )
    assert judge(published, tmp_path).count(state) == 2


@pytest.mark.parametrize(
    ("printed", "within", "state"), [("1.33", 0, "equal"), ("1.34", 0, "open"), ("1.34", 1, "rounding")]
)
def test_numbers_are_compared_at_their_digits(tmp_path, printed, within, state):
    texts = {"t": ["né", "a"]}
    published = written(
        tmp_path,
        metric="bytes_per_token",
        tokenizers={"A": "utf16_units"},
        texts=texts,
        cells={"t": {"A": printed}},
        within=within,
    )
    assert judge(published, tmp_path).cells[0].state == state


def test_texts_elsewhere_are_checked_by_their_hash(tmp_path):
    content = b"one two\n"
    files = "text,path,part,sha256\nt,a.txt,,{}\n"
    text_files = {"address": "https://example.org/{path}", "files": "files.csv", "read": "documents"}
    published = written(tmp_path, text_files=text_files, cells={"t": {"A": 2}})
    (tmp_path / "files.csv").write_text(files.format(hashlib.sha256(content).hexdigest()))
    assert judge(published, tmp_path).cells[0].state == "not_run"
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "a.txt").write_bytes(content)
    assert judge(read_tables(tmp_path)[0], tmp_path).cells[0].state == "equal"
    (tmp_path / "made" / "a.txt").write_bytes(b"other\n")
    with pytest.raises(InputError, match="sha256"):
        judge(read_tables(tmp_path)[0], tmp_path)


def test_a_tokenizer_that_is_missing_says_why(tmp_path):
    published = written(
        tmp_path, tokenizers={"A": {"missing": "only on the hub"}}, texts={"t": "x"}, cells={"t": {"A": 1}}
    )
    assert [(one.state, one.why) for one in judge(published, tmp_path).cells] == [("not_run", "only on the hub")]


def test_the_command_prints_tables_and_exits_by_them(tmp_path):
    done = CliRunner().invoke(
        referee, ["minbpe", "--tables", str(TABLES), "--json", "--page", str(tmp_path / "page.md")]
    )
    assert done.exit_code == 0
    assert json.loads(done.output)["tables"][0] | {"findings": []} == {
        "name": "minbpe", "cells": 1, "equal": 1, "rounding": 0, "cause": 0, "open": 0, "not_run": 0, "findings": [],
        "parted": [],
    }  # fmt: skip
    assert "| [minbpe](#minbpe) | 1 | 1 | 0 | 0 | 0 | 0 |" in (tmp_path / "page.md").read_text(encoding="utf-8")
    written(tmp_path, texts={"t": "x"}, cells={"t": {"A": 9}})
    assert CliRunner().invoke(referee, ["--tables", str(tmp_path)]).exit_code == 1
    assert CliRunner().invoke(referee, ["nope", "--tables", str(TABLES)], standalone_mode=False).exit_code == 1
