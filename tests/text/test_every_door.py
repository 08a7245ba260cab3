"""Odd files through every door: one number of bytes, or one refusal in the same words."""

import gzip
import io
import json

import pytest
from click.testing import CliRunner

pytest.importorskip("duckdb")
pytest.importorskip("numba")
pytest.importorskip("pyarrow")
pytest.importorskip("zstandard")

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

import tokbench
from tokbench.cli.main import tokbench as command
from tokbench.command import texts_by_group
from tokbench.plugin import InputError, silent
from tokbench.text.find import find_texts

pytestmark = pytest.mark.usefixtures("no_process")

TEXTS = ["née; an egg", 'two\nlines, and a "quote"', "देवनागरी"]
SIZE = sum(len(text.encode()) for text in TEXTS)


def rows(field="text", *more):
    return "".join(json.dumps({"id": 1, field: text}) + "\n" for text in [*TEXTS, *more]).encode()


def parquet(values, kind):
    buffer = io.BytesIO()
    pq.write_table(pa.table({"text": pa.array(values, kind)}), buffer)
    return buffer.getvalue()


def long_window(data):
    parameters = zstandard.ZstdCompressionParameters.from_level(3, window_log=31, enable_ldm=True, write_content_size=0)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    return packer.compress(data) + packer.flush()


def table(delimiter):
    quoted = ['"' + text.replace('"', '""') + '"' for text in TEXTS]
    return "".join(f"{delimiter.join(row)}\r\n" for row in [("id", "text"), *(("1", text) for text in quoted)]).encode()


WORDS = "".join(f"# text = a b\n1\ta{'	_' * 8}\n2\tb{'	_' * 8}\n\n" for _ in range(2)).encode()
PDF = b"%PDF-1.4\n1 0 obj <</Type /Catalog>> endobj\n"
OFFICE = b"PK\x03\x04\x14\0\6\0\x08\0\0\0!\0[Content_Types].xml"

