"""The five baselines: units of Unicode, and the most frequent characters and words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokbench
from tokbench_plugins.baselines.pieces import load, train


def test_what_is_not_text():
    utf8, utf16, utf32 = (tokbench.load(f"utf{width}") for width in ("8_bytes", "16_units", "32_units"))
    assert [each.vocab_size for each in (utf8, utf16, utf32)] == [256, 65_536, 1_114_112]
    assert utf8.decode([0x61, 0xE2, 0x82]) == "a\ufffd"
    assert utf16.decode([0x61, 0xD83D, 0x62]) == "a\ufffdb"
    assert utf32.decode([0x61, 0xD83D, 0x62]) == "a\ufffdb"
    assert utf32.token_bytes(0xD83D) == "\ufffd".encode()


@given(st.text())
def test_utf16_offsets(text):
    ids, ends = tokbench.load("utf16_units").encode_with_offsets(text)
    assert len(ids) == len(ends) == len(text.encode("utf-16-le")) // 2
    whole = [len(text[:k].encode()) for k in range(1, len(text) + 1)]
    assert set(whole) <= set(ends)
    assert [end for end in ends if end not in whole] == [
        len(text[:k].encode()) + 2 for k, char in enumerate(text) if ord(char) > 0xFFFF
    ]


@pytest.mark.parametrize("name", ["codepoints", "whitespace_words"])
@given(texts=st.lists(st.text(), max_size=5))
def test_training_text_makes_the_round_trip(name, texts):
    if not any(texts):
        with pytest.raises(tokbench.BackendError, match="the training text is empty"):
            train(name, texts, 50)
        return
    tokenizer = train(name, texts, 10_000)
    assert [tokenizer.decode(tokenizer.encode(text)) for text in texts] == texts


def test_order_of_code_points():
    tokenizer = train("codepoints", ["zzab", "ba\U0001f600"], 5)
    assert tokenizer.vocab_size == 5
    assert [tokenizer.token_bytes(i).decode() for i in range(1, 5)] == ["a", "b", "z", "\U0001f600"]
    assert tokenizer.encode("zoo") == [3, 0, 0]
    assert tokenizer.decode([3, 0, 0]) == "z\ufffd\ufffd"
    assert train("codepoints", ["ab"], 100).vocab_size == 3


def test_order_of_words():
    tokenizer = train("whitespace_words", ["b a  b a", " a"], 4)
    assert [tokenizer.token_bytes(i) for i in range(1, 4)] == [b" a", b"b", b"  "]
    assert tokenizer.decode(tokenizer.encode("b a\tc")) == "b a\ufffd\ufffd"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "not JSON"),
        ({"format": "tokbench-pieces/2"}, "not a file that codepoints of this version saved"),
        ({"kind": "whitespace_words"}, "load it with 'backend: whitespace_words'"),
        ({"pieces": ["a", "a"]}, "damaged"),
    ],
)
def test_damaged_files(content, reason, tmp_path):
    path = tmp_path / "x.pieces.json"
    if isinstance(content, dict):
        content = json.dumps({"format": "tokbench-pieces/1", "kind": "codepoints", "pieces": ["a"], **content})
    path.write_text(content)
    with pytest.raises(tokbench.BackendError, match=reason) as caught:
        load("codepoints", path)
    assert str(caught.value).startswith(str(path))
