"""The splits: as `regex` cuts, with nothing lost, and with help for a misspelled name."""

import pytest
import regex
import tiktoken_ext.openai_public
from hypothesis import given
from hypothesis import strategies as st

import tokbench
from tokbench.registry.plugins import load_registry
from tokbench_plugins.bpe import PATTERNS, Splitter, patterns, resolve_pattern

TEXT = st.one_of(st.text(alphabet="aZs'tlL 1٣٤²\r\n\t\u00a0éЖ中.!/_\u0301🙂", max_size=80), st.text(max_size=40))


@pytest.mark.parametrize("name", PATTERNS)
@given(text=TEXT)
def test_named_patterns_cut_as_regex_does_and_cover_all(name, text):
    chunks = Splitter(name)(text)
    assert chunks == regex.findall(PATTERNS[name], text)
    assert "".join(chunks) == text


def test_o200k_is_the_published_pattern(monkeypatch):
    monkeypatch.setattr(tiktoken_ext.openai_public, "load_tiktoken_bpe", lambda *_, **__: {})
    assert PATTERNS["o200k"] == tiktoken_ext.openai_public.o200k_base()["pat_str"]


@pytest.mark.parametrize("pattern", ["a+", "(a)(b)?", "x*", "(?<=a)b", "a|", r"\d\K\w", "$"])
@given(text=st.text(alphabet="abx1 ", max_size=30))
def test_what_a_pattern_does_not_match_is_kept(pattern, text):
    chunks = Splitter(pattern)(text)
    assert "".join(chunks) == text
    assert all(chunks)


def test_gaps_are_chunks_of_their_own():
    assert Splitter("[0-9]+")("a1b22c") == ["a", "1", "b", "22", "c"]
    assert Splitter("(?:x(y))")("axyxyb") == ["a", "xy", "xy", "b"]


@pytest.mark.parametrize(
    ("name", "text", "chunks"),
    [
        ("gpt2", "who's WHO'S", ["who", "'s", " WHO", "'", "S"]),
        ("gpt4", "WHO'S 12345", ["WHO", "'S", " ", "123", "45"]),
        ("o200k", "myVar isn't", ["my", "Var", " isn't"]),
    ],
)
def test_what_tells_the_patterns_apart(name, text, chunks):
    assert Splitter(name)(text) == chunks


def test_lone_surrogates_become_replacement_characters():
    assert Splitter("gpt4")("a\ud83d \ude00b") == Splitter("gpt4")("a\ufffd \ufffdb")
    assert Splitter(None)("\ud83d\ude00") == ["😀"]


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [("gpt-4", "gpt4"), ("GPT4", "gpt4"), ("gtp2", "gpt2"), ("cl100k_base", "gpt4"), ("gpt-4o", "o200k")],
)
def test_misspelled_names(wrong, meant):
    with pytest.raises(ValueError, match=f"did you mean '{meant}'"):
        resolve_pattern(wrong)


@pytest.mark.parametrize("wrong", ["", "whitespace", "foo-bar"])
def test_words_that_are_no_name(wrong):
    with pytest.raises(ValueError, match="known: gpt2, gpt4, o200k"):
        resolve_pattern(wrong)


@pytest.mark.parametrize("wrong", ["(", "[a", r"\p{Nothing}+", "*a", "(?a)(?u)x", "(" * 5000])
def test_invalid_expressions(wrong):
    with pytest.raises(ValueError, match="is not a regular expression: "):
        resolve_pattern(wrong)


def test_backward_search_is_refused():
    with pytest.raises(ValueError, match="backwards"):
        resolve_pattern(r"(?r)\w+")


@pytest.mark.parametrize("pattern", ["(?:a|a)*c", "((?:a|a)*)c"])
def test_a_pattern_that_backtracks_without_end_is_stopped(monkeypatch, pattern):
    monkeypatch.setattr(patterns, "_TIMEOUT_S", 0.2)
    with pytest.raises(
        tokbench.BackendError, match="still at work after 0 s on a text of 42 characters that begins 'aaa"
    ):
        Splitter(pattern)("a" * 40 + "!c")


def test_a_name_alone_is_a_split_that_regex_runs(monkeypatch):
    """One entry makes a split known; who has no scanner for it leaves it to ``regex``."""
    expression = r"\p{Lu}?\p{Ll}+|\P{L}+|\p{L}"
    load_registry()  # a plugin that is imported first now would list this split for all tests that follow
    monkeypatch.setitem(patterns.PATTERNS, "camel", expression)
    texts = ["parseHttpHeader and readFile, writeFile: 12 + 345", "getUserName setUserName getUserId ÄrgerÜber"] * 3
    named = tokbench.train("regex_bpe", texts, 300, pattern="camel")
    plain = tokbench.train("regex_bpe", texts, 300, pattern=expression)
    literal = tokbench.train("regex_bpe", texts, 300, pattern=expression, engine="python")
    for text in texts:
        assert list(named.encode(text)) == list(plain.encode(text)) == list(literal.encode(text))
        assert named.decode(named.encode(text)) == text
    assert named.token_bytes(299) == plain.token_bytes(299)
