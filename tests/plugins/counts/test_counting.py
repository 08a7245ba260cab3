"""Counts of files and documents: the same as a dict in Python, whatever is cut where and whoever counts."""

import csv
import gzip
import io
import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner
from count_tables import MEMORY, call, counted, expected, rows, texts, write

pytest.importorskip("numba")
pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

import pyarrow as pa
import pyarrow.parquet as pq

from tokbench.cli.main import tokbench as command
from tokbench.foundation.errors import InputError
from tokbench.text.cuts import reading
from tokbench.text.faults import BAD_BYTES, NULLS
from tokbench.text.find import find_texts
from tokbench_plugins.bpe.patterns import NAMED
from tokbench_plugins.counts import local, pieces
from tokbench_plugins.counts.count import count_partition
from tokbench_plugins.counts.facts import read_facts
from tokbench_plugins.counts.merge import add_tables
from tokbench_plugins.counts.pieces import Reading


def met(result, kind):
    [found] = [met for name, met in result.amount.faults.met.items() if name.startswith(kind)]
    return found


@pytest.fixture
def small(monkeypatch):
    """Pieces and blocks of a few bytes."""
    monkeypatch.setattr(pieces, "_PIECE", 40)
    monkeypatch.setattr(pieces, "_BLOCK", 17)
    monkeypatch.setattr(local, "_SMALL", 0)


@pytest.mark.parametrize("pattern", [*NAMED, r"\w+|\W"])
def test_pieces_count_as_whole_files(tmp_path, small, pattern):
    documents = texts(40, 300)
    result, table = counted(write(tmp_path / "in", documents), pattern=pattern)
    assert table == expected(documents, pattern)
    assert result.amount.bytes == sum(len(text.encode()) for text in documents)
    assert result.amount.documents == sum(map(bool, documents))
    assert result.merged.pretokens == sum(table["count"])
    assert result.merged.chunk_bytes == sum(map(len, table["chunk"]))


def test_lines_are_the_documents_that_training_sees(tmp_path, small):
    folder = write(tmp_path / "in", texts(30, 200))
    documents = []
    for path in sorted(folder.iterdir()):
        with reading(path) as reader:
            documents += [part.text + part.end for part in reader.documents("line")]
    result, table = counted(folder, document="line")
    assert result.amount.documents == len(documents)
    assert table == expected(documents, "gpt4")


@pytest.mark.parametrize("kind", ["jsonl", "jsonl.gz", "parquet", "csv", "tsv.gz"])
def test_rows_are_documents(tmp_path, small, kind):
    documents = [text for text in texts(60, 100) if text]
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / f"a.{kind}"
    lines = "".join(json.dumps({"lang": "ab"[k % 2], "text": text}) + "\n" for k, text in enumerate(documents)).encode()
    if kind == "parquet":
        pq.write_table(pa.table({"lang": ["ab"[k % 2] for k in range(len(documents))], "text": documents}), path)
    elif "sv" in kind:
        text = io.StringIO()
        writer = csv.writer(text, delimiter=",\t"[kind.startswith("t")])
        writer.writerows([("lang", "text"), *(("ab"[k % 2], text) for k, text in enumerate(documents))])
        path.write_bytes(gzip.compress(text.getvalue().encode()) if kind.endswith("gz") else text.getvalue().encode())
    else:
        path.write_bytes(gzip.compress(lines) if kind.endswith("gz") else lines)
    result, table = counted(tmp_path / "in")
    assert table == expected(documents, "gpt4")
    assert result.amount.documents == len(documents)
    counted(tmp_path / "in", group="{lang}")
    grouped = pq.read_table(tmp_path / "in.counts").to_pandas()
    for k, name in enumerate("ab"):
        one = grouped[grouped.group == name]
        assert {"chunk": list(one.chunk), "count": list(one["count"])} == expected(documents[k::2], "gpt4")


def test_two_processes_count_as_one(tmp_path, small):
    documents = texts(30, 300, seed=2)
    folder = write(tmp_path / "in", documents)
    counted(folder, tmp_path / "one")
    counted(folder, tmp_path / "two", processes=2)
    assert pq.read_table(tmp_path / "one").equals(pq.read_table(tmp_path / "two"))
    assert rows(tmp_path / "two") == expected(documents, "gpt4")