ODD: dict[str, tuple[bytes, int | str]] = {
    "mark.txt": ("\ufeffnée\n".encode(), 8),
    "crlf.txt": (b"one\r\ntwo\r\n", 10),
    "cr.txt": (b"one\rtwo", 7),
    "nul.txt": (b"a\0b first\n", 10),
    "no_end.txt": (b"one\ntwo", 7),
    "newlines.txt": (b"\n\n\n", 3),
    "packed.txt.gz": (gzip.compress(b"one\n"), 4),
    "packed_without_ending.txt": (gzip.compress(b"one\n"), 4),
    "rows.jsonl": (rows(), SIZE),
    "content.jsonl": (rows("content"), SIZE),
    "body.ndjson": (rows("body"), SIZE),
    "sentence.jsonl": (rows("sentence"), SIZE),
    "mark.jsonl": (b"\xef\xbb\xbf" + rows(), SIZE),
    "blank.jsonl": (rows().replace(b"\n", b"\r\n\r\n"), SIZE),
    "packed.jsonl.gz": (gzip.compress(rows()), SIZE),
    "packed.jsonl.zst": (zstandard.compress(rows()), SIZE),
    "window.jsonl.zst": (long_window(rows()), SIZE),
    "a.parquet": (parquet(TEXTS, pa.string()), SIZE),
    "a.csv": (table(","), SIZE),
    "a.tsv": (table("\t"), SIZE),
    "a.tsv.gz": (gzip.compress(table("\t")), SIZE),
    "utf16.csv": (table(",").decode().encode("utf-16"), SIZE),
    "a.conllu": (WORDS, 6),
    "mark.conllu": (b"\xef\xbb\xbf" + WORDS, 6),
    "de.py": (b"x = 1\n", 6),
    "rows.json": (rows(), SIZE),
    "large.parquet": (parquet(TEXTS, pa.large_string()), SIZE),
    "dictionary.parquet": (parquet(TEXTS, pa.dictionary(pa.int32(), pa.string())), SIZE),
    "not_packed.txt.gz": (b"one\n", 4),
    "members.txt.gz": (gzip.compress(b"one\n") + gzip.compress(b"two\n"), 8),
    "skipped.txt.zst": (b"\x50\x2a\x4d\x18\1\0\0\0x" + zstandard.compress(b"one\n"), 4),
    "empty.txt": (b"", "empty"),
    "empty.jsonl": (b"", "empty"),
    "header.csv": (b"id,text\n", "empty"),
    "utf16.txt": ("née\n".encode("utf-16"), "UTF-16 text, not text in UTF-8; convert it with: iconv"),
    "latin.txt": ("née\nvoilà\n".encode("latin-1"), "not UTF-8: byte 0xe9 (invalid continuation byte); if it is latin-1, write encoding: latin-1"),
    "zeros.txt": (b"\xff\0\0\0\1\2", "a binary file (byte 2 is zero), not text in UTF-8; leave it out"),
    "a.pdf": (PDF, "a PDF file, not text in UTF-8; extract the text first"),
    "pdf.txt": (PDF, "a PDF file, not text in UTF-8; extract the text first"),
    "a.png": (b"\x89PNG\r\n\x1a\n\0\0", "a PNG image, not text in UTF-8; extract the text first"),
    "a.docx": (OFFICE, "an office document, not text in UTF-8; extract the text first"),
    "a.txt.bz2": (b"BZh91AY&SY\0", "packed with bzip2, not text in UTF-8; unpack it first"),
    "damaged.txt.zst": (zstandard.compress(b"one")[:4] + b"none of it", "damaged or cut off"),
    "cut.txt.gz": (gzip.compress(b"one two\n" * 99)[:-9], "damaged or cut off"),
    "lone.jsonl": (rows("text", "half \ud83d"), "field 'text' holds a lone surrogate, so it is not Unicode"),
    "number.jsonl": (b'{"text": 5}\n', "field 'text' is not a string"),
    "nested.jsonl": (b'{"text": {"text": "a"}}\n', "field 'text' is not a string"),
    "null.jsonl": (b'{"text": null, "body": "a"}\n', "field 'text' is null; leave such rows out with the option 'nulls: skip'"),
    "none.jsonl": (b'{"x": "a"}\n', "has no field 'text', 'content', 'body' or 'sentence'; it has x"),
    "list.jsonl": (b'["a"]\n', "not a JSON object; write an object a line"),
    "array.jsonl": (b'[\n{"text": "a"}\n]\n', "not JSON: Expecting value; write an object a line"),
    "list.parquet": (parquet([["a"]], pa.list_(pa.string())), "field 'text' is not a string"),
    "a.tar.gz": (gzip.compress(b"a.txt".ljust(257, b"\0") + b"ustar".ljust(300, b"\0")), "a tar file, not text in UTF-8; unpack it first"),
    "bad.jsonl": (b'{"text": "a"}\n{"text": \n', "not JSON: Expecting value"),
    "bytes.parquet": (parquet([b"a"], pa.binary()), "field 'text' is not a string"),
    "null.parquet": (parquet(["a", None], pa.string()), "field 'text' is null; leave such rows out"),
    "torn.parquet": (parquet(TEXTS, pa.string())[:-9], "not a Parquet file that can be read"),
    "ragged.csv": (b"id,text\n1\n", "has not as many fields as the header"),
    "torn.conllu": (b"# text = a\n1\ta\n", "has 2 columns, CoNLL-U has 10"),
}  # fmt: skip
"""Files, each with the bytes of its documents, or what every door says."""

SOURCES = {
    "json": "jsonl",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "csv": "csv",
    "tsv": "csv",
    "parquet": "parquet",
    "conllu": "conllu",
}


def invoke(*arguments):
    outcome = CliRunner().invoke(command, [*map(str, arguments)])
    if isinstance(outcome.exception, InputError):
        raise outcome.exception
    assert outcome.exit_code == 0, outcome.output
    return json.loads(outcome.stdout)


def cost(path):
    return invoke("cost", path, "-t", "utf8_bytes", "--json")["tokenizers"][0]["tokens"]


def shown(path):
    texts = invoke("show", "-f", path, "-t", "utf8_bytes", "--json")["texts"]
    return sum(len(text["tokenizers"][0]["tokens"]) for text in texts)


def counted(path):
    output = path.parent.parent / "out.counts"
    return invoke("count", path, "-o", output, "--processes", 1, "--log", "none", "--json")["bytes"]


def estimated(path):
    return invoke("cost", path, "-t", "utf8_bytes", "--sample", "100%", "--json")["tokenizers"][0]["tokens"]


