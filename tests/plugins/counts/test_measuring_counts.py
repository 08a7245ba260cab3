"""A run on a table of counts: the numbers of the text, to the last digit; what counts do not tell is not applicable."""

import csv
import random
import shutil
from types import SimpleNamespace

import pytest

pytest.importorskip("numba")
pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

import tokbench
from tokbench.foundation.errors import InputError
from tokbench.results.cells import WHOLE
from tokbench.tokenizers.split import why_not_by_chunks
from tokbench_plugins.bpe import PATTERNS, Splitter
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


def bare(kind, name, data):
    """What the library itself counts in a text."""
    if kind == "tiktoken":
        return lambda text: len(pytest.importorskip("tiktoken").get_encoding(name).encode_ordinary(text))
    if kind == "splintr":
        engine = pytest.importorskip("splintr").Tokenizer.from_pretrained(name)
        return lambda text: len(engine.encode_ordinary(text)) - len(engine.encode_ordinary(""))
    engine = pytest.importorskip("tokenizers").Tokenizer.from_file(str(data / name))
    return lambda text: len(engine.encode(text, add_special_tokens=False).ids)


@pytest.mark.parametrize(
    ("backend", "option", "name", "pattern"),
    [
        ("tiktoken", "encoding", "gpt2", "gpt2"),
        ("tiktoken", "encoding", "cl100k_base", "gpt4"),
        ("tiktoken", "encoding", "o200k_base", "o200k"),
        ("splintr", "vocabulary", "whisper_v3", "gpt2"),
        ("splintr", "vocabulary", "llama3", "gpt4"),
        ("splintr", "vocabulary", "mistral_v3", "tekken"),
        ("splintr", "vocabulary", "kimi_k2", "kimi"),
        ("splintr", "vocabulary", "deepseek_v3", "deepseek"),
        ("splintr", "vocabulary", "gemma2", "gemma"),
        ("splintr", "vocabulary", "gemma4", "gemma"),
        ("huggingface", "path", "hf/roberta-base.tokenizer.json", "gpt2"),
    ],
)
def test_totals_are_those_of_the_library(data, tmp_path, backend, option, name, pattern, tiktoken_files):
    library = bare(backend, name, data)
    files = sorted((data / "pud").glob("*.txt"))
    table = tmp_path / "all.counts"
    local.count(local.Task(tuple(files), Reading(pattern), table, 1 << 30), lambda _: None)
    value = str(data / name) if option == "path" else name
    results = tokbench.run(
        {
            "schema": "tokbench/1",
            "name": "totals",
            "corpora": {"all": {"source": "counts", "path": str(table)}},
            "tokenizers": {"bare": {"backend": backend, option: value}},
            "metrics": ["compression"],
        },
        output=tmp_path / "out",
        workers=0,
    )
    [total] = [cell.value for cell in results.cells if (cell.metric, cell.group) == ("tokens", WHOLE)]
    assert total == sum(library(path.read_text(encoding="utf-8")) for path in files)


@pytest.mark.parametrize(
    ("tokenizer", "said"),
    [
        (lambda data: data / "hf/gpt-neox-20b.tokenizer.json", "added tokens"),
        (lambda data: data / "hf/t5-small.tokenizer.json", "Unigram"),
        (lambda _: "splintr:qwen3", "pieces such as"),
        (lambda _: "splintr:llama2", "a space before a text"),
        (lambda _: "utf8_bytes", "does not say how"),
    ],
)
def test_why_chunks_say_nothing(data, tokenizer, said):
    assert said in why_not_by_chunks(tokbench.load(str(tokenizer(data))), PATTERNS["gpt2"], ["a"])


@pytest.mark.parametrize(("chunk", "whole"), [("<think>", True), ("<\uff5c", False)])
def test_pieces_that_no_text_can_have(chunk, whole):
    """Each of DeepSeek's pieces has a wide bar."""
    tokenizer = tokbench.load("splintr:deepseek_v3")
    assert ("<\uff5c" in why_not_by_chunks(tokenizer, tokenizer.split, ["a", chunk])) is not whole


@pytest.mark.parametrize("vocabulary", ["gemma2", "gemma3", "gemma4"])
def test_which_pieces_of_gemma_are_cut(vocabulary):
    tokenizer = tokbench.load(f"splintr:{vocabulary}")
    tokens = (tokenizer.token_bytes(token_id) for token_id in range(tokenizer.vocab_size))
    split = Splitter("gemma")
    cut = {text for token in tokens if len(split(text := token.decode("utf-8", "replace"))) > 1}
    assert cut == set(tokenizer.pieces_before_split)
    assert len(cut) == (vocabulary != "gemma2")


@pytest.mark.parametrize(("chunks", "whole"), [(["é", " x"], True), (["e\u0301"], False), (["e", "\u0301"], False)])
def test_chunks_of_normalized_text(chunks, whole):
    """A mark at the beginning of a chunk may belong to the one before."""
    tokenizer = SimpleNamespace(split=".", normal_form="NFC")
    assert (why_not_by_chunks(tokenizer, ".", chunks) == "") is whole
