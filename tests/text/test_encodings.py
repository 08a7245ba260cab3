"""Text of another encoding is read with its name, and recognised without it."""

import pytest

from tokbench.foundation.errors import InputError
from tokbench.sources.rows import CsvOptions, RowFiles
from tokbench.sources.text import TextOptions, TextSource
from tokbench.text.encodings import known_encoding

TEXT = "café crème\nnaïve „Straße“\n"


def texts(path, **options):
    return [document.text for document in TextSource(TextOptions(path=path, **options)).documents()]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-32", "utf-32-be", "utf-8-sig"])
def test_the_named_encoding_is_read(tmp_path, encoding):
    text = (TEXT if encoding != "latin-1" else TEXT[:11]) * 20_000
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode(encoding))
    assert texts(path, encoding=encoding) == [text]
    assert texts(path, encoding=encoding, document="line") == text.splitlines()


@pytest.mark.parametrize(
    ("encoding", "advised"),
    [
        ("latin-1", "encoding: latin-1"),
        ("cp1252", "encoding: cp1252"),
        ("utf-16", "is UTF-16 text.* encoding: utf-16$"),
        ("utf-16-le", "is UTF-16 text.* encoding: utf-16-le$"),
        ("utf-16-be", "is UTF-16 text.* encoding: utf-16-be$"),
        ("utf-32", "is UTF-32 text.* encoding: utf-32$"),
        ("utf-32-le", "is UTF-32 text.* encoding: utf-32-le$"),
        ("utf-32-be", "is UTF-32 text.* encoding: utf-32-be$"),
    ],
)
def test_the_encoding_is_recognised_and_advised(tmp_path, encoding, advised):
    path = tmp_path / "a.txt"
    path.write_bytes((TEXT[-15:] if encoding == "cp1252" else TEXT[:11]).encode(encoding))
    with pytest.raises(InputError, match=advised) as told:
        texts(path)
    assert "iconv -c" not in str(told.value)


def test_a_damaged_file_of_utf8_is_no_other_encoding(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(TEXT.encode() + b"\xff")
    with pytest.raises(InputError, match="errors: replace") as told:
        texts(path)
    assert "encoding:" not in str(told.value)


def test_another_encoding_than_named(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(TEXT.encode("cp1252"))
    with pytest.raises(InputError, match=r"a\.txt: is not text in utf-8"):
        texts(path, encoding="utf8")


@pytest.mark.parametrize(
    ("name", "message"),
    [("rot13", "not an encoding of text"), ("base64", "not an encoding of text"), ("latin_2x", "did you mean")],
)
def test_what_is_no_encoding_of_text(name, message):
    with pytest.raises(ValueError, match=message):
        known_encoding(name)


@pytest.mark.parametrize(("errors", "expected"), [("replace", "a\ufffdb"), ("skip", "ab")])
@pytest.mark.parametrize(("name", "head"), [("a.txt", b""), ("a.csv", b"text\n")])
def test_bytes_that_a_named_encoding_lacks_are_counted(tmp_path, errors, expected, name, head):
    path = tmp_path / name
    path.write_bytes(head + b"a\x81b\n" * 2)
    options = {"path": path, "encoding": "cp1252", "errors": errors}
    if name == "a.txt":
        source = TextSource(TextOptions(document="line", **options))
    else:
        source = RowFiles("csv", CsvOptions(**options))
    assert [document.text.rstrip("\n") for document in source.documents()] == [expected] * 2
    [note] = [note for note in source.notes if "bytes" in note]
    assert ": 2, the first at " in note
    assert f"{name}:" in note
