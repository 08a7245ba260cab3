"""Bad text, packed files and addresses: what is mended, counted or refused."""

import gzip
import os
import socket

import fsspec
import pytest
from shared_fixtures import problems

import tokbench
from tokbench.sources.conllu import ConlluOptions, ConlluSource
from tokbench.sources.datasets import DatasetsOptions, DatasetsSource
from tokbench.sources.rows import RowFileOptions, RowFiles
from tokbench.sources.text import TextOptions, TextSource
from tokbench.text.opening import opened

BAD = b"one\nb\xffad \xe2\x82\nthree\n"
SENTENCE = b"# text = na\xff\n1\tna\xff\t_\tX\t_\t_\t0\troot\t_\t_\n"


def texts(source):
    return [document.text for document in source.documents()]


@pytest.mark.parametrize(
    ("errors", "line"), [("replace", "b\ufffdad \ufffd"), ("skip", "bad ")]
)  # U+FFFD for each part that is no character, as Unicode advises
@pytest.mark.parametrize("how", ["line", "paragraph", "file"])
def test_bad_bytes_are_mended_and_counted(tmp_path, how, errors, line):
    path = tmp_path / "a.txt"
    path.write_bytes(BAD)
    source = TextSource(TextOptions(path=path, document=how, errors=errors))
    found = texts(source)
    assert "\n".join(found).strip() == f"one\n{line}\nthree"
    assert texts(source) == found
    [note] = source.notes
    assert ": 3, the first at " in note, "of the last reading alone"
    assert note.endswith(f"{path}:2:2")
    with pytest.raises(tokbench.InputError, match=r"a\.txt:2:2: .*errors: replace"):
        texts(TextSource(TextOptions(path=path, document=how)))


