"""Packed files, groups of files, and parallel corpora."""

import gzip

import pytest
from shared_fixtures import problems

import tokbench
from tokbench.sources.text import TextOptions, TextSource
from tokbench.text.opening import opened

zstandard = pytest.importorskip("zstandard")

PACK = {".gz": gzip.compress, ".zst": zstandard.compress}


@pytest.mark.parametrize(("suffix", "how"), [(".gz", "file"), (".zst", "line"), (".gz", "paragraph")])
def test_texts_are_the_same_packed_or_not(tmp_path, suffix, how):
    data = "één\r\ntwo\n\n\nthree\n".encode()
    (tmp_path / f"nl.txt{suffix}").write_bytes(PACK[suffix](data))
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "nl.txt").write_bytes(data)
    found = list(TextSource(TextOptions(path=tmp_path / "nl.*", document=how)).documents())
    plain = list(TextSource(TextOptions(path=tmp_path / "plain" / "nl.txt", document=how)).documents())
    assert [(each.text, each.group) for each in found] == [(each.text, each.group) for each in plain]
    assert found[0].group == "nl"


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


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ("A\nB\n", "group 'b' has 2 documents, 'a' has 3; the first 2 documents match; then 'a' has a.txt:3 (key '3'), 'b' has no more documents"),
        ("\nB\nC\n", "group 'b' has 2 documents, 'a' has 3; 'a' has a.txt:1 (key '1'), 'b' has b.txt:2 (key '2')"),
    ],
)  # fmt: skip
def test_translations_that_are_not_aligned(write_config, tmp_path, other, says):
    (tmp_path / "a.txt").write_text("a\nb\nc\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text(other, encoding="utf-8")
    (tmp_path / "c.txt").write_text("x\n", encoding="utf-8")
    lines = problems(write_config(corpora="  c: {source: text, path: '?.txt', document: line, parallel: true}"))
    assert len(lines) == 2, "every group that is not aligned is told"
    assert f"corpus 'c' is not parallel: {says}; give every group the same keys" in lines[0]
    assert "group 'c' has 1 documents" in lines[1]
