"""Counting by hand: rows, parts and pieces of text, and what the command prints."""

import json
from dataclasses import replace
from multiprocessing import Pipe
from pathlib import Path

import pytest
from click.testing import CliRunner
from count_tables import MEMORY, write

pytest.importorskip("numba")
pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tokbench.cli.main import tokbench as command
from tokbench.foundation.errors import InputError
from tokbench.text.faults import Faults, Met
from tokbench_plugins.bpe import PATTERNS
from tokbench_plugins.bpe.compiled.count import Counts
from tokbench_plugins.counts import local
from tokbench_plugins.counts import merge as merging
from tokbench_plugins.counts.command import _facts, _summary
from tokbench_plugins.counts.count import Block, BlockCounter, count_partition, count_table
from tokbench_plugins.counts.facts import CountFacts, position, read_facts
from tokbench_plugins.counts.local import Task, _place
from tokbench_plugins.counts.pieces import Amount, Piece, PieceReader, Reading, _line_starts, pieces
from tokbench_plugins.counts.rows import check_counts, gather, rows_of
from tokbench_plugins.counts.source import CountsOptions, CountsSource

FILE, DOCUMENT, MB = 1 << 40, 257 << 20, 1 << 20
GPT4 = PATTERNS["gpt4"]


def counts_of(*pairs):
    data = b"".join(chunk for chunk, _ in pairs)
    offsets = np.cumsum([0, *(len(chunk) for chunk, _ in pairs)]).astype(np.int64)
    return Counts(np.frombuffer(data + bytes(16), np.uint8), offsets, np.array([n for _, n in pairs], np.int64))


def test_rows_are_gathered_as_given():
    pairs = [(b"one", 1), (b"", 2), (b"three", 3)]
    [batch] = rows_of(counts_of(*pairs), np.array([5, 6, 7]), "g", 3)
    assert batch.to_pydict() == {
        "chunk": [b"one", b"", b"three"], "count": [1, 2, 3], "first": [5, 6, 7], "group": ["g"] * 3, "part": [3] * 3,
    }  # fmt: skip
    [unknown] = rows_of(counts_of(*pairs), None, "", 0)
    assert unknown.to_pydict()["first"] == [None] * 3
    joined = gather(iter([batch, batch.slice(1)]))
    assert [*joined.chunks()] == [*pairs, *pairs[1:]]
    long = counts_of((b"x" * 700_000, 1), *((b"yy", 2) for _ in range(70_000)))
    some = [*rows_of(long, None, "", 0), *rows_of(long, None, "", 0)]
    assert gather(iter(some)).counts.sum() == 2 * (1 + 140_000)
    assert gather(iter(some)).offsets[-1] == 2 * 840_000
    assert gather(iter([])).counts.size == 0
    for size in ((1 << 20) - 16, (1 << 20) - 15, (1 << 20) - 1, (1 << 20) + 16):  # the room at first, with 16 behind
        made = gather(rows_of(counts_of((b"x" * size, 1)), None, "", 0))
        assert (made.data.size, made.data[-16:].any()) == (size + 16, False)


@pytest.mark.parametrize(
    ("pairs", "pattern", "reason"),
    [
        ([(b"a", 1), (b"b", 0)], "gpt2", "t: row 2: a count of 0: counts are 1 or more; count again"),
        ([(b"a", -3)], "gpt2", "t: row 1: a count of -3"),
        ([(b"a b", 1)], "gpt2", "t: holds chunks that the split gpt2 does not give"),
        ([(b"", 1)], "gpt2", "split gpt2"),
        ([(b"\xc3", 1), (b"\xa9", 1)], "gpt2", "split gpt2"),
        ([(b"\xff", 1)], "gpt2", "split gpt2"),
        ([(b"ab", 1)], "[a-z]|.", "does not give"),
        ([(b"a", 1), (b" b", 2)], "gpt2", ""),
        ([(b"a", 1), (b"b", 2)], "[a-z]|.", ""),
        ([], "gpt2", ""),
    ],
)
def test_chunks_that_no_split_gives(pairs, pattern, reason):
    facts = CountFacts(PATTERNS.get(pattern, pattern))
    if reason:
        with pytest.raises(InputError, match=reason):
            check_counts(counts_of(*pairs), facts, "t")
    else:
        check_counts(counts_of(*pairs), facts, "t")
    if all(count > 0 for _, count in pairs):
        check_counts(counts_of(*pairs), replace(facts, superwords={"by": 1}), "t")


