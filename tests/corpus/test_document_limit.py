"""A document that is too long is refused before it takes memory, and a long one is kept as few times as can be."""

import gzip
import tracemalloc

import pytest
from shared_fixtures import problems

from tokbench.text.cuts import reading

MB = 10**6
LONG = "a document of more than 1 MB; cut it into smaller ones, or allow more with 'limits: {document: 2MB}'"
LIMIT = "limits: {document: 1MB}\n"
ROW = '{"text": "%s"}\n'
SENTENCE = "# text = %s\n1\ta" + "\t_" * 8 + "\n\n"


def peak_of(function):
    """Return the memory in bytes that a function took at most."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("source", "name", "content", "line"),
    [
        ("text, document: line", "x.txt", "short\n" + "a" * 2 * MB + "\nb\n", 2),
        ("text, document: paragraph", "x.txt", "short\n\n" + "a" * 2 * MB, 1),
        ("jsonl", "x.jsonl", ROW % "a" + ROW % ("a" * 2 * MB), 2),
        ("conllu", "x.conllu", SENTENCE % "a" + SENTENCE % ("a" * 2 * MB), 4),
    ],
)
def test_a_document_that_is_too_long_is_told_with_its_place(write_config, tmp_path, source, name, content, line):
    (tmp_path / name).write_text(content, encoding="utf-8")
    path = write_config(corpora=f"  c: {{source: {source}, path: {name}}}", extra=LIMIT)
    assert problems(path) == [f"run.yaml:4:6: {tmp_path / name}:{line}: {LONG}"]


def test_a_bomb_takes_no_memory(tmp_path):
    path = tmp_path / "bomb.txt.gz"
    with gzip.open(path, "wb") as file:
        for _ in range(30):
            file.write(bytes(MB))

    def refused():
        with pytest.raises(Exception, match="a document of more than 1 MB"), reading(path, most=MB) as reader:
            list(reader.documents("line"))

    assert peak_of(refused) < 8 * MB
