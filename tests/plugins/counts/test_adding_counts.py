"""Tables of counts: parts that add up, that are lost or doubled, of other programs, and damaged ones."""

import hashlib
import os
import random
import re

import fsspec
import pytest
from click.testing import CliRunner
from count_tables import MEMORY, call, counted, expected, rows, texts, write

pytest.importorskip("numba")
pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

import pyarrow as pa
import pyarrow.parquet as pq

import tokbench
from tokbench.cli.main import tokbench as command
from tokbench.foundation.errors import InputError
from tokbench_plugins.counts import merge, read
from tokbench_plugins.counts.count import count_table, table_of
from tokbench_plugins.counts.facts import SEAL, named_span, read_facts, sha256_of
from tokbench_plugins.counts.merge import add_tables
from tokbench_plugins.counts.read import read_counts


def test_parts_add_up(tmp_path, monkeypatch):
    documents = ["ab " * 700_000, "ba " * 400_000]
    folder = write(tmp_path / "in", documents)
    counted(folder, tmp_path / "whole")
    counted(folder, tmp_path / "parts", parts=True)
    table = pq.read_table(tmp_path / "parts").to_pandas()
    assert sorted(set(table.part)) == [0, 1, 2]
    assert table[table.chunk == b" ab"].groupby("part")["count"].sum().to_dict() == {0: 349525, 1: 349525, 2: 949}
    one = table.groupby("chunk", sort=False)["count"].sum()
    assert {"chunk": list(one.index), "count": list(one)} == rows(tmp_path / "whole")


@pytest.mark.parametrize("numbered", ["documents", "files"])
def test_tables_add_up_in_any_order_of_parts(tmp_path, numbered):
    documents = texts(50, 300, seed=5)
    shuffled = random.Random(0).sample(list(enumerate(documents)), len(documents))
    batches = [shuffled[k : k + 10] for k in range(0, 50, 10)]
    if numbered == "files":
        batches = [[(k, text) for text in documents[10 * k : 10 * k + 10]] for k in (3, 1, 4, 0, 2)]
    paths = []
    for k, batch in enumerate(batches):
        paths.append(tmp_path / f"{k}.counts")
        numbers, some = zip(*batch, strict=True)
        pq.write_table(count_table(some, numbers if numbered == "documents" else numbers[0]), paths[-1])
    merged = add_tables(paths, tmp_path / "all.counts", MEMORY)
    assert rows(tmp_path / "all.counts") == expected(documents, "gpt4")
    assert (merged.facts.documents, merged.before) == (len(documents), ())
    assert read_facts(tmp_path / "all.counts") == merged.facts


def test_documents_of_a_batch_come_in_any_order():
    table = count_table(["b a", "a b"], [7, 3], pattern="gpt2")
    assert table["chunk"].to_pylist() == [b"a", b" b", b"b", b" a"]
    assert table.equals(count_table(["a b", "b a"], [3, 7], pattern="gpt2"))


def parts_in(folder, numbers):
    """A table a number; of each part, or of each document if the numbers are lists."""
    folder.mkdir()
    for k, number in enumerate(numbers):
        texts = [f"text {k}"] * (len(number) if isinstance(number, list) else 1)
        pq.write_table(count_table(texts, number), folder / f"{k}.counts")
    (folder / "_SUCCESS").touch()
    return folder


@pytest.mark.parametrize(
    ("numbers", "span", "missing"),
    [
        ([2, 0, 1], "parts 0 to 2", []),
        ([5, 9, 6], "parts 5 to 9", ["parts 7 to 8"]),
        ([[0, 1], [2]], "documents 0 to 2", []),
        ([[0, 3], [5]], "documents 0 to 5", []),
    ],
)
def test_a_lost_part_shows(tmp_path, numbers, span, missing):
    folder = parts_in(tmp_path / "parts", numbers)
    words = ["count", "--add", str(folder), "-o", str(tmp_path / "out")]
    lost = CliRunner().invoke(command, words)
    assert bool(lost.exit_code) == bool(missing)
    assert all(name in str(lost.exception) for name in missing)
    assert span in CliRunner().invoke(command, [*words, "--gaps"]).output
    assert [named_span(*gap) for gap in read_facts(tmp_path / "out").gaps] == missing


@pytest.mark.parametrize(
    ("numbers", "named"),
    [([1, 0, 1], "both hold part 1"), ([[0, 1], [1, 2]], "document 1"), ([None, None], None), ([7, [0]], None)],
)
def test_a_doubled_part_is_refused(tmp_path, numbers, named):
    folder = parts_in(tmp_path / "parts", numbers)
    tables = sorted(folder.glob("*.counts"))
    if named:
        with pytest.raises(InputError, match=named):
            add_tables(tables, tmp_path / "out", MEMORY, gaps=True)
    else:
        add_tables(tables, tmp_path / "out", MEMORY, gaps=True)
    with pytest.raises(InputError, match=r"0\.counts"):
        add_tables([*tables[:1], *tables], tmp_path / "out", MEMORY, gaps=True)


def test_parts_at_an_address(tmp_path):
    system = fsspec.filesystem("memory")
    for path in parts_in(tmp_path / "parts", [0, 1]).iterdir():
        system.pipe(f"/parts/{path.name}", path.read_bytes())
    for name in ("memory://parts/", "memory://parts/*.counts"):
        done = CliRunner().invoke(command, ["count", "--add", name, "-o", str(tmp_path / "out")])
        assert done.exit_code == 0, done.output
        assert rows(tmp_path / "out") == {"chunk": [b"text", b" ", b"0", b"1"], "count": [2, 2, 1, 1]}
    system.pipe("/counted/a.txt", b"no no")
    done = CliRunner().invoke(command, ["count", "memory://counted/*.txt", "-o", str(tmp_path / "out")])
    assert rows(tmp_path / "out") == {"chunk": [b"no", b" no"], "count": [1, 1]}