def test_parts_of_a_block_by_hand():
    """Documents of 3 and 2 bytes at the end of the first megabyte, and of the second."""
    data = np.frombuffer(b"a b" + b"cd" + bytes(16), np.uint8)
    block = Block(data, np.array([0, 3, 5]), np.array([MB - 1, 2 * MB]), "g")
    counter = BlockCounter("gpt2", parts=True)
    counter.add(block)
    rows = [row for batch in counter.rows() for row in batch.to_pylist()]
    assert [(row["chunk"], row["first"], row["part"]) for row in rows] == [
        (b"a", MB - 1, 0), (b" b", MB, 1), (b"cd", 2 * MB, 2),
    ]  # fmt: skip
    whole = BlockCounter("[a-z]|.")
    whole.add(block)
    whole.add(block._replace(firsts=np.array([7, 8])))
    rows = [row for batch in whole.rows() for row in batch.to_pylist()]
    assert [(row["chunk"], row["count"], row["part"]) for row in rows] == [
        (b"a", 2, 0), (b" ", 2, 0), (b"b", 2, 0), (b"c", 2, 0), (b"d", 2, 0),
    ]  # fmt: skip
    assert whole.n_bytes > 0 == BlockCounter("gpt2").n_bytes


@pytest.mark.parametrize(
    "batches",
    [
        ["no", "nein"],
        [{"text": "no"}, {"text": "nein"}],
        [{"text": ["no", "nein"]}],
        [{"text": np.array(["no", "nein"])}],
        [pa.table({"text": ["no", "nein"]})],
    ],
)
def test_batches_of_every_kind(batches):
    table = count_partition(batches, 3, pattern="gpt2")
    assert table.select(["chunk", "count", "first"]).to_pydict() == {
        "chunk": [b"no", b"nein"], "count": [1, 1], "first": [3 * FILE, 3 * FILE + 2],
    }  # fmt: skip
    facts = CountFacts.of(table.schema.metadata, "t")
    assert (facts.documents, facts.bytes, facts.groups, facts.numbered) == (2, 6, ("",), True)
    assert facts.spans == ((3 * FILE, 4 * FILE),)
    assert count_partition([], None, pattern="gpt2").num_rows == 0


def test_a_thousand_documents_are_a_batch():
    table = count_table(["ab"] * 2001, 0, pattern="gpt2")
    assert table.select(["count", "first"]).to_pydict() == {"count": [2001], "first": [0]}
    facts = CountFacts.of(table.schema.metadata, "t")
    assert (facts.documents, facts.bytes) == (2001, 4002)
    late = count_table(["ab"] * 1000 + ["c"], 0, pattern="gpt2")
    assert late["first"].to_pylist() == [0, 2000]
    with pytest.raises(ValueError, match="longer"):
        count_table(["a", "b"], [0])
    rows = [{"text": "a", "lang": "en"}] * 1000 + [{"text": "b", "lang": "de"}, {"text": "c", "lang": "de"}]
    partition = count_partition(rows, group="{lang}")
    assert CountFacts.of(partition.schema.metadata, "t").groups == ("de", "en")
    assert partition["count"].to_pylist() == [1, 1, 1000]
    numbered = count_table(["ab"] * 1000 + ["c"], range(1001), pattern="gpt2")
    assert numbered["first"].to_pylist() == [0, 1000 * DOCUMENT]


@pytest.mark.parametrize(
    ("sizes", "share", "place"),
    [
        ({"0": 10, "2": 30}, 0.5, (2, 10)),
        ({"10": 30, "2": 10}, 0.1, (2, 4)),
        ({"0": 10}, 0.9, (0, 9)),
        ({"0": 5, "1": 5}, 0.5, (1, 0)),
        ({}, 0.5, (0, 0)),
    ],
)
def test_where_a_share_of_the_text_is(sizes, share, place):
    assert _place(sizes, share) == position(*place)


