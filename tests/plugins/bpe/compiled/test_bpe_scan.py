"""The scanners cut as `regex` does: every character, everywhere, and all texts at hand."""

import itertools
import json
import sysconfig
import unicodedata
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokbench_plugins.bpe import PATTERNS

pytest.importorskip("numba")

from tokbench_plugins.bpe.compiled.count import encode_documents
from tokbench_plugins.bpe.compiled.scan import scanner
from tokbench_plugins.bpe.patterns import STAGE_TWO, WORDS, Splitter

CHARACTERS = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
# At least one character of every class, some of two, three and four bytes.
SAMPLES = "xsSlLvVreEtſAǅʰ中\u0301١3²'/.🙂 \t\u00a0\u2003\n\r"
CONTEXTS = ["a{}b", " {}x", "'l{}", "a'v{}", "Ab{}C'{}", "  {}", "{}\n", "1{}2", "!{}a", "中A{}"]


def wanted(name, documents):
    """Return the ends of the chunks of all documents, in bytes, as `regex` cuts them."""
    split = Splitter(name)
    return np.cumsum([len(chunk.encode()) for document in documents for chunk in split(document)], dtype=np.int64)


def scanned(name, documents):
    return scanner(name).ends(*encode_documents(documents))


def check(name, documents):
    if np.array_equal(scanned(name, documents), wanted(name, documents)):
        return
    for document in documents:  # say which one
        assert scanned(name, [document]).tolist() == wanted(name, [document]).tolist(), ascii(document)


@pytest.mark.parametrize("name", [*PATTERNS, WORDS, STAGE_TWO])
@settings(deadline=None, max_examples=200)
@given(text=st.one_of(st.text(alphabet=SAMPLES, max_size=30), st.text(max_size=30)))
def test_equal_to_regex(name, text):
    check(name, [text])


@pytest.mark.parametrize("name", PATTERNS)
def test_ascii_within_a_window_of_64_bytes(name):
    """Short strings, at all places of a window, where the bits and not the automaton find the chunks."""
    strings = ["".join(letters) for letters in itertools.product("xsSlL1'/. \t\n\r", repeat=3)]
    check(name, [f"some words (in front) {string} and behind, 12 more of them, it's" for string in strings])
    check(name, ["words in front of " + "".join(pair) for pair in itertools.product(strings[::17], strings[::31])])
    mixed = "".join(strings[::5])
    check(name, [mixed[start : start + 200] for start in range(400)])


@pytest.mark.parametrize("name", [*PATTERNS, WORDS, STAGE_TWO])
@settings(deadline=None, max_examples=60)
@given(
    runs=st.lists(
        st.tuples(st.sampled_from("abSLTlvre019 \t\r\n\n'.(/é\x1c語"), st.sampled_from([1, 1, 1, 2, 3, 4, 30, 63, 70]))
    ),
    before=st.integers(0, 70),
)
def test_runs_across_windows(name, runs, before):
    check(name, ["word " * (before // 5) + "x" * (before % 5) + "".join(letter * n for letter, n in runs), "it's", ""])


@pytest.mark.slow
@pytest.mark.parametrize("name", PATTERNS)
def test_borders_of_classes_in_many_places(name):
    """The first and the last character of every run of one category and one way of folding case."""
    kind = [(unicodedata.category(char), char.isspace(), char.casefold() != char) for char in CHARACTERS]
    borders = {k for k in range(1, len(kind)) if kind[k] != kind[k - 1]}
    near = [CHARACTERS[k] for k in sorted(borders | {k - 1 for k in borders})]
    assert len(near) > 5000
    check(name, [context.replace("{}", character) for context in CONTEXTS for character in near])


@pytest.mark.slow
@pytest.mark.parametrize("name", PATTERNS)
def test_real_texts(name, data):
    library = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*/*.py"))[::15]
    hostile = files("tokbench.sources.sample").joinpath("hostile.jsonl").read_text("utf-8").splitlines()
    texts = [path.read_text("utf-8", errors="replace") for path in library]
    texts += [path.read_text("utf-8")[:100_000] for path in sorted((data / "ntrex").glob("*.txt"))]
    check(name, texts + [str(value) for line in hostile for value in json.loads(line).values()])


@pytest.mark.parametrize("name", PATTERNS)
def test_no_chunk_crosses_documents(name):
    documents = ["", "ab", "cd", "", " ", " ", "'", "s", "12", "34", "!", "\n", "Ab", "", "C'", "", "ll", ""]
    assert scanned(name, documents).tolist() == wanted(name, documents).tolist()
    assert scanned(name, []).tolist() == scanned(name, [""]).tolist() == []