def test_what_is_too_large_to_train_on(tmp_path, monkeypatch):
    """Slots: `` aa`` 3 times and `` bb`` twice are 8 with their gaps, `` cc`` and ``aa`` one more each."""
    for module in (merge, read):
        monkeypatch.setattr(module, "MOST_SLOTS", 12)
    result, _ = counted(write(tmp_path / "in", ["aa aa aa aa bb bb cc"]))
    assert (result.merged.slots, result.merged.fitting) == (16, 2)
    with pytest.raises(InputError, match="--min-count 2 "):
        read_counts(tmp_path / "in.counts", "first", tmp_path)
    add_tables([tmp_path / "in.counts"], tmp_path / "small", MEMORY, 2)
    assert read_counts(tmp_path / "small", "first", tmp_path).counts.tolist() == [3, 2]


def test_counts_of_another_program(tmp_path):
    documents = texts(20, 200, seed=7)
    wanted = expected(documents, "gpt4")
    path = tmp_path / "words.counts"
    pq.write_table(table_of(pa.table({**wanted, "first": range(len(wanted["chunk"]))}), documents=20), path)
    assert rows(path) == wanted
    facts = read_facts(path)
    assert facts.bytes == sum(len(text.encode()) for text in documents)
    assert (facts.documents, facts.pattern_name, facts.numbered, facts.parts) == (20, "gpt4", True, False)
    unordered = table_of(pa.table({"chunk": ["b", "a"], "count": pa.array([1, 2], pa.int32())}))
    assert unordered["first"].null_count == 2


def test_rows_of_another_program_train_in_order(tmp_path):
    documents = texts(20, 200, seed=7)
    wanted = expected(documents, "gpt4")
    order = random.Random(1).sample(range(len(wanted["chunk"])), len(wanted["chunk"]))
    shuffled = {"first": order, **{name: [column[k] for k in order] for name, column in wanted.items()}}
    path = tmp_path / "words.counts"
    pq.write_table(table_of(pa.table(shuffled)), path)
    assert list(read_counts(path, "first", tmp_path).chunks()) == list(zip(*wanted.values(), strict=True))


def test_tables_of_files_add_up_in_order(tmp_path):
    documents = texts(20, 200, seed=6)
    counted(write(tmp_path / "a", documents[:10]))
    counted(write(tmp_path / "b", documents[10:]))
    add_tables([tmp_path / "b.counts", tmp_path / "a.counts"], tmp_path / "ba.counts", MEMORY)
    assert rows(tmp_path / "ba.counts") == expected(documents[10:] + documents[:10], "gpt4")


def test_rare_chunks_are_left_out_by_their_sum(tmp_path):
    folder = write(tmp_path / "in", ["a a b b b c", "a b d d"])
    result, table = counted(folder, least=2)
    # a, " a", " b" in both files: " b" 4, " a" 1, a 2, d: " d" 2, " c" 1
    assert dict(zip(table["chunk"], table["count"], strict=True)) == {b"a": 2, b" b": 4, b" d": 2}
    left = result.merged.facts.left_out
    assert (left.below, left.different, left.pretokens, left.bytes) == (2, 2, 2, 4)
    assert read_facts(tmp_path / "in.counts").left_out == left


@pytest.mark.parametrize("damage", ["cut", "other", "column"])
def test_files_that_are_no_tables(tmp_path, damage):
    path = tmp_path / "a.counts"
    table = count_table(["a b"], 0)
    pq.write_table(table.drop_columns("first") if damage == "column" else table, path)
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-9])
    elif damage == "other":
        pq.write_table(pa.table({"text": ["a"]}), path)
    whole = parts_in(tmp_path / "parts", [1]) / "0.counts"
    for look in (lambda: read_facts(path), lambda: add_tables([whole, path], tmp_path / "out", MEMORY)):
        with pytest.raises(InputError, match=r"a\.counts"):
            look()


def test_no_damage_of_a_table_is_trained_on(tmp_path):
    folder = write(tmp_path / "in", texts(3, 300, seed=9))
    path = tmp_path / "out"
    call(folder, "-o", path)
    whole = path.read_bytes()
    assert sha256_of(path) == hashlib.sha256(whole).hexdigest()
    for place in range(4, len(whole), len(whole) // 60):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
        os.utime(path, ns=(place, place))
        if SEAL.encode() in path.read_bytes():  # without this name the hash is not looked for, and all else is whole
            with pytest.raises(InputError, match=re.escape(str(path))):
                read_facts(path)


@pytest.mark.parametrize("scheme", ["file", "memory"])
def test_training_on_a_table_at_an_address(tmp_path, scheme):
    text = "low lower lowest low"
    (tmp_path / "a.txt").write_text(text)
    pq.write_table(count_table([text], [0]), tmp_path / "all.counts")
    there = f"{scheme}://{tmp_path}/there.counts"
    fsspec.filesystem(scheme).put_file(str(tmp_path / "all.counts"), there)
    made = {"backend": "regex_bpe", "train": {"counts": there, "vocab_size": 262}}
    config = {
        "schema": "tokbench/1",
        "name": "there",
        "corpora": {"x": {"source": "text", "path": str(tmp_path / "a.txt")}},
        "tokenizers": {"made": made},
        "metrics": ["compression"],
    }
    tokbench.run(config, output=tmp_path / "out", workers=0)
    [artefact] = (tmp_path / "out/artefacts").rglob("*.bpe.json")
    assert tokbench.load(str(artefact)).merges == tokbench.train("regex_bpe:gpt4", [text], 262, store=False).merges