def test_amounts_add_up():
    one, two = Amount(3, 1, Faults(), {"0": 3}), Amount(4, 2, Faults(met={"k": Met(2, "w", 9)}), {"0": 4, "1": 5})
    one.add(two)
    assert (one.bytes, one.documents, one.sizes) == (7, 3, {"0": 7, "1": 5})
    assert one.faults.met["k"].times == 2
    assert Piece(0, "p", 3, 10).size == 7


@pytest.mark.parametrize(
    ("data", "starts"),
    [
        (b"", [0]),
        (b"a", [0, 1]),
        (b"\n\na\n\nb\r\n\r\nc", [2, 5, 10, 11]),
        (b"a\rb\n", [0, 4]),
        (b"\r\n", [2]),
    ],
)
def test_where_lines_begin(data, starts):
    assert _line_starts(np.frombuffer(data, np.uint8)).tolist() == starts


def test_files_are_cut_where_they_can_be(tmp_path, monkeypatch):
    monkeypatch.setattr("tokbench_plugins.counts.pieces._PIECE", 4)
    (tmp_path / "a.txt").write_text("abcdefghij")
    (tmp_path / "b.jsonl").write_text('{"text": "x"}')
    (tmp_path / "c.csv").write_text("text\nab\n")
    files = [tmp_path / name for name in ("a.txt", "b.jsonl", "c.csv")]

    def cut(pattern, document="file"):
        return [(piece.file, piece.start, piece.end) for piece in pieces(files, Reading(pattern, document))]

    text, rows = [(0, 0, 4), (0, 4, 8), (0, 8, 10)], [(1, 0, 4), (1, 4, 8), (1, 8, 12), (1, 12, 13)]
    assert cut(GPT4) == [*text, *rows, (2, 0, 8)]
    assert cut("a|b") == [(0, 0, 10), *rows, (2, 0, 8)]
    assert cut("a|b", "line") == [*text, *rows, (2, 0, 8)]


def test_what_a_count_must_have_to_go_on(tmp_path):
    (tmp_path / "a.txt").write_text("abc")
    task = Task((tmp_path / "a.txt",), Reading(GPT4, group="{stem}"), tmp_path / "out", MEMORY)
    same = replace(task, reading=task.reading._replace(errors="skip", nulls="skip"), processes=2, memory=1)
    assert task.settings() == same.settings()
    for other in (
        replace(task, parts=True),
        replace(task, others={"x": tmp_path}),
        replace(task, reading=Reading("x")),
    ):
        assert other.settings() != task.settings()
    assert task.folder == tmp_path / "out.unfinished"
    [[path, size, _]] = task.stamps()
    assert (path, size) == (str(tmp_path / "a.txt"), 3)


def test_a_table_as_a_corpus(tmp_path):
    pq.write_table(count_table(["b b a"], 0, pattern="gpt2", group="de"), tmp_path / "named.counts")
    pq.write_table(count_table(["b"], 0, pattern="gpt2"), tmp_path / "plain.counts")
    source = CountsSource(CountsOptions(path=str(tmp_path / "named.counts")))
    assert [*source.chunks()] == [("b", 1, "de", 0), (" b", 1, "de", 0), (" a", 1, "de", 0)]
    assert (source.groups, source.files) == ({"de": 3}, [tmp_path / "named.counts"])
    assert (source.counts.documents, source.counts.bytes, source.counts.notes) == (1, 5, ())
    plain = [CountsSource(CountsOptions(path=str(tmp_path / "plain.counts"), group=name)) for name in ("", "x")]
    assert [[*one.groups] for one in plain] == [["plain"], ["x"]]
    with pytest.raises(InputError, match=r"named\.counts: counts have no documents"):
        source.documents()


