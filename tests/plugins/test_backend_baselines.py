"""The five baselines: units of Unicode, and the most frequent characters and words."""

import json

import pytest
from backend_checks import TEXTS, check_batch, check_bytes, check_offsets, check_pickle, hostile, silent, specs_of
from hypothesis import given
from hypothesis import strategies as st

import tokbench
import tokbench.plugin
from tokbench.tokenizers.contract import (
    DecodesBatch,
    EncodesBatch,
    EncodesWithOffsets,
    HasTokenBytes,
    HasUnknown,
    Saves,
    Tokenizer,
)
from tokbench_plugins.baselines import backend as baselines

SPECS = specs_of(baselines)
UNITS = ["utf8_bytes", "utf16_units", "utf32_units"]
PIECES = ["codepoints", "whitespace_words"]


def units(name):
    return SPECS[name].load(tokbench.plugin.Options())


def train(name, documents, vocab_size=50):
    return SPECS[name].train(documents, vocab_size, SPECS[name].train_options(), silent)


def test_which_there_are():
    assert list(SPECS) == [*UNITS, *PIECES]
    assert [units(name).vocab_size for name in UNITS] == [256, 65_536, 1_114_112]


@pytest.mark.parametrize("name", UNITS)
def test_units_can(name):
    tokenizer = units(name)
    for protocol in (Tokenizer, EncodesBatch, DecodesBatch):
        assert isinstance(tokenizer, protocol)
    assert isinstance(tokenizer, HasTokenBytes) == (name != "utf16_units")
    assert isinstance(tokenizer, EncodesWithOffsets) == (name == "utf16_units")
    check_pickle(tokenizer)


@pytest.mark.parametrize("name", UNITS)
@given(texts=st.lists(st.text(), max_size=5))
def test_units_lose_nothing(name, texts):
    tokenizer = units(name)
    check_batch(tokenizer, texts)
    assert [tokenizer.decode(tokenizer.encode(text)) for text in texts] == texts
    assert tokenizer.decode_batch(tokenizer.encode_batch(texts)) == texts


@pytest.mark.parametrize("name", ["utf8_bytes", "utf32_units"])
@given(data=st.data())
def test_bytes_of_any_units_are_those_of_the_text(name, data):
    tokenizer = units(name)
    ids = data.draw(st.lists(st.integers(0, tokenizer.vocab_size - 1)))
    assert b"".join(map(tokenizer.token_bytes, ids)).decode("utf-8", errors="replace") == tokenizer.decode(ids)


def test_what_is_not_text():
    assert units("utf8_bytes").decode([0x61, 0xE2, 0x82]) == "a\ufffd"
    assert units("utf16_units").decode([0x61, 0xD83D, 0x62]) == "a\ufffdb"
    assert units("utf32_units").decode([0x61, 0xD83D, 0x62]) == "a\ufffdb"
    assert units("utf32_units").token_bytes(0xD83D) == "\ufffd".encode()


@given(st.text())
def test_utf16_offsets(text):
    tokenizer = units("utf16_units")
    check_offsets(tokenizer, [text])
    ends = tokenizer.encode_with_offsets(text).ends
    whole = [len(text[:k].encode()) for k in range(1, len(text) + 1)]
    assert set(whole) <= set(ends)
    assert [end for end in ends if end not in whole] == [
        len(text[:k].encode()) + 2 for k, char in enumerate(text) if ord(char) > 0xFFFF
    ]


@pytest.mark.parametrize("name", PIECES)
def test_pieces_can(name):
    tokenizer = train(name, TEXTS)
    for protocol in (Tokenizer, EncodesBatch, HasTokenBytes, HasUnknown, EncodesWithOffsets, Saves):
        assert isinstance(tokenizer, protocol)
    assert tokenizer.unk_id == 0
    check_pickle(tokenizer)
    check_batch(tokenizer, [*TEXTS, *hostile()])
    check_batch(tokenizer, [])
    check_bytes(tokenizer, [*TEXTS, *hostile()])
    check_offsets(tokenizer, [*TEXTS, *hostile()])


@pytest.mark.parametrize("name", PIECES)
@given(texts=st.lists(st.text(), max_size=5))
def test_what_was_trained_on_comes_back(name, texts):
    if not any(texts):
        with pytest.raises(tokbench.BackendError, match="the training text is empty"):
            train(name, texts)
        return
    tokenizer = train(name, texts, vocab_size=10_000)
    check_batch(tokenizer, texts)
    assert [tokenizer.decode(tokenizer.encode(text)) for text in texts] == texts


def test_order_of_code_points():
    tokenizer = train("codepoints", ["zzab", "ba\U0001f600"], vocab_size=5)
    assert tokenizer.vocab_size == 5
    assert [tokenizer.token_bytes(i).decode() for i in range(1, 5)] == ["a", "b", "z", "\U0001f600"]
    assert tokenizer.encode("zoo") == [3, 0, 0]
    assert tokenizer.decode([3, 0, 0]) == "z\ufffd\ufffd"
    assert train("codepoints", ["ab"], vocab_size=100).vocab_size == 3


def test_order_of_words():
    tokenizer = train("whitespace_words", ["b a  b a", " a"], vocab_size=4)
    assert [tokenizer.token_bytes(i) for i in range(1, 4)] == [b" a", b"b", b"  "]
    assert tokenizer.decode(tokenizer.encode("b a\tc")) == "b a\ufffd\ufffd"


def test_words_and_white_space():
    documents = ["two  spaces, one\ttab and\n\na blank\u00a0line "]
    tokenizer = train("whitespace_words", documents)
    pieces = [tokenizer.token_bytes(i).decode() for i in tokenizer.encode(documents[0])]
    assert pieces == ["two", "  ", "spaces,", " one", "\t", "tab", " and", "\n\n", "a", " blank", "\u00a0", "line", " "]


@pytest.mark.parametrize("name", PIECES)
def test_saving_and_loading(name, tmp_path):
    tokenizer = train(name, TEXTS)
    path = tmp_path / f"x{tokenizer.file_suffix}"
    tokenizer.save(path)
    loaded = SPECS[name].load(baselines.BaselineLoadOptions(path=path))
    assert loaded.vocab_size == tokenizer.vocab_size
    assert [loaded.encode(text) for text in TEXTS] == [tokenizer.encode(text) for text in TEXTS]
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "not JSON"),
        ("[]", "not a file that codepoints of this version saved"),
        ({"format": "tokbench-pieces/2"}, "not a file that codepoints of this version saved"),
        ({"kind": "whitespace_words"}, "load it with 'backend: whitespace_words'"),
        ({"pieces": ["a", "a"]}, "damaged"),
        ({"pieces": ["ab"]}, "damaged"),
        ({"pieces": [1]}, "damaged"),
        ({"pieces": "ab"}, "damaged"),
    ],
)
def test_damaged_files(content, reason, tmp_path):
    path = tmp_path / "x.pieces.json"
    if isinstance(content, dict):
        content = json.dumps({"format": "tokbench-pieces/1", "kind": "codepoints", "pieces": ["a"], **content})
    path.write_text(content)
    with pytest.raises(tokbench.BackendError, match=reason) as caught:
        SPECS["codepoints"].load(baselines.BaselineLoadOptions(path=path))
    assert str(caught.value).startswith(str(path))
