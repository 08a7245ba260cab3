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


@given(name=st.sampled_from([*PATTERNS]), text=TEXT)
def test_named_patterns_cut_as_regex_does(name, text):
    chunks = Splitter(name)(text)
    assert chunks == regex.findall(PATTERNS[name], text)
    assert "".join(chunks) == text


def test_o200k_is_the_published_pattern(monkeypatch):
    monkeypatch.setattr(tiktoken_ext.openai_public, "load_tiktoken_bpe", lambda *_, **__: {})
    assert PATTERNS["o200k"] == tiktoken_ext.openai_public.o200k_base()["pat_str"]


PARTIAL = st.sampled_from(["a+", "(a)(b)?", "x*", "(?<=a)b", "a|", r"\d\K\w", "$"])


@given(pattern=PARTIAL, text=st.text(alphabet="abx1 ", max_size=30))
def test_what_a_pattern_does_not_match_is_kept(pattern, text):
    chunks = Splitter(pattern)(text)
    assert "".join(chunks) == text
    assert all(chunks)


@pytest.mark.parametrize(
    ("name", "text", "chunks"),
    [
        ("gpt2", "who's WHO'S", ["who", "'s", " WHO", "'", "S"]),
        ("gpt4", "WHO'S 12345", ["WHO", "'S", " ", "123", "45"]),
        ("o200k", "myVar isn't", ["my", "Var", " isn't"]),
        ("[0-9]+", "a1b22c", ["a", "1", "b", "22", "c"]),
        ("(?:x(y))", "axyxyb", ["a", "xy", "xy", "b"]),
        ("gpt4", "a\ud83d \ude00b", Splitter("gpt4")("a\ufffd \ufffdb")),
        (None, "\ud83d\ude00", ["😀"]),
    ],
)
def test_cuts_by_hand(name, text, chunks):
    assert Splitter(name)(text) == chunks


@pytest.mark.parametrize(("wrong", "meant"), [("gpt-4", "gpt4"), ("o200", "o200k")])
def test_misspelled_names(wrong, meant):
    with pytest.raises(ValueError, match=f"did you mean '{meant}'"):
        resolve_pattern(wrong)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ("whitespace", "known: gpt2, gpt4, o200k"),
        ("", "known: "),
        ("(", "is not a regular expression"),
        (r"\p{Nothing}+", "is not a regular expression"),
        ("(?a)(?u)x", "is not a regular expression"),
        ("(" * 5000, "is not a regular expression"),
        (r"(?r)\w+", "backwards"),
    ],
)
def test_expressions_that_cannot_split(wrong, reason):
    with pytest.raises(ValueError, match=reason):
        resolve_pattern(wrong)


def test_a_name_alone_is_a_split_that_regex_runs(monkeypatch):
    """One entry makes a split known; who has no scanner for it leaves it to ``regex``."""
    expression = r"\p{Lu}?\p{Ll}+|\P{L}+|\p{L}"
    load_registry()  # a plugin that is imported first now would list this split for all tests that follow
    monkeypatch.setitem(patterns.PATTERNS, "camel", expression)
    texts = ["parseHttpHeader and readFile, writeFile: 12 + 345", "getUserName setUserName getUserId ÄrgerÜber"] * 3
    named, plain = (tokbench.train("regex_bpe", texts, 300, pattern=pattern) for pattern in ("camel", expression))
    assert named.merges == plain.merges
    for text in texts:
        assert list(named.encode(text)) == list(plain.encode(text))