def configuration(path):
    file = path if path.is_file() else next(iter(path.iterdir()))
    ending = next((part for part in reversed(file.name.split(".")) if part in SOURCES), "txt")
    corpus = {"source": SOURCES.get(ending, "text"), "path": str(path if path.is_file() else path / "**/*")}
    return {"schema": "tokbench/1", "name": "odd", "corpora": {"c": corpus}, "tokenizers": {"b": "utf8_bytes"}, "metrics": ["compression"]}  # fmt: skip


def run(path):
    results = tokbench.run(configuration(path), workers=0, store=False)
    [value] = [cell.value for cell in results.cells if (cell.metric, cell.group) == ("tokens", "*")]
    return value


def trained(path):
    asked = ["--backend", "naive_bpe", "--vocab-size", 256, "--holdout", 0, "--document", "file", "--no-store"]
    options = ["--log", "none", "--json", "-o", path.parent.parent / "a.bpe.json"]
    return invoke("train", "--text", path, *asked, *options)["tokenizers"][0]["text_bytes"]


def pinned(path):
    pins = pytest.importorskip("tokbench_identity.pins.pin")
    config = path.parent.parent / "run.yaml"
    config.write_text(json.dumps(configuration(path)), encoding="utf-8")
    lock = pins.pin(pins.Request(config), config.parent, silent).lock
    results = tokbench.run(configuration(path), workers=0, store=False)
    assert lock.corpora["c"].sha256 == results.corpora["c"].sha256
    return results.corpora["c"].bytes


def grouped(path):
    """The texts that the configuration of ``tokbench new`` reads; of plain text its lines."""
    return sum(len(text.encode()) for texts in texts_by_group(str(path)).values() for text in texts)


def whole(path):
    """The documents that ``cost --budget`` and ``adapt`` read."""
    return sum(len(text.encode()) for texts in texts_by_group(str(path), "file").values() for text in texts)


DOORS = {
    "cost": cost, "show": shown, "count": counted, "total": estimated, "run": run, "train": trained, "pin": pinned, "new": grouped,
    "whole": whole,
}  # fmt: skip
LINES = {
    "new": {name for name in ODD if ".txt" in name or name == "de.py"},
    "train": {"newlines.txt"},
    "whole": {"newlines.txt"},
}
"""Doors whose documents of these files are lines."""


def outcome(door, path):
    try:
        return DOORS[door](path)
    except InputError as error:
        return str(error)


def check(door, name, folder):
    data, expected = ODD[name]
    path = folder / "in" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    if isinstance(expected, int) and name in LINES.get(door, ()):
        return
    places = (path.parent,) if door == "train" else (path, path.parent)  # a training is compared on 2,000 texts
    for place in places:
        found = outcome(door, place)
        if isinstance(expected, int):
            assert found == expected, (door, place, found)
        elif not (door in {"run", "pin"} and place.is_dir()):
            assert isinstance(found, str), (door, place, found)
            assert expected in found, (door, place, found)


def kinds(name):
    """What a file is a case of: its format, how it is packed, and what is said of it."""
    expected = ODD[name][1]
    packed = name.rpartition(".")[2]
    form = next((part for part in reversed(name.split(".")) if part in SOURCES), "txt")
    return form, packed if packed in {"gz", "zst"} else "", expected.split(";")[0] if isinstance(expected, str) else ""


def by_pairs():
    """Yield doors and files, so that every door meets every kind."""
    seen = set()
    for door in DOORS:
        for name in ODD:
            new = {(door, kind) for kind in kinds(name)} - seen
            if new:
                seen |= new
                yield door, name


PAIRS = list(by_pairs())


