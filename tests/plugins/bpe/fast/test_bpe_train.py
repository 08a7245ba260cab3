"""The incremental trainer against the literal loop: the same merges, whatever the text."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokbench_plugins.bpe import FIRST_MERGE, PATTERNS, Splitter, train
from tokbench_plugins.bpe.literal import train_literally

SPLITS = st.sampled_from([None, *PATTERNS, r"[^b]+", r"(a)|(b+)"])

# Few letters make ties and runs of one letter ('aaaa') the rule; the rest exercises the splits.
LETTERS = st.text(alphabet="ab", max_size=60)
MIXED = st.text(alphabet="aAb's 1\n\té🙂", max_size=60)
ANYTHING = st.text(max_size=30)
DOCUMENTS = st.lists(st.one_of(LETTERS, MIXED, ANYTHING), max_size=6)


def literal(documents, vocab_size, pattern, tie="first"):
    split = Splitter(pattern)
    return train_literally([chunk.encode() for text in documents for chunk in split(text)], vocab_size, tie)


@settings(deadline=None)
@given(pattern=SPLITS, tie=st.sampled_from(["first", "smallest"]), documents=DOCUMENTS, merges=st.integers(0, 40))
def test_merges_equal_the_literal_loop(pattern, tie, documents, merges):
    size = FIRST_MERGE + merges
    assert train(documents, size, pattern, tie=tie) == literal(documents, size, pattern, tie)


@pytest.mark.parametrize(("letters", "pattern", "tie"), [("abc ", None, "first"), ("aaaab \n", "gpt4", "smallest")])
def test_hundreds_of_merges_equal_the_literal_loop(letters, pattern, tie):
    rng = random.Random(letters)
    documents = ["".join(rng.choices(letters, k=rng.randrange(200))) for _ in range(12)]
    assert train(documents, 400, pattern, tie=tie) == literal(documents, 400, pattern, tie)


def test_runs_of_one_letter():
    for length in (*range(12), 31, 32, 33, 100):
        assert train(["a" * length], 300, None) == literal(["a" * length], 300, None)


def test_documents_are_gone_through_once():
    assert train((text for text in ["abab", "ab"]), 258, None) == [(97, 98), (256, 256)]


def test_training_stops_when_no_pair_is_left():
    assert train(["abcd"], 10_000, None) == [(97, 98), (256, 99), (257, 100)]
    assert train([], 10_000, "gpt4") == train([""], 10_000, None) == train(["a"], 10_000, "gpt2") == []


@settings(deadline=None)
@given(documents=DOCUMENTS, small=st.integers(0, 20), more=st.integers(0, 20))
def test_a_smaller_vocabulary_is_a_prefix(documents, small, more):
    merges = train(documents, FIRST_MERGE + small + more, "gpt4")
    assert train(documents, FIRST_MERGE + small, "gpt4") == merges[:small]


def test_progress_rises_and_ends_complete():
    calls = []
    train(["abcdefgh" * 3], 260, None, lambda done, total: calls.append((done, total)))
    assert calls == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4), (4, 4)]
