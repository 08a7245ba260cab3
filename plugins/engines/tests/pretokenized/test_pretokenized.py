"""Ids computed elsewhere: looked up exactly, and every bad file refused with its place."""

import gzip
import json

import pytest

import tokbench
from tokbench.tokenizers.contract import EncodesBatch, HasDummyPrefix, HasTokenBytes, Tokenizer
from tokbench_engines.pretokenized.backend import SPEC


def load(**options):
    return SPEC.load(SPEC.load_options(**options))


@pytest.fixture
def rows(tmp_path):
    def write(*values, name="rows.jsonl"):
        path = tmp_path / name
        lines = (value if isinstance(value, str) else json.dumps(value) for value in values)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write


def test_ids_alone_have_no_bytes(rows):
    path = rows(
        {"text": "hi there", "ids": [5, 3]}, "", {"text": "été", "ids": [9]}, {"text": "hi there", "ids": [5, 3]}
    )
    tokenizer = load(path=path)
    assert isinstance(tokenizer, Tokenizer)
    assert isinstance(tokenizer, EncodesBatch)
    assert not isinstance(tokenizer, HasTokenBytes)
    assert (tokenizer.encode("hi there"), tokenizer.encode(""), tokenizer.vocab_size) == ([5, 3], [], 10)
    ids, offsets = tokenizer.encode_batch(["été", "", "hi there"])
    assert (ids.tolist(), offsets.tolist()) == ([9, 5, 3], [0, 1, 1, 3])
    assert "the highest id" in tokenizer.notes[1]
    with pytest.raises(tokbench.BackendError, match=r"rows\.jsonl: .*; give 'vocab'"):
        tokenizer.decode([5])
    assert load(path=path, vocab_size=50).vocab_size == 50


def test_a_text_that_is_not_there_is_refused(rows):
    tokenizer = load(path=rows({"text": "hi", "ids": [1]}))
    with pytest.raises(tokbench.BackendError, match=r"rows\.jsonl: none of its 1 texts is 'hi '; add a row"):
        tokenizer.encode("hi ")
    with pytest.raises(tokbench.BackendError, match=r"'x{60}'… \(500 characters\)"):
        tokenizer.encode_batch(["hi", "x" * 500])


@pytest.mark.parametrize(
    ("spelling", "text", "pieces", "prefix"),
    [
        ("text", "the été", ["the", " ", "été"], b""),
        ("byte_level", "the été", ["the", "ĠÃ", "©t", "Ã©"], b""),
        ("sentencepiece", "the été", ["▁the", "▁", "<0xC3>", "<0xA9>", "té"], b" "),
        ("sentencepiece", "the été", ["the", "▁été"], b""),
    ],
)
def test_pieces_get_ids_as_they_come_and_decode(rows, spelling, text, pieces, prefix):
    tokenizer = load(path=rows({"doc": text, "p": pieces}), text="doc", pieces="p", spelling=spelling)
    assert tokenizer.encode(text) == list(range(len(pieces)))
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.vocab_size == len(pieces)
    assert isinstance(tokenizer, HasTokenBytes)
    assert isinstance(tokenizer, HasDummyPrefix)
    assert tokenizer.dummy_prefix == prefix
    with pytest.raises(ValueError, match="is not in the vocabulary of"):
        tokenizer.token_bytes(len(pieces))


def test_a_vocabulary_in_three_forms(rows, tmp_path):
    forms = {"v.txt": "a\nb\n \n", "v.json": '["a", "b", " "]', "w.json": '{" ": 2, "b": 1, "a": 0}'}
    for name, content in forms.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
        ids = load(path=rows({"text": "a b", "ids": [0, 2, 1]}), vocab=tmp_path / name)
        pieces = load(path=rows({"text": "a b", "tokens": ["a", " ", "b"]}), pieces="tokens", vocab=tmp_path / name)
        for tokenizer in (ids, pieces):
            assert tokenizer.encode("a b") == [0, 2, 1]
            assert tokenizer.decode([0, 2, 1]) == "a b"
            assert tokenizer.vocab_size == 3


def test_rows_may_be_packed_and_are_there(tmp_path):
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"text": "a", "ids": [7]}\n'))
    assert load(path=path).encode("a") == [7]
    with pytest.raises(tokbench.InputError, match=r"none\.jsonl"):
        load(path=tmp_path / "none.jsonl")


@pytest.mark.parametrize(
    ("lines", "options", "message"),
    [
        (['{"text": "a", "ids": [1]}', "{oops"], {}, r"rows.jsonl:2:2: not JSON"),
        (['{"text": "a", "id": [1]}'], {}, r"rows.jsonl:1: no field 'ids'; did you mean 'id'\?"),
        (['{"text": "a", "ids": [7]}'], {"vocab_size": 7}, r"rows.jsonl:1: 7 is not an id from 0 to 6"),
        (['{"text": "a", "ids": [7]}', '{"text": "a", "ids": [8]}'], {}, r"rows.jsonl:2: the text 'a' was there before"),
        ([""], {}, r"rows.jsonl: has no rows"),
        (['{"text": "a", "p": [1]}'], {"pieces": "p"}, r"rows.jsonl:1: 1 is not a piece of text"),
        (['{"text": "a", "p": ["a b"]}'], {"pieces": "p", "spelling": "byte_level"}, r"rows.jsonl:1: 'a b' is not spelled"),
        (['{"text": "a", "p": ["a", "b"]}'], {"pieces": "p", "vocab_size": 1}, r"rows.jsonl:1: more different pieces than vocab_size: 1"),
    ],
)  # fmt: skip
def test_bad_rows_are_refused_with_their_place(rows, lines, options, message):
    with pytest.raises(tokbench.BackendError, match=message):
        load(path=rows(*lines), **options)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("v.json", "[", r"v.json:1:2: not JSON"),
        ("v.json", '{"a": 1, "b": 1}', r"v.json: two pieces have the same id"),
        ("v.txt", "a\nb\na\n", r"v.txt:3: piece 'a' is there twice, first with id 0"),
        ("v.txt", "a\n", r"rows.jsonl:1: v.* has no piece 'b'|rows.jsonl:1: .*v.txt has no piece 'b'"),
    ],
)
def test_bad_vocabularies_are_refused_with_their_place(rows, tmp_path, name, content, message):
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(tokbench.BackendError, match=message):
        load(path=rows({"text": "ab", "p": ["a", "b"]}), pieces="p", vocab=tmp_path / name)


def test_a_run_from_utf8_bytes_elsewhere_equals_utf8_bytes(rows, write_config):
    texts = ["Hello, world!", "été", "日本語"]
    path = rows(*({"text": text, "ids": list(text.encode())} for text in texts))
    rows(*({"text": text} for text in texts), name="texts.jsonl")
    config = write_config(
        corpora=f"  t: {{source: jsonl, path: {path.with_name('texts.jsonl')}}}",
        tokenizers=f"  ours: {{backend: utf8_bytes}}\n  theirs: {{backend: pretokenized, path: {path}, vocab_size: 256}}",
    )
    results = tokbench.run(config, workers=0)
    values = {(c.tokenizer, c.metric): c.value for c in results.cells if c.group == "*"}
    assert values["theirs", "tokens"] == values["ours", "tokens"] == 13 + 5 + 9