def test_what_the_command_prints(tmp_path):
    folder = write(tmp_path / "in", ["b a b b c", "a d d"])

    def said(*words):
        done = CliRunner().invoke(command, ["count", *map(str, words), "--log", "none"])
        assert done.exit_code == 0, done.output
        return done.stdout

    table = tmp_path / "all.counts"
    one = said(folder, "-o", table, "--pattern", "gpt2", "--min-count", "2").splitlines()
    assert one[0] == f"{table}: 14 B, 2 documents, 4 pre-tokens, 2 different (split gpt2)"
    assert one[-2].startswith("4 different pre-tokens that occur less than 2 times are left out: 4 pre-tokens, 6 bytes")
    train = f"tokbench train --backend regex_bpe:gpt2 --counts {table} --vocab-size 32768"
    assert one[-1] == f"Training on it takes about 300 MB. Next: {train}"
    assert json.loads(said("--add", table, "-o", tmp_path / "again", "--json")) == {
        "table": str(tmp_path / "again"), "pattern": "gpt2", "bytes": 14, "documents": 2, "pretokens": 4,
        "different": 2, "different_bytes": 4, "training_memory": 300_000_220, "fitting_min_count": 1,
        "gaps": [], "left_out": {"below": 2, "different": 4, "pretokens": 4, "bytes": 6}, "resumed": 0, "notes": [],
        "added": "", "new_in_last_tenth": None, "growth": None, "too_large": "",
    }  # fmt: skip
    for number in (0, 2):
        pq.write_table(count_table(["x"], number, pattern="gpt2"), tmp_path / f"{number}.part")
    added = said("--add", tmp_path / "0.part", tmp_path / "2.part", "--gaps", "-o", tmp_path / "parts")
    assert "Added: parts 0 to 2, 1 gaps." in added.splitlines()
    two = json.loads(said(folder, "--pattern", "gpt2", "--pattern", "gpt4", "-o", table, "--json"))
    assert [one["pattern"] for one in two["tables"]] == ["gpt2", "gpt4"]
    with pytest.raises(InputError, match=r"^--pattern: unknown split pattern 'gpt-2'"):
        raise CliRunner().invoke(command, ["count", str(folder), "-o", str(table), "--pattern", "gpt-2"]).exception


def test_where_pieces_begin_and_end(tmp_path, monkeypatch):
    """Cuts are before the second, third and fourth word: at 3, 7 and 11 of 15 bytes; é has two."""
    monkeypatch.setattr("tokbench_plugins.counts.pieces._PIECE", 4)
    (tmp_path / "a.txt").write_text("abc def ghi jkl")
    (tmp_path / "b.txt").write_text("ab\ncdé éf\ngh")

    def read(name, **how):
        texts = []
        for piece in pieces([tmp_path / name], Reading(GPT4, **how)):
            reader = PieceReader(piece, Reading(GPT4, **how))
            blocks = [bytes(block.data[block.offsets[0] : block.offsets[-1]]).decode() for block in reader]
            texts.append(("".join(blocks), reader.amount.bytes, reader.amount.documents))
        return texts

    assert read("a.txt") == [("abc def", 7, 1), (" ghi", 4, 0), (" jkl", 4, 0), ("", 0, 0)]
    assert read("b.txt") == [("ab\ncdé", 7, 1), (" éf\n", 5, 0), ("", 0, 0), ("gh", 2, 0)]
    assert read("b.txt", document="line") == [("ab\ncdé éf\n", 12, 2), ("", 0, 0), ("", 0, 0), ("gh", 2, 1)]


class Worker:
    """Finds the path of each piece, and reports its start."""

    def count(self, piece, report):
        report(piece.start)
        if piece.path == "bad":
            raise InputError("bad")
        return piece.path or None

    def finish(self):
        return "end"


def test_what_a_process_answers(monkeypatch):
    monkeypatch.setattr(local, "_REPORT_S", -1)
    ours, theirs = Pipe()
    for piece in (Piece(0, "a", 5, 9), Piece(1, "", 7, 9), None):
        ours.send(piece)
    local._process(Worker, theirs)
    said = [ours.recv() for _ in range(5)]
    assert said == [5, (Piece(0, "a", 5, 9), "a"), 7, (Piece(1, "", 7, 9), None), (None, "end")]
    ours.send(Piece(0, "bad", 1, 2))
    local._process(Worker, theirs)
    assert [ours.recv(), str(ours.recv())] == [1, "bad"]
    monkeypatch.setattr(local, "_REPORT_S", 9)
    ours.send(Piece(0, "a", 5, 9))
    ours.send(None)
    local._process(Worker, theirs)
    assert ours.recv() == (Piece(0, "a", 5, 9), "a")
    ours.close()
    local._process(Worker, theirs)  # whoever asked is gone