def test_an_empty_table_changes_no_byte(tmp_path, small):
    folder = write(tmp_path / "in", texts(30, 30))
    counted(folder, tmp_path / "one")
    (tmp_path / "nulls.jsonl").write_text('{"text": null}\n')
    counted(tmp_path / "nulls.jsonl", tmp_path / "nothing", nulls="skip")
    for name, tables in (("alone", ["one"]), ("both", ["one", "nothing"])):
        add_tables([tmp_path / table for table in tables], tmp_path / name, 1 << 28)
    alone, both = (pq.read_table(tmp_path / name).replace_schema_metadata() for name in ("alone", "both"))
    assert alone.equals(both)


def test_goes_on_after_a_failure(tmp_path, small, monkeypatch):
    documents = texts(30, 300, seed=3)
    folder = write(tmp_path / "in", documents)
    (folder / "015.txt").write_bytes(b"good\nbad \xff\n")
    monkeypatch.setattr(local, "_FLUSH_S", 0)
    with pytest.raises(InputError, match=r"015.txt:2:5: not UTF-8: byte 0xff"):
        counted(folder)
    documents[15] = "good again"
    (folder / "015.txt").write_text("good again")
    result, table = counted(folder)
    assert table == expected(documents, "gpt4")
    assert result.resumed == sum(len(text.encode()) for text in documents[:15])


def test_resumes_from_the_journal(tmp_path, small, monkeypatch):
    documents = texts(30, 300, seed=4)
    folder = write(tmp_path / "in", documents)
    monkeypatch.setattr(local, "_FLUSH_S", 0)
    calls = 0

    def stop(_):
        nonlocal calls
        calls += 1
        if calls == 20:
            raise KeyboardInterrupt

    task = local.Task(tuple(find_texts([str(folder)]).files), Reading("gpt4"), tmp_path / "out", MEMORY)
    with pytest.raises(KeyboardInterrupt):
        local.count(task, stop)
    journal = task.folder / "journal"
    journal.write_text(journal.read_text() + '{"pieces": [2')  # a kill in the middle of a line
    (task.folder / "left.parquet").write_bytes(b"PAR1")
    result = local.count(task, lambda _: None)
    assert 0 < result.resumed < result.amount.bytes
    assert rows(tmp_path / "out") == expected(documents, "gpt4")
    assert not task.folder.exists()


@pytest.mark.parametrize(("errors", "text"), [("replace", "good\nb\ufffdd"), ("skip", "good\nbd")])
def test_bad_bytes(tmp_path, errors, text):
    write(tmp_path / "in", ["one"])
    (tmp_path / "in" / "bad.txt").write_bytes(b"good\nb\xffd")
    result, table = counted(tmp_path / "in", errors=errors)
    assert table == expected(["one", text], "gpt4")
    bad = met(result, BAD_BYTES)
    assert (bad.times, bad.where) == (1, f"{tmp_path / 'in' / 'bad.txt'}:2:2")


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_null_rows_are_left_out(tmp_path, kind):
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / f"r.{kind}"
    if kind == "jsonl":
        path.write_text('{"text": "a b"}\n{"text": null}\n{"text": "c"}\n', encoding="utf-8")
    else:
        pq = pytest.importorskip("pyarrow.parquet")
        pq.write_table(pytest.importorskip("pyarrow").table({"text": ["a b", None, "c"]}), path)
    result, table = counted(path, nulls="skip")
    assert table == expected(["a b", "c"], "gpt4")
    assert (met(result, NULLS).times, result.amount.documents) == (1, 2)
    assert met(result, NULLS).where == f"{path}:2"
    with pytest.raises(InputError, match=r"nulls:? skip"):
        counted(path, tmp_path / "other")


@pytest.mark.slow
def test_the_first_bad_byte_whatever_processes(tmp_path, small):
    folder = write(tmp_path / "in", texts(6, 300, seed=8))
    for number in (1, 4, 5):
        (folder / f"00{number}.txt").write_bytes(b"good\nbad \xff\n" * 50)
    for processes in (1, 2):
        result, _ = counted(folder, tmp_path / str(processes), errors="replace", processes=processes)
        bad = met(result, BAD_BYTES)
        assert (bad.times, bad.where) == (150, f"{folder / '001.txt'}:2:5")


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
@pytest.mark.parametrize("group", ["{lang.x}", "{lang[x]}"])
def test_fields_inside_others(tmp_path, kind, group):
    made = [{"doc": {"text": f"t{k % 2}"}, "lang": {"x": "ab"[k % 2]}} for k in range(4)]
    path = tmp_path / f"a.{kind}"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(made), path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in made))
    counted(path, tmp_path / "out", field="doc.text", group=group)
    assert read_facts(tmp_path / "out").groups == ("a", "b")
    with pytest.raises(InputError, match=r"lang\.y"):
        counted(path, tmp_path / "out", field="doc.text", group="{lang.y}")
    partition = count_partition([pa.Table.from_pylist(made)], 0, field="doc.text", group=group)
    assert partition.to_pydict() == count_partition(made, 0, field="doc.text", group=group).to_pydict()
    one, other = (
        sorted(table.select(["chunk", "count", "group"]).to_pylist(), key=str)
        for table in (partition, pq.read_table(tmp_path / "out"))
    )
    assert one == other


