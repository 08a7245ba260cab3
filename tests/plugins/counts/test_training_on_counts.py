"""Training on counts: the merges of the text, whoever counted it and in whatever order the parts came."""

import json
import random

import pytest

pytest.importorskip("numba")
pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

import pyarrow.parquet as pq

import tokbench
from tokbench.foundation.errors import InputError
from tokbench_plugins.bpe import PATTERNS
from tokbench_plugins.bpe.compiled.train import train_counts
from tokbench_plugins.bpe.engines import train
from tokbench_plugins.counts.count import count_table
from tokbench_plugins.counts.merge import add_tables
from tokbench_plugins.counts.read import read_counts

MEMORY = 1 << 30
WORDS = ["low", "lower", "new", "newer", "wide", "Wide", "été", "東京", "12", "2024", "'s", "--", "\n", " ", "🎉"]


def corpus(seed):
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randrange(1, 40))) for _ in range(40)]


def parts_of(documents, pattern, folder, seed):
    """Tables of parts of the documents, in random order."""
    starts = [0]
    for text in documents[:-1]:
        starts.append(starts[-1] + len(text.encode()))
    order = [range(k, min(k + 7, len(documents))) for k in range(0, len(documents), 7)]
    random.Random(seed).shuffle(order)
    for number, some in enumerate(order):
        path = folder / f"{number}.counts"
        pq.write_table(count_table([documents[k] for k in some], [starts[k] for k in some], pattern=pattern), path)
        yield path


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("seed", range(5))
def test_merges_are_those_of_the_text(tmp_path, pattern, seed):
    documents = corpus(seed)
    table = tmp_path / "all.counts"
    add_tables(list(parts_of(documents, pattern, tmp_path, seed)), table, MEMORY)
    for tie in ("first", "smallest"):
        counts = read_counts(table, tie, tmp_path)
        assert train_counts(counts, 300, tie) == train(documents, 300, pattern, tie=tie, engine="python")


def test_counts_beyond_32_bits(tmp_path):
    table = count_table(["aab ab"], [0])
    column = table.schema.get_field_index("count")
    times = [10**12 * count.as_py() for count in table["count"]]
    path = tmp_path / "big.counts"
    pq.write_table(table.set_column(column, "count", [times]), path)
    assert train_counts(read_counts(path, "first", tmp_path), 258) == [(97, 98), (97, 256)]


def config(tmp_path, **train):
    (tmp_path / "text.txt").write_text("\n".join(corpus(0)))
    return {
        "schema": "tokbench/1",
        "name": "counted",
        "corpora": {"text": {"source": "text", "path": str(tmp_path / "text.txt"), "document": "line"}},
        "tokenizers": {
            "of-text": {"backend": "regex_bpe", "train": {"corpus": "text", "vocab_size": 280}},
            "of-counts": {"backend": "regex_bpe", **train},
        },
        "metrics": ["compression"],
    }


@pytest.fixture
def counted(tmp_path):
    """A table of the lines of the corpus."""
    path = tmp_path / "text.counts"
    lines = [text + "\n" for text in "\n".join(corpus(0)).split("\n") if text]
    starts = [0]
    for line in lines[:-1]:
        starts.append(starts[-1] + len(line))
    pq.write_table(count_table(lines, starts), path)
    return path


@pytest.mark.slow
def test_a_run_trains_on_counts(tmp_path, counted):
    results = tokbench.run(config(tmp_path, train={"counts": str(counted), "vocab_size": 280}), output=tmp_path / "out")
    digests = {name: info.sha256["vocabulary"] for name, info in results.tokenizers.items()}
    assert digests["of-text"] == digests["of-counts"]
    assert results.tokenizers["of-counts"].train.bytes > 0


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ({"pattern": "gpt2"}, "gpt4, and not gpt2"),
        ({"backend": "naive_bpe"}, "cannot be trained on counts"),
        ({"backend": "regex_bpe", "train": {"corpus": "text", "counts": "x", "vocab_size": 280}}, "either"),
    ],
)
def test_refused_before_anything_is_measured(tmp_path, counted, keys, named):
    data = config(tmp_path, **{"train": {"counts": str(counted), "vocab_size": 280}, **keys})
    with pytest.raises(InputError, match=named):
        tokbench.run(data, output=tmp_path / "out")


@pytest.mark.parametrize(("column", "value"), [("count", -1), ("chunk", b"two words"), ("chunk", b"\xff")])
def test_damaged_tables_are_refused(tmp_path, column, value):
    table = count_table(["a b c"], [0])
    values = table[column].to_pylist()
    at = table.schema.get_field_index(column)
    path = tmp_path / "bad.counts"
    pq.write_table(table.set_column(at, table.schema.field(at), [[*values[:-1], value]]), path)
    with pytest.raises(InputError, match=r"bad\.counts"):
        read_counts(path, "first", tmp_path)


@pytest.mark.slow
def test_left_out_is_in_the_artefact(tmp_path):
    from click.testing import CliRunner

    from tokbench.cli.main import tokbench as command

    (tmp_path / "a.txt").write_text("ab ab ab cd")
    table = str(tmp_path / "a.counts")
    run = CliRunner().invoke(command, ["count", str(tmp_path / "a.txt"), "-o", table, "--min-count", "2"])
    assert run.exit_code == 0, run.output
    args = [
        "train",
        "--backend",
        "regex_bpe:gpt4",
        "--counts",
        table,
        "--vocab-size",
        "257",
        "-o",
        str(tmp_path / "out"),
    ]
    assert CliRunner().invoke(command, args).exit_code == 0
    corpus = json.loads((tmp_path / "out" / "trained.bpe.json").read_text())["corpus"]
    assert "2 different" in corpus["left_out"]
    assert corpus["bytes"] == 11
