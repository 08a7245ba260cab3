"""The compiled trainer against the literal loop: the same merges, whatever the text and the tie rule."""

import random
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokbench_plugins.bpe import FIRST_MERGE, Splitter, engines
from tokbench_plugins.bpe.engines import train
from tokbench_plugins.bpe.literal import train_literally

pytest.importorskip("numba")

from tokbench_plugins.bpe.compiled import train as train_compiled
from tokbench_plugins.bpe.compiled.count import Counts, count_documents
from tokbench_plugins.bpe.compiled.train import train_counts

TIES = st.sampled_from(["first", "smallest"])
SPLITS = [None, "gpt2", "gpt4", "o200k", r"[^b]+"]

LETTERS = st.text(alphabet="ab", max_size=60)
MIXED = st.text(alphabet="aAb's 1\n\té🙂", max_size=60)
DOCUMENTS = st.lists(st.one_of(LETTERS, MIXED, st.text(max_size=30)), max_size=6)


def compiled(documents, vocab_size, pattern, tie):
    return train_counts(count_documents(documents, pattern), vocab_size, tie)


def literal(documents, vocab_size, pattern, tie):
    split = Splitter(pattern)
    return train_literally([chunk.encode() for text in documents for chunk in split(text)], vocab_size, tie)


@settings(deadline=None)
@given(pattern=st.sampled_from(SPLITS), tie=TIES, documents=DOCUMENTS, merges=st.integers(0, 60))
def test_merges_equal_the_literal_loop(pattern, tie, documents, merges):
    size = FIRST_MERGE + merges
    assert compiled(documents, size, pattern, tie) == literal(documents, size, pattern, tie)


@pytest.mark.parametrize("letters", ["ab", "aaaab \n", string.printable, "😀😃🙂é中"])
def test_hundreds_of_merges_equal_the_literal_loop(letters):
    rng = random.Random(letters)
    documents = ["".join(rng.choices(letters, k=rng.randrange(200))) for _ in range(12)]
    for pattern, tie in ((None, "first"), ("gpt4", "smallest")):
        assert compiled(documents, 500, pattern, tie) == literal(documents, 500, pattern, tie)


def test_counts_beyond_32_bits():
    counts = Counts.of({"ab": 2**31, "cd": 2**31 + 1, "abc": 2})
    assert train_counts(counts, 258) == [(97, 98), (99, 100)]


@pytest.mark.parametrize("tie", ["first", "smallest"])
def test_arrays_that_grow_change_nothing(monkeypatch, tie):
    rng = random.Random(1)
    documents = ["".join(rng.choices(string.ascii_letters, k=3000)) for _ in range(3)]
    whole = compiled(documents, 2000, None, tie)
    laid_out = train_compiled._laid_out

    def tight(counts, ids):
        text = laid_out(counts, ids)
        return text._replace(
            arena=text.arena[: text.flat.size].copy(), pairs=text.pairs[:2800].copy(), heap=text.heap[:2800].copy(),
            table=text.table[:8192].copy(),
        )  # fmt: skip

    monkeypatch.setattr(train_compiled, "_laid_out", tight)
    assert compiled(documents, 2000, None, tie) == whole


def test_training_stops_when_no_pair_is_left():
    assert compiled(["abcd"], 10_000, None, "first") == [(97, 98), (256, 99), (257, 100)]
    for documents in ([], [""], ["a"], ["a", "b"]):
        assert compiled(documents, 10_000, "gpt4", "first") == []


def test_progress_and_an_interruption():
    calls = []
    train_counts(Counts.of({"abcdefgh" * 3: 1}), 260, "first", lambda done, total: calls.append((done, total)))
    assert calls == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4), (4, 4)]

    def interrupt(done, total):
        if done > 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_counts(Counts.of({"abcdefghijkl": 1}), 266, "first", interrupt)


def test_a_long_text_is_trained_by_numba(monkeypatch):
    monkeypatch.setattr(engines, "_LONG_SPLIT", 10)
    monkeypatch.setattr(engines, "train_merges", lambda *_: pytest.fail("trained in Python"))
    taken = []
    assert train((taken.append(n) or "ab ab" for n in range(5)), 258, "gpt4") == [(97, 98), (32, 256)]
    assert taken == [0, 1, 2, 3, 4]