@pytest.mark.parametrize("packed", [False, True])
def test_shares_are_of_the_text(tmp_path, packed):
    """Ten files of one size; the words of the fifth, and of the last, are new, and all others pack well."""
    folder = tmp_path / "in"
    folder.mkdir()
    for k in range(10):
        words = [f"{chr(97 + j // 26)}{chr(97 + j % 26)}" for j in range(600)] if k in {5, 9} else ["zz"] * 600
        text = "".join(f" {word}{'x' * (k == 9)}{'y' * (k != 9)}" for word in words).encode()
        (folder / f"{k}.txt").write_bytes(gzip.compress(text) if packed else text)
    result, _ = counted(folder)
    assert (result.merged.different, result.merged.before) == (1201, (1, 601))


@pytest.mark.skipif(os.name != "posix", reason="it is not known there who is alive")
def test_one_count_at_a_time(tmp_path):
    folder = write(tmp_path / "in", texts(3, 300, seed=9))
    unfinished = tmp_path / "out.unfinished"
    unfinished.mkdir()
    (unfinished / "spill").mkdir()
    alive = unfinished / f".journal.{os.getppid()}-turn.tmp"
    alive.touch()
    second = call(folder, "-o", tmp_path / "out")
    assert (second.returncode, "another count is writing it" in second.stderr) == (2, True)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    alive.rename(unfinished / f".journal.{gone.pid}-turn.tmp")
    (tmp_path / f".out.{gone.pid}-0a1b.tmp").write_bytes(b"half")
    assert call(folder, "-o", tmp_path / "out").returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]


@pytest.mark.slow
def test_a_full_disk_loses_nothing(tmp_path):
    folder = write(tmp_path / "in", texts(20, 3000, seed=7))
    limit = "import sys; sys.dont_write_bytecode = True; import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000)); "
    full = call(folder, "-o", tmp_path / "out", before=limit)
    assert (full.returncode, "Traceback" in full.stderr) == (1, False)
    assert call(folder, "-o", tmp_path / "out").returncode == 0
    assert rows(tmp_path / "out") == expected(texts(20, 3000, seed=7), "gpt4")


@pytest.mark.slow
def test_standard_input(tmp_path):
    assert call("-", "-o", tmp_path / "out", input="no no\nno!").returncode == 0
    assert rows(tmp_path / "out") == expected(["no no\nno!"], "gpt4")


@pytest.mark.nightly
@pytest.mark.slow
def test_a_bad_byte_is_named_by_another_process(tmp_path, small):
    folder = write(tmp_path / "in", texts(5, 300, seed=8))
    (folder / "003.txt").write_bytes(b"good\nbad \xff\n")
    with pytest.raises(InputError, match=r"003\.txt:2:5: not UTF-8: byte 0xff"):
        counted(folder, processes=2)


def test_several_splits_in_one_pass(tmp_path):
    """Each table is the one that its split alone gives."""
    documents = texts(30, 200)
    asked = ["count", str(write(tmp_path / "in", documents)), "-o", str(tmp_path / "all.counts"), "--pattern", "gpt2"]
    assert CliRunner().invoke(command, [*asked, "--pattern", "o200k", "--log", "none"]).exit_code == 0
    for pattern in ("gpt2", "o200k"):
        assert rows(tmp_path / f"all.{pattern}.counts") == expected(documents, pattern)
        assert read_facts(tmp_path / f"all.{pattern}.counts").pattern_name == pattern
    assert not (tmp_path / "all.counts").exists()
    with pytest.raises(InputError, match="by itself"):
        raise CliRunner().invoke(command, [*asked, "--pattern", "[ab]+|."]).exception