@pytest.mark.parametrize(("door", "name"), PAIRS[:: len(PAIRS) // 12])
def test_a_sample_of_odd_files(door, name, tmp_path):
    check(door, name, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("door", DOORS)
def test_every_kind_of_file_at_every_door(door, tmp_path):
    for number, name in enumerate(name for own, name in PAIRS if own == door):
        check(door, name, tmp_path / str(number))


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("name", ODD)
def test_every_odd_file_at_every_door(name, tmp_path):
    for door in DOORS:
        check(door, name, tmp_path)


def write(folder, files):
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def test_what_a_folder_gives_and_what_it_leaves_out(tmp_path):
    deep = "a/b/c/d/deep.txt"
    write(
        tmp_path,
        {deep: b"one\n", "x.txt": b"two\n", ".git/config": b"x", "LICENSE": b"x", "b.bin": b"\xff\0", "e.txt": b""},
    )
    (tmp_path / "again.txt").symlink_to(tmp_path / "x.txt")
    (tmp_path / "circle").symlink_to(tmp_path)
    (tmp_path / "nowhere.txt").symlink_to("nothing")
    texts = find_texts([str(tmp_path)])
    assert [path.relative_to(tmp_path).as_posix() for path in texts.files] == [deep, "x.txt"]
    left_out = {name: reason for reason, names in texts.left_out.items() for name in names}
    assert set(left_out) == {".git", "LICENSE", "b.bin", "e.txt", "nowhere.txt"}
    assert left_out["LICENSE"].startswith("no ending")
    assert list(find_texts([str(tmp_path / "L*")]).files) == [tmp_path / "LICENSE"], "a pattern names it"


FAULTY = {
    "bad.txt": b"one\nn\xe9e\n",
    "bad.jsonl": b'{"text": "a"}\n{"text": \n',
    "cut.txt.gz": gzip.compress(b"one two\n")[:-9],
}


@pytest.mark.parametrize("name", FAULTY)
@pytest.mark.parametrize("door", ["cost", "show", "new", "total"])
def test_doors_that_advise_leave_a_faulty_file_of_a_folder_out(door, name, tmp_path):
    folder = write(tmp_path, {"in/good.txt": b"one", f"in/{name}": FAULTY[name]}) / "in"
    assert outcome(door, folder) == 3
    assert name in str(outcome(door, folder / name)), "named itself, it is refused"


@pytest.mark.parametrize("name", FAULTY)
@pytest.mark.parametrize("door", ["count", "train"])
def test_doors_that_make_something_of_all_text_stop_at_a_faulty_file(door, name, tmp_path):
    folder = write(tmp_path, {"in/good.txt": b"one", "in/a.pdf": PDF, f"in/{name}": FAULTY[name]}) / "in"
    assert name in str(outcome(door, folder))
    (folder / name).unlink()
    assert outcome(door, folder) == 3, "what is no text is left out"


@pytest.mark.parametrize("inside", [[], ["sub"]])
def test_an_empty_folder_has_no_files(tmp_path, inside):
    folder = tmp_path / "in"
    folder.mkdir()
    for name in inside:
        (folder / name).mkdir()
    for door in ("count", "cost", "new", "total"):
        assert outcome(door, folder).endswith("in: has no files"), door
    with pytest.raises(InputError, match="has no files"):
        tokbench.run(configuration_of(folder), workers=0)


def configuration_of(folder):
    corpus = {"source": "text", "path": str(folder / "**/*")}
    return {"schema": "tokbench/1", "name": "odd", "corpora": {"c": corpus}, "tokenizers": {"b": "utf8_bytes"}, "metrics": ["compression"]}  # fmt: skip


UNNAMED = {"array.jsonl", "list.jsonl", "none.jsonl", "number.jsonl", "nested.jsonl", "null.jsonl", "bad.jsonl", "utf16.csv", "ragged.csv", "torn.conllu"}  # fmt: skip
"""Files that are not of their format without its name: other text, or refused for another reason."""

COMMANDS = {"cost": ["cost", "-"], "show": ["show"], "count": ["count", "-", "--processes", "1", "--log", "none"]}


@pytest.mark.parametrize("name", [name for name in ODD if name not in UNNAMED])
def test_standard_input_is_read_by_its_content(name, tmp_path):
    data, expected = ODD[name]
    for door, asked in COMMANDS.items():
        more = ["-o", str(tmp_path / "out.counts")] if door == "count" else ["-t", "utf8_bytes"]
        outcome = CliRunner().invoke(command, [*asked, *more, "--json"], input=data)
        if isinstance(expected, str):
            assert expected in str(outcome.exception), door
        else:
            facts = json.loads(outcome.stdout)
            texts = facts.get("texts", ())
            shown = sum(len(text["tokenizers"][0]["tokens"]) for text in texts)
            assert (facts["tokenizers"][0]["tokens"] if door == "cost" else facts.get("bytes", shown)) == expected, door


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ("all of it", "one string, not a collection of documents"),
        (b"all of it", "one bytes object, not a collection of documents"),
        (["a", 5], "text 2 is of type int, not a string"),
        (["a", None], "text 2 is of type NoneType, not a string"),
        ([b"a"], "text 1 is of type bytes, not a string"),
        ([float("nan")], "text 1 is of type float, not a string"),
        (["half \ud83d"], "text 1 holds a lone surrogate, so it is not Unicode"),
        (5, "of type int, not a collection of documents"),
    ],
)
def test_texts_of_python_are_refused_in_the_same_words(texts, words):
    from tokbench_plugins.counts.count import count_table

    corpora = [{"c": texts}, {"c": {"texts": texts}}]
    doors = [lambda corpus=corpus: tokbench.run({"corpora": corpus}, workers=0) for corpus in corpora]
    doors += [
        lambda: tokbench.train("naive_bpe", texts, 300),
        lambda: tokbench.train("naive_bpe", {"en": texts}, 300),
        lambda: count_table(texts),
        lambda: tokbench.metric()(len).on(texts, {}),
    ]
    if not isinstance(texts, str):
        doors.append(lambda: tokbench.show(texts, "utf8_bytes", workers=0))
    for door in doors:
        with pytest.raises(InputError, match=words):
            door()


def test_a_frame_is_not_its_columns():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"body": ["a", "b"], "id": [1, 2]})
    with pytest.raises(InputError, match="a table, whose columns' names would be the documents; give a column"):
        tokbench.train("naive_bpe", frame, 300)
    config = {"schema": "tokbench/1", "name": "t", "corpora": {"c": frame}, "tokenizers": {"b": "utf8_bytes"}}
    assert tokbench.run(config | {"metrics": ["compression"]}, workers=0).corpora["c"].bytes == 2
    assert tokbench.train("naive_bpe", frame["body"], 300).vocab_size == 256


