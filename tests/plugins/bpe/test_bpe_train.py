"""Both trainers against the literal loop: the same merges, whatever the text and the tie rule."""

import random
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokbench.foundation.jit import has_numba
from tokbench_plugins.bpe import FIRST_MERGE, PATTERNS, Splitter, engines, train
from tokbench_plugins.bpe.literal import train_literally

ENGINES = pytest.mark.parametrize("engine", ["python", *(["numba"] if has_numba() else [])])
needs_numba = pytest.mark.skipif(not has_numba(), reason="numba is not installed")

TIES = st.sampled_from(["first", "smallest"])
SPLITS = st.sampled_from([None, *PATTERNS, r"[^b]+", r"(a)|(b+)"])

# Few letters make ties and runs of one letter ('aaaa') the rule; the rest exercises the splits.
LETTERS = st.text(alphabet="ab", max_size=60)
MIXED = st.text(alphabet="aAb's 1\n\té🙂", max_size=60)
DOCUMENTS = st.lists(st.one_of(LETTERS, MIXED, st.text(max_size=30)), max_size=6)


def literal(documents, vocab_size, pattern, tie="first"):
    split = Splitter(pattern)
    return train_literally([chunk.encode() for text in documents for chunk in split(text)], vocab_size, tie)


@ENGINES
@settings(deadline=None)
@given(pattern=SPLITS, tie=TIES, documents=DOCUMENTS, merges=st.integers(0, 60))
def test_merges_equal_the_literal_loop(engine, pattern, tie, documents, merges):
    size = FIRST_MERGE + merges
    assert train(documents, size, pattern, tie=tie, engine=engine) == literal(documents, size, pattern, tie)


@ENGINES
@pytest.mark.parametrize("letters", ["ab", "aaaab \n", string.printable, "😀😃🙂é中"])
def test_hundreds_of_merges_equal_the_literal_loop(engine, letters):
    rng = random.Random(letters)
    documents = ["".join(rng.choices(letters, k=rng.randrange(200))) for _ in range(12)]
    for pattern, tie in ((None, "first"), ("gpt4", "smallest")):
        assert train(documents, 500, pattern, tie=tie, engine=engine) == literal(documents, 500, pattern, tie)


@ENGINES
def test_runs_of_one_letter(engine):
    for length in (*range(12), 31, 32, 33, 100):
        assert train(["a" * length], 300, None, engine=engine) == literal(["a" * length], 300, None)


@ENGINES
def test_documents_are_gone_through_once(engine):
    assert train((text for text in ["abab", "ab"]), 258, None, engine=engine) == [(97, 98), (256, 256)]


@ENGINES
def test_training_stops_when_no_pair_is_left(engine):
    assert train(["abcd"], 10_000, None, engine=engine) == [(97, 98), (256, 99), (257, 100)]
    for documents in ([], [""], ["a"], ["a", "b"]):
        assert train(documents, 10_000, "gpt4", engine=engine) == []


@settings(deadline=None)
@given(documents=DOCUMENTS, small=st.integers(0, 20), more=st.integers(0, 20))
def test_a_smaller_vocabulary_is_a_prefix(documents, small, more):
    merges = train(documents, FIRST_MERGE + small + more, "gpt4")
    assert train(documents, FIRST_MERGE + small, "gpt4") == merges[:small]


@ENGINES
def test_progress_and_an_interruption(engine):
    calls = []
    train(["abcdefgh" * 3], 260, None, lambda done, total: calls.append((done, total)), engine=engine)
    assert calls == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4), (4, 4)]

    def interrupt(done, total):
        if done > 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(["abcdefghijkl"], 266, None, interrupt, engine=engine)


@needs_numba
def test_counts_beyond_32_bits():
    from tokbench_plugins.bpe.compiled.count import Counts
    from tokbench_plugins.bpe.compiled.train import train_counts

    counts = Counts.of({"ab": 2**31, "cd": 2**31 + 1, "abc": 2})
    assert train_counts(counts, 258) == [(97, 98), (99, 100)]


@needs_numba
@pytest.mark.parametrize("tie", ["first", "smallest"])
def test_arrays_that_grow_change_nothing(monkeypatch, tie):
    from tokbench_plugins.bpe.compiled import train as train_compiled

    rng = random.Random(1)
    documents = ["".join(rng.choices(string.ascii_letters, k=3000)) for _ in range(3)]
    whole = train(documents, 2000, None, tie=tie, engine="numba")
    laid_out = train_compiled._laid_out

    def tight(counts, ids):
        text = laid_out(counts, ids)
        return text._replace(
            arena=text.arena[: text.flat.size].copy(), pairs=text.pairs[:2800].copy(), heap=text.heap[:2800].copy(),
            table=text.table[:8192].copy(),
        )  # fmt: skip

    monkeypatch.setattr(train_compiled, "_laid_out", tight)
    assert train(documents, 2000, None, tie=tie, engine="numba") == whole


@needs_numba
def test_a_long_text_is_trained_by_numba(monkeypatch):
    monkeypatch.setattr(engines, "_LONG_SPLIT", 10)
    monkeypatch.setattr(engines, "train_merges", lambda *_: pytest.fail("trained in Python"))
    taken = []
    assert train((taken.append(n) or "ab ab" for n in range(5)), 258, "gpt4") == [(97, 98), (32, 256)]
    assert taken == [0, 1, 2, 3, 4]
