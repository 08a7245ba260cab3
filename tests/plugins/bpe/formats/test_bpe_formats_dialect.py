"""Expressions for Hugging Face's engine: shared where both engines split alike, refused where they may not."""

import pytest
import regex
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from tokbench_plugins.bpe import PATTERNS as NAMED
from tokbench_plugins.bpe import Splitter, resolve_pattern
from tokbench_plugins.bpe.formats.dialect import check_shared_dialect

tokenizers = pytest.importorskip("tokenizers")


@pytest.mark.parametrize(
    "pattern", [*NAMED, r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}", r"(?>\d{2,})"]
)
def test_known_expressions_are_shared(pattern):
    check_shared_dialect(resolve_pattern(pattern))


@pytest.mark.parametrize(
    "pattern", [r"\p{N}{1,3}+", "a{2}?", "a$", r"[\w']+", "(?m)a", "[a&&b]", r"(a)\1", r"\x85", r"\X"]
)
def test_doubtful_expressions_are_refused(pattern):
    with pytest.raises(ValueError, match="differently from character"):
        check_shared_dialect(pattern)


ATOMS = st.sampled_from(
    r"\p{L} \p{N} \s \S . a \x20 ' (?:ab|a) (?>a|ab) [^\s\p{L}] [a-z0] \d \n (?i:re) [\r\n/] [^a]".split(" ")
)
QUANTIFIERS = st.sampled_from(
    ["", "", "+", "*", "?", "++", "?+", "*+", "+?", "*?", "??", "{1,3}", "{2}", "{2,}", "{1,2}?"]
)
ENDS = st.sampled_from(["", "", "", r"(?!\S)", r"(?=a)", "(?<=b)", r"(?<!\s)"])
EXPRESSIONS = st.lists(
    st.lists(st.tuples(ATOMS, QUANTIFIERS).map("".join), min_size=1, max_size=3).map("".join), min_size=1, max_size=4
).map("|".join)


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(
    expression=st.tuples(EXPRESSIONS, ENDS).map("(?:{0[0]}){0[1]}".format),
    texts=st.lists(st.text("abAR' \n\r1²éß中", max_size=12), max_size=8),
)
def test_shared_expressions_split_alike(expression, texts):
    try:
        check_shared_dialect(expression)
    except ValueError:
        reject()
    if any(not match[0] for text in texts for match in regex.finditer(expression, text)):
        reject()  # the engines differ in how they go on from nothing
    split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(expression), "isolated")
    ours = Splitter(expression)
    for text in texts:
        assert [text[start:end] for _, (start, end) in split.pre_tokenize_str(text)] == ours(text)
