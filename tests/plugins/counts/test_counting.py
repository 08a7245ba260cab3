"""Counts of files and documents: the same as a dict in Python, whatever is cut where and whoever counts."""

import csv
import gzip
import hashlib
import io
import json
import os
import random
import re
import subprocess
import sys

import fsspec
import pytest
from click.testing import CliRunner

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
from tokbench_plugins.bpe import PATTERNS
from tokbench_plugins.bpe.fast.train import count_chunks
from tokbench_plugins.counts import local, merge, pieces, read
from tokbench_plugins.counts.count import count_partition, count_table, table_of
from tokbench_plugins.counts.facts import PARTS, SEAL, named_span, part_of, read_facts, sha256_of
from tokbench_plugins.counts.merge import add_tables
from tokbench_plugins.counts.pieces import Reading
from tokbench_plugins.counts.read import read_counts

MEMORY = 1 << 30
ALPHABET = [
    "a",
    "b",
    "B",
    "é",
    "東",
    "京",
    "1",
    "23",
    " ",
    " ",
    "\n",
    "\n\n",
    " \n",
    "\r\n",
    "\t",
    "'s",
    "'",
    ".",
    "-",
    "/",
    "\u3000",
    "́",
    "🎉",
]


def texts(number, longest, seed=0):
    rng = random.Random(seed)
    return ["".join(rng.choices(ALPHABET, k=rng.randrange(longest))) for _ in range(number)]


def write(folder, documents):
    folder.mkdir(exist_ok=True)
    for number, text in enumerate(documents):
        (folder / f"{number:03}.txt").write_bytes(text.encode())
    return folder


def counted(folder, output=None, **options):
    """The chunks in their order with their counts, and the table."""
    task = {
        "least": 1,
        "processes": 1,
        "parts": False,
        **{k: options.pop(k) for k in ("least", "processes", "parts") if k in options},
    }
    output = output or folder.with_suffix(".counts")
    result = local.count(
        local.Task(
            tuple(find_texts([str(folder)]).files), Reading(**{"pattern": "gpt4", **options}), output, MEMORY, **task
        ),
        lambda _: None,
    )
    return result, rows(output)


def rows(path):
    return pq.read_table(path).select(["chunk", "count"]).to_pydict()


def expected(documents, pattern):
    counts = count_chunks(documents, pattern)
    return {"chunk": [chunk.encode() for chunk in counts], "count": list(counts.values())}


def met(result, kind):
    [found] = [met for name, met in result.amount.faults.met.items() if name.startswith(kind)]
    return found


@pytest.fixture
def small(monkeypatch):
    """Pieces and blocks of a few bytes."""
    monkeypatch.setattr(pieces, "_PIECE", 40)
    monkeypatch.setattr(pieces, "_BLOCK", 17)
    monkeypatch.setattr(local, "_SMALL", 0)


@pytest.mark.parametrize("pattern", [*PATTERNS, r"\w+|\W"])
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
    system.pipe("/texts/a.txt", b"no no")
    done = CliRunner().invoke(command, ["count", "memory://texts/*.txt", "-o", str(tmp_path / "out")])
    assert rows(tmp_path / "out") == {"chunk": [b"no", b" no"], "count": [1, 1]}


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


@pytest.mark.parametrize("numbers", [[-1], [1 << 60], 1 << 33])
def test_numbers_out_of_range(numbers):
    with pytest.raises(InputError, match="number"):
        count_table(["a"], numbers)


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


def test_other_splits_are_refused_by_name(tmp_path):
    for name in ("gpt2", "gpt4"):
        pq.write_table(count_table(["a"], [0], pattern=name), tmp_path / name)
    with pytest.raises(InputError, match=r"gpt2 and gpt4"):
        add_tables([tmp_path / "gpt2", tmp_path / "gpt4"], tmp_path / "out", MEMORY)


def test_part_of_takes_turns():
    import numpy as np

    assert set(part_of(np.arange(0, 64 << 20, 1 << 20))) == set(range(PARTS))


@pytest.mark.parametrize("damage", ["cut", "other"])
def test_files_that_are_no_tables(tmp_path, damage):
    path = tmp_path / "a.counts"
    pq.write_table(count_table(["a b"], [0]), path)
    path.write_bytes(path.read_bytes()[:-9]) if damage == "cut" else pq.write_table(pa.table({"text": ["a"]}), path)
    with pytest.raises(InputError, match=r"a\.counts"):
        read_facts(path)


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


CALL = "from tokbench.cli.main import main; import sys; sys.argv = ['tokbench', 'count', *sys.argv[1:]]; main()"


def call(*arguments, before="", **more):
    command = [sys.executable, "-c", before + CALL, *map(str, arguments), "--log", "none"]
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


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


@pytest.mark.slow
def test_a_bad_byte_is_named_by_another_process(tmp_path, small):
    folder = write(tmp_path / "in", texts(5, 300, seed=8))
    (folder / "003.txt").write_bytes(b"good\nbad \xff\n")
    with pytest.raises(InputError, match=r"003\.txt:2:5: not UTF-8: byte 0xff"):
        counted(folder, processes=2)