def test_pieces_are_gone_through_here(monkeypatch):
    reports = []
    left = [Piece(0, "a", 0, 10), Piece(1, "", 0, 5), Piece(2, "b", 3, 4)]
    assert [*local.through(left, Worker, 2, reports.append)] == ["a", "b", "end"]
    assert reports == [0, 10, 15 + 3]


def test_places_of_standard_input(tmp_path, monkeypatch):
    monkeypatch.setattr("tokbench_plugins.counts.pieces._BLOCK", 8)
    for before, place in ((b"aa bb\ncc dd\n" * 4 + b"ok ", "9:4"), (b"aaa bbb ccc ddd eee ", "1:21"), (b"", "1:1")):
        asked = ["count", "-", "-o", str(tmp_path / "out"), "--log", "none"]
        done = CliRunner().invoke(command, asked, input=before + b"\xff bb\n")
        assert f":{place}: not UTF-8" in str(done.exception), before


def test_what_is_said_of_a_count(tmp_path, capsys):
    facts = CountFacts(GPT4, 2, 3_000_000)
    merged = merging.Merged(facts, different=400, pretokens=1000, chunk_bytes=1200, before=(200, 300))
    counted = local.Counted({tmp_path: merged}, Amount(faults=Faults(met={"bad bytes": Met(2, "a:1", 0)})), 1_500_000)
    facts_of = _facts(merged, counted, Path("a b"))
    _summary(facts_of)
    said = capsys.readouterr().out.splitlines()
    assert said[:2] == [
        "1.50 MB were counted by an earlier call.",
        "a b: 3.00 MB, 2 documents, 1,000 pre-tokens, 400 different (split gpt4)",
    ]
    assert " ".join(said[2:4]).startswith("The last tenth of the text brought 25.0% of them. They grow as text^1.00")
    assert facts_of["notes"] == ["bad bytes: 2, the first at a:1"]
    assert facts_of["notes"][0] in said
    assert "--counts 'a b' --vocab-size 32768" in said[-1]
    large = merged._replace(chunk_bytes=1 << 40, fitting=7, before=(0, 0))
    _summary(_facts(large, None, Path("t")))
    assert capsys.readouterr().out.splitlines()[1:] == [
        f"It cannot be trained on: {merging.too_large(Path('t'), (1 << 40) + 401, 7)}"
    ]


def test_json_holds_what_was_replaced_or_left_out(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b'{"text": null}\n{"text": "a"}\n')
    (tmp_path / "b.txt").write_bytes(b"n\xe9e")
    asked = ["count", str(tmp_path / "?.*"), "-o", str(tmp_path / "out"), "--nulls", "skip", "--errors", "replace"]
    shown, facts = (CliRunner().invoke(command, [*asked, "--log", "none", *more]) for more in ([], ["--json"]))
    notes = json.loads(facts.stdout)["notes"]
    assert [note.partition("the first at ")[2].rpartition("/")[2] for note in notes] == ["a.jsonl:1", "b.txt:1:2"]
    assert set(notes) <= set(shown.stdout.splitlines())


def test_options_that_are_refused(tmp_path):
    (tmp_path / "a.conllu").write_text("# text = né\n1\tné\t" + "\t".join("_" * 8) + "\n\n")
    done = CliRunner().invoke(command, ["count", str(tmp_path), "-o", str(tmp_path / "x"), "--memory", "much"])
    assert (done.exit_code, "much" in done.stderr) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["a.conllu"]
    table = tmp_path / "out.counts"
    asked = ["count", str(tmp_path / "a.conllu"), "-o", str(table), "--group", "{stem}", "--memory", "1GB"]
    assert CliRunner().invoke(command, [*asked, "--intervals"]).exit_code == 0
    assert (read_facts(table).groups, read_facts(table).parts) == (("a",), True)
