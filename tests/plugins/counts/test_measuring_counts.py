"""A run on a table of counts: the numbers of the text, to the last digit; what counts do not tell is not applicable."""

import csv
import random
import shutil

import pytest

pytest.importorskip("numba")
pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

import tokbench
from tokbench.foundation.errors import InputError
from tokbench.results.cells import WHOLE
from tokbench_plugins.counts import local
from tokbench_plugins.counts.pieces import Reading

WORDS = ["low", "lower", "new", "newer", "wide", "Wide", "été", "東京", "12", "2024", "'s", "--", "\n", "🎉"]
EXACT = (
    "compression_ratio chars_per_token tokens bytes chars distinct_tokens renyi_efficiency vocab_utilization".split()
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Twenty files, and their counts in parts; no part is whole without several files."""
    folder = tmp_path_factory.mktemp("counts")
    rng = random.Random(0)
    files = []
    for number in range(20):
        files.append(folder / f"{number:02}.txt")
        files[-1].write_text(" ".join(rng.choices(WORDS, k=300)))
    task = local.Task(tuple(files), Reading("gpt4"), folder / "all.counts", 1 << 30, parts=True)
    local.count(task, lambda _: None)
    return folder


def config(folder, **more):
    return {
        "schema": "tokbench/1",
        "name": "both",
        "corpora": {
            "text": {"source": "text", "path": str(folder / "*.txt"), "group": "all"},
            "counted": {"source": "counts", "path": str(folder / "all.counts"), "group": "all"},
        },
        "tokenizers": {
            "mine": {"backend": "regex_bpe", "train": {"counts": str(folder / "all.counts"), "vocab_size": [290, 300]}},
            "other": {"backend": "regex_bpe", "pattern": "gpt2", "train": {"corpus": "text", "vocab_size": 300}},
            "bytes": "utf8_bytes",
        },
        "metrics": ["compression", "fertility", "vocabulary", "roundtrip"],
        **more,
    }


@pytest.fixture(scope="module")
def results(folder):
    return tokbench.run(config(folder, study={"vocabulary": {"sizes": [270, 280]}}), output=folder / "out")


@pytest.mark.slow
def test_numbers_are_those_of_the_text(results):
    cells = {(cell.tokenizer, cell.corpus, cell.metric): cell for cell in results.cells if cell.group == WHOLE}
    for name in ("mine-290", "mine-300"):
        for metric in EXACT:
            assert cells[name, "counted", metric].value == cells[name, "text", metric].value
        pretokens = cells[name, "counted", "words"].value
        assert cells[name, "counted", "fertility"].value == cells[name, "text", "tokens"].value / pretokens
        assert cells[name, "counted", "compression_ratio"].ci_low is not None


def test_the_curve_is_that_of_the_text(results, folder):
    rows = csv.DictReader((folder / "out" / "curve.csv").read_text().splitlines())
    rows = [row for row in rows if row["tokenizer"] == "mine"]
    by_corpus = {
        corpus: {row["vocab_size"]: row["tokens"] for row in rows if row["corpus"] == corpus}
        for corpus in ("text", "counted")
    }
    assert by_corpus["text"] == by_corpus["counted"]
    assert len(by_corpus["text"]) > 2


def test_other_splits_and_metrics_are_not_applicable(results):
    counted = [cell for cell in results.cells if cell.corpus == "counted"]
    assert {cell.status for cell in counted if cell.tokenizer in {"other", "bytes"}} == {"not_applicable"}
    assert not [cell for cell in counted if cell.metric == "roundtrip_exact"]
    assert any("counted" in note and "roundtrip" in note for note in results.notes)


def test_counts_cannot_be_held_out(folder):
    data = config(folder)
    data["corpora"]["counted"]["holdout"] = 0.5
    with pytest.raises(InputError, match="holdout"):
        tokbench.run(data, output=folder / "held")


def test_a_table_that_goes_during_a_run_costs_its_own_numbers(folder, tmp_path, monkeypatch, faulty):
    table = shutil.copy(folder / "all.counts", tmp_path)
    monkeypatch.setenv("CHANGES", f"{table}=gone")  # when its tokenizer is loaded, after the planning
    data = config(folder)
    data["tokenizers"] = {"gone": "changes_text", "mine": data["tokenizers"]["other"] | {"pattern": "gpt4"}}
    data["corpora"]["counted"]["path"] = table
    results = tokbench.run(data | {"metrics": ["compression"]}, output=tmp_path / "out", workers=0)
    whole = {cell.corpus: cell for cell in results.cells if (cell.tokenizer, cell.metric) == ("mine", "tokens")}
    assert whole["text"].value > 0
    assert whole["counted"].status == "failed"
    assert "all.counts" in whole["counted"].reason
    assert whole["counted"].reason in results.notes


@pytest.mark.parametrize(("encoding", "pattern"), [("gpt2", "gpt2"), ("cl100k_base", "gpt4"), ("o200k_base", "o200k")])
def test_totals_are_those_of_the_library(data, tmp_path, encoding, pattern, tiktoken_files):
    tiktoken = pytest.importorskip("tiktoken")
    files = sorted((data / "pud").glob("*.txt"))
    table = tmp_path / "all.counts"
    local.count(local.Task(tuple(files), Reading(pattern), table, 1 << 30), lambda _: None)
    results = tokbench.run(
        {
            "schema": "tokbench/1",
            "name": "totals",
            "corpora": {"all": {"source": "counts", "path": str(table)}},
            "tokenizers": {"bare": {"backend": "tiktoken", "encoding": encoding}},
            "metrics": ["compression"],
        },
        output=tmp_path / "out",
        workers=0,
    )
    [total] = [cell.value for cell in results.cells if (cell.metric, cell.group) == ("tokens", WHOLE)]
    known = tiktoken.get_encoding(encoding)
    assert total == sum(len(known.encode_ordinary(path.read_text(encoding="utf-8"))) for path in files)
