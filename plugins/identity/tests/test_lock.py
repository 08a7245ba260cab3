"""A lock comes back as it was written, and what is no lock is refused with its line."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokbench.foundation.errors import InputError
from tokbench_identity.pins.cut import form_of, is_known, read_cut, surface_of, write_cut
from tokbench_identity.pins.lock import (
    Lock,
    PinnedCorpus,
    PinnedText,
    PinnedTokenizer,
    PinnedVocabulary,
    place_of,
    read_lock,
    write_lock,
)

WORDS = st.text(min_size=1, max_size=12).map(lambda text: place_of("c", "g", text))
DIGESTS = st.text("0123456789abcdef", min_size=16, max_size=16)
CUTS = st.lists(st.integers(0, 200), max_size=120).map(write_cut)
TEXTS = st.builds(PinnedText, WORDS, DIGESTS, st.sampled_from(["=", "+", "nfc", "+nfkd", "~0123abcd"]), CUTS)
VOCABULARIES = st.builds(
    PinnedVocabulary,
    st.integers(1, 10**6),
    DIGESTS,
    st.dictionaries(st.text(), st.integers(0, 10**6), max_size=3),
    st.dictionaries(st.sampled_from(["split", "added space", "chat template"]), st.text(), max_size=3),
)


@given(VOCABULARIES, st.lists(TEXTS, max_size=4, unique_by=lambda text: text.place))
def test_a_lock_comes_back(tmp_path_factory, vocabulary, texts):
    tokenizer = PinnedTokenizer("mine", "huggingface", ("tokenizers 1.0",), {"path": "é\n"}, vocabulary, tuple(texts))
    lock = Lock("mine.yaml", "3.11.7", {"c": PinnedCorpus(4, "ab" * 32)}, (tokenizer,), 3, ("mine",))
    path = tmp_path_factory.getbasetemp() / "ids.lock"
    path.write_text(write_lock(lock), encoding="utf-8")
    assert read_lock(path) == lock


@given(st.lists(st.integers(0, 10**6), max_size=96))
def test_a_cut_comes_back(lengths):
    ends = [sum(lengths[: k + 1]) for k in range(len(lengths))]
    assert read_cut(write_cut(lengths)) == (ends, True)


@given(st.text(), st.sampled_from(["=", "+", "nfc", "nfd", "nfkc", "nfkd", "lower", "+lower"]))
def test_a_form_tells_the_surface(text, form):
    surface = surface_of(text, form)
    assert is_known(form_of(text, surface))
    assert surface_of(text, form_of(text, surface)) == surface


GOOD = write_lock(
    Lock(
        "mine.yaml",
        "3.11.7",
        {"c": PinnedCorpus(1, "ab" * 32)},
        (PinnedTokenizer("mine", "b", (), {}, PinnedVocabulary(9), (PinnedText("c/g/1", "0" * 16, "=", "12"),)),),
    )
)


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("format 2", "format 3", ": this lock is of format 3"),
        ("  ids 9", "  idz 9", ":13: "),
        ("  ids 9", "  ids nine", ":13: "),
        ("= 12", "= 1?", ":14: "),
        ("  ids 9\n", "", ": lines are damaged"),
        ("\ntokenizer mine", "\ntokenizer mine\ntokenizer mine", ":11: "),
    ],
)
def test_what_is_no_lock_is_refused_with_its_line(tmp_path, old, new, place):
    path = tmp_path / "ids.lock"
    path.write_text(GOOD.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(f"{path}{place}")):
        read_lock(path)


def _damaged(lines):
    """Yield lines without one, with one twice, with two swapped, cut, and without every second."""
    for k in range(len(lines)):
        yield lines[:k] + lines[k + 1 :]
        yield lines[: k + 1] + lines[k:]
        yield [*lines[:k], *lines[k : k + 2][::-1], *lines[k + 2 :]]
        yield lines[:k]
    yield lines[::2]


def test_every_damage_is_refused(tmp_path):
    lines, path = GOOD.splitlines(keepends=True), tmp_path / "ids.lock"
    contents = ["".join(damaged).encode() for damaged in _damaged(lines)]
    bits = [bytearray(GOOD.encode()) for _ in GOOD]
    for place, content in enumerate(bits):
        content[place] ^= 1 << place % 8
    for content in [*contents, *bits, *(GOOD.encode()[:size] for size in range(0, len(GOOD) - 1, 7))]:
        if bytes(content) != GOOD.encode():
            path.write_bytes(content)
            with pytest.raises(InputError, match=re.escape(str(path))):
                read_lock(path)


def test_other_line_ends_are_no_damage(tmp_path):
    path = tmp_path / "ids.lock"
    path.write_bytes(GOOD.replace("\n", "\r\n").encode())
    assert read_lock(path).tokenizers[0].name == "mine"