def test_binary_files_are_never_mended(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\x89PNG\xff")
    with pytest.raises(tokbench.InputError, match="PNG"):
        texts(TextSource(TextOptions(path=tmp_path / "a.txt", errors="replace")))


def test_bad_bytes_in_a_treebank(tmp_path):
    (tmp_path / "de.conllu").write_bytes(SENTENCE)
    (tmp_path / "fi.conllu").write_bytes(b"\n\n")
    source = ConlluSource(ConlluOptions(path=tmp_path / "*.conllu", errors="skip"))
    assert texts(source) == ["na"]
    assert [note.split(": ")[-1] for note in source.notes] == [
        f"2, the first at {tmp_path}/de.conllu:1:12",
        f"1, the first at {tmp_path}/fi.conllu",
    ]


def test_rows_with_bad_text(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_bytes(b'{"text": "a\xff"}\n{"text": null}\n{"text": "\\ud83d!"}\n{"text": null}\n')
    source = RowFiles("jsonl", RowFileOptions(path=path, errors="replace", nulls="skip"))
    assert [(document.text, document.key) for document in source.documents()] == [("a\ufffd", "1"), ("\ufffd!", "3")]
    assert [note.split(": ")[-1].replace(str(path), "") for note in source.notes] == [
        "1, the first at :1:12",
        "2, the first at :2",
        "1, the first at :3",
    ]
    (tmp_path / "empty.jsonl").write_text("{}\n", encoding="utf-8")
    with pytest.raises(tokbench.InputError, match="has no field 'text'"):
        texts(RowFiles("jsonl", RowFileOptions(path=tmp_path / "empty.jsonl", nulls="skip")))
    with pytest.raises(tokbench.InputError, match=r":2: field 'text' is null; .*nulls: skip"):
        texts(RowFiles("jsonl", RowFileOptions(path=path, errors="skip")))


@pytest.fixture
def bad_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    column = pa.Array.from_buffers(
        pa.string(), 4, pa.array([b"good", b"b\xffd", None, "é".encode()], pa.binary()).buffers()
    )
    write_table(pa.table({"text": column}), tmp_path / "r.parquet")
    (tmp_path / "s.parquet").write_bytes(b"")
    return tmp_path


def test_parquet_with_bad_text(bad_parquet):
    options = {"path": bad_parquet / "*.parquet", "nulls": "skip", "group": "{stem}"}
    source = RowFiles("parquet", RowFileOptions(**options, errors="skip"))
    assert [(document.text, document.key) for document in source.documents()] == [
        ("good", "1"),
        ("bd", "2"),
        ("é", "4"),
    ]
    assert [note.rpartition("/")[2] for note in source.notes] == ["r.parquet:2", "r.parquet:3", "s.parquet"]
    with pytest.raises(tokbench.InputError, match=r"r\.parquet:2: .*errors: replace"):
        texts(RowFiles("parquet", RowFileOptions(**options)))


def test_nulls_of_a_dataset(tmp_path):
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    datasets.Dataset.from_dict({"text": ["a", None, "b"]}).save_to_disk(tmp_path / "d")
    source = DatasetsSource(DatasetsOptions(path=tmp_path / "d", nulls="skip"))
    assert texts(source) == ["a", "b"]
    assert source.notes[0].endswith(f"1, the first at {tmp_path}/d:2")


def test_links_to_nothing_and_pipes_are_said(tmp_path):
    (tmp_path / "a.txt").write_text("a", encoding="utf-8")
    (tmp_path / "b.txt").symlink_to("nowhere")
    (tmp_path / "d.txt").mkdir()
    os.mkfifo(tmp_path / "c.txt")
    source = TextSource(TextOptions(path=tmp_path / "*.txt"))
    assert texts(source) == ["a"]
    pipe, link = sorted(source.notes, reverse=True)
    assert ("link" in link, link.rpartition("/")[2]) == (True, "b.txt")
    assert ("named pipe" in pipe, pipe.rpartition("/")[2]) == (True, "c.txt")


def test_what_is_no_file_is_named(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        for name, kind in {
            "folder": "a folder",
            "link": "a link to what does not exist",
            "pipe": "a named pipe",
            "socket": "a socket",
            "/dev/null": "a device",
        }.items():
            with pytest.raises(tokbench.InputError, match=f"'[^']*{name}' is {kind}"):
                TextSource(TextOptions(path=tmp_path / name))


def write_bad_folder(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "de.txt").write_bytes(BAD * 40)
    (folder / "en.txt").write_bytes(b"fine\n" * 40)
    (folder / "fi.txt").write_bytes(b"")
    (folder / "no.txt").symlink_to("nowhere")
    (folder / os.fsdecode(b"caf\xe9.txt")).write_bytes(b"noir\n")
    return folder


def test_a_run_over_bad_text(write_config, tmp_path):
    write_bad_folder(tmp_path)
    config = write_config("  c: {source: text, path: 'in/*.txt', document: line, errors: replace}")
    results = [tokbench.run(config, workers=workers) for workers in (0, 2)]
    for result in results:
        link, bad, empty = sorted(note for note in result.notes if note.startswith("corpus c: "))
        assert bad.endswith(": 120, the first at " + str(tmp_path / "in" / "de.txt:2:2"))
        assert (empty.rpartition("/")[2], link.rpartition("/")[2]) == ("fi.txt", "no.txt")
        assert set(result.corpora["c"].groups) == {"caf\\xe9", "de", "en"}
    assert results[0].corpora == results[1].corpora


@pytest.fixture
def memory():
    """Return a function that keeps files in fsspec's file system in memory."""
    system = fsspec.filesystem("memory")

    def keep(**files):
        for name, data in files.items():
            system.pipe(f"/texts/{name.replace('_', '.')}", data)

    yield keep
    system.rm("/texts", recursive=True)


def test_a_run_over_addresses_is_one_over_files(tmp_path, memory, write_config):
    files = {"en_txt": b"one\ntwo words\n", "nl_txt": "één\n".encode()}
    memory(**files, other_md=b"not read")
    for name, data in files.items():
        (tmp_path / name.replace("_", ".")).write_bytes(data)
    csv = []
    for path in ("*.txt", "memory://texts/*.txt"):
        config = write_config(
            f"  c: {{source: text, path: '{path}', document: line}}", metrics="[compression, fertility]"
        )
        results = tokbench.run(config, tmp_path / "out", workers=0)
        csv.append((tmp_path / "out" / "results.csv").read_bytes())
    assert csv[0] == csv[1]
    assert results.corpora["c"].groups == {"en": 2, "nl": 1}
    assert results.corpora["c"].options["path"] == "memory://texts/*.txt"


def test_the_folder_of_an_address_can_be_the_group(memory):
    fsspec.filesystem("memory").pipe("/texts/de/1.txt", b"eins")
    fsspec.filesystem("memory").pipe("/texts/en/1.txt", b"one")
    memory()
    source = TextSource(TextOptions(path="memory://texts/*/1.txt", group="{parent}"))
    assert [(document.group, document.text) for document in source.documents()] == [("de", "eins"), ("en", "one")]


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("memory://texts/none*.txt", "no file matches; list what is there"),
        ("gopher://host/a.txt", "Protocol not known: gopher"),
    ],
)
def test_an_address_without_files(write_config, memory, path, told):
    memory(a_txt=b"a")
    [problem] = problems(write_config(f"  c: {{source: text, path: '{path}'}}"))
    assert path in problem
    assert told in problem


zstandard = pytest.importorskip("zstandard")

PACK = {".gz": gzip.compress, ".zst": zstandard.compress}


@pytest.mark.parametrize(("suffix", "how"), [(".gz", "file"), (".zst", "line"), (".gz", "paragraph")])
def test_texts_are_the_same_packed_or_not(tmp_path, suffix, how):
    data = "één\r\ntwo\n\n\nthree\n".encode()
    (tmp_path / f"nl.txt{suffix}").write_bytes(PACK[suffix](data))
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "nl.txt").write_bytes(data)
    items = list(TextSource(TextOptions(path=tmp_path / "nl.*", document=how)).documents())
    plain = list(TextSource(TextOptions(path=tmp_path / "plain" / "nl.txt", document=how)).documents())
    assert [(item.text, item.group) for item in items] == [(each.text, each.group) for each in plain]
    assert items[0].group == "nl"


def test_frames_of_zstandard_are_one_file_and_a_part_of_one_is_none(tmp_path):
    frames = [zstandard.compress(part) for part in (b"one", b"", b"three")]
    (tmp_path / "x.zst").write_bytes(b"".join(frames))
    with opened(tmp_path / "x.zst") as file:
        assert file.read() == b"onethree"
    (tmp_path / "x.zst").write_bytes(b"".join(frames)[:-3])
    with pytest.raises(tokbench.InputError, match=r"x\.zst: is damaged"), opened(tmp_path / "x.zst") as file:
        file.read()


def test_a_language_without_data_is_told(write_config, tmp_path):
    (tmp_path / "en.txt").write_text("a\n", encoding="utf-8")
    (tmp_path / "fi.txt").write_text("\n", encoding="utf-8")
    [line] = problems(write_config(corpora="  c: {source: text, path: '*.txt', groups: [en, sv]}"))
    assert "*.txt' gives the group 'sv'; known: en, fi" in line
