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