def test_texts_of_a_generator_are_checked_as_they_come():
    with pytest.raises(InputError, match="text 2 is of type int"):
        tokbench.train("naive_bpe", (text for text in ["a", 5]), 300)


def test_a_last_line_without_an_end_is_trained_without_one(tmp_path):
    both = {}
    for name, data in {"with": b"ab ab\nab ab\n", "without": b"ab ab\nab ab"}.items():
        path = write(tmp_path, {f"{name}.txt": data}) / f"{name}.txt"
        options = ["--backend", "naive_bpe", "--vocab-size", 300, "--holdout", 0, "--log", "none", "--json"]
        outcome = CliRunner().invoke(
            command, [*map(str, ["train", "--text", path, *options, "-o", tmp_path / "x.bpe.json"])]
        )
        both[name] = json.loads(outcome.stdout)["tokenizers"][0]["text_bytes"]
        assert (
            invoke("count", path, "--document", "line", "-o", tmp_path / "x.counts", "--log", "none", "--json")["bytes"]
            == both[name]
        )
    assert both == {"with": 12, "without": 11}


def test_a_window_larger_than_any_is_a_limit_and_not_damage(tmp_path, monkeypatch):
    monkeypatch.setattr("tokbench.text.opening._LARGEST_WINDOW", 1 << 27)
    path = write(tmp_path, {"a.txt.zst": long_window(b"one\n")}) / "a.txt.zst"
    found = outcome("cost", path)
    assert "memory" in found
    assert "damaged" not in found


def test_progress_of_packed_files_ends_with_the_file(tmp_path):
    from tokbench_plugins.counts import local
    from tokbench_plugins.counts.pieces import Reading

    data = rows() * 3000
    for name, packed in {
        "a.jsonl": data,
        "b.jsonl.gz": gzip.compress(data),
        "c.jsonl.zst": zstandard.compress(data),
    }.items():
        path, read = write(tmp_path, {name: packed}) / name, []
        task = local.Task((path,), Reading("gpt4"), tmp_path / "out.counts", 1 << 30)
        counted = local.count(task, read.append)
        assert 0 < max(read) <= path.stat().st_size, name
        assert counted.merged.before[1] == counted.merged.different, "the last tenth is that of the text"
        assert counted.amount.sizes == {"0": len(data)}
