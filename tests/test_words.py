"""Words: units and where they lie."""

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from tokbench.corpus.words import default_unit, find_words


def spell(texts, unit):
    data = "".join(texts).encode()
    words = find_words(texts, unit)
    return [data[a:b].decode() for a, b in zip(words.starts.tolist(), words.ends.tolist(), strict=True)]


def test_uax29_words():
    text = "Can't stop: 3.14 and 1,000 e-mails, foo_bar! “Quoted” l’été 12:30 Ångström x\u0301y"
    assert spell([text], "uax29") == [
        *("Can't", "stop", "3.14", "and", "1,000", "e", "mails", "foo_bar", "Quoted", "l’été", "12", "30"),
        *("Ångström", "x\u0301y"),
    ]


def test_characters_carry_their_marks():
    assert spell(["ที่นี่ 你好，世界 2"], "character") == ["ที่", "นี่", "你", "好", "世", "界", "2"]


def test_korean_stays_on_spaces():
    assert default_unit("ko") == "whitespace"
    assert spell(["안녕 하세요."], "whitespace") == ["안녕", "하세요."]


@pytest.mark.parametrize("code", ["th", "lo", "km", "my", "bo", "zh", "ja", "zho-CN", "zh_Hant", "tha", "yue"])
def test_unspaced_scripts_are_counted_in_characters(code):
    assert default_unit(code) == "character"


@pytest.mark.parametrize("code", ["en", "ar", "java", "javascript", "hostile-emoji", "python", "vi"])
def test_all_else_is_counted_in_words(code):
    assert default_unit(code) == "uax29"


@given(st.lists(st.text(max_size=15), max_size=6), st.sampled_from(["uax29", "whitespace", "character"]))
def test_words_lie_inside_their_documents(texts, unit):
    words = find_words(texts, unit)
    offsets = [0]
    for text in texts:
        offsets.append(offsets[-1] + len(text.encode()))
    last = 0
    for start, end, document in zip(words.starts.tolist(), words.ends.tolist(), words.documents.tolist(), strict=True):
        assert last <= start < end <= offsets[document + 1]
        assert start >= offsets[document]
        last = end
        word = "".join(texts).encode()[start:end].decode()
        assert unit == "whitespace" or regex.search(r"[\p{L}\p{N}\p{M}_]", word)


@given(st.text(max_size=30), st.text(max_size=30), st.sampled_from(["uax29", "whitespace", "character"]))
def test_documents_do_not_touch(one, other, unit):
    assert spell([one, other], unit) == spell([one], unit) + spell([other], unit)
