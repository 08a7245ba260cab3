"""The incremental trainer against the literal loop: the same merges, whatever the text."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokbench_plugins.bpe import FIRST_MERGE, PATTERNS, Splitter, token_bytes_of, train
from tokbench_plugins.bpe.literal import train_literally

SPLITS = [None, *PATTERNS, r"[^b]+", r"(a)|(b+)"]

# Few letters make ties and runs of one letter ('aaaa') the rule; the rest exercises the splits.
LETTERS = st.text(alphabet="ab", max_size=60)
MIXED = st.text(alphabet="aAb's 1\n\té🙂", max_size=60)
ANYTHING = st.text(max_size=30)
DOCUMENTS = st.lists(st.one_of(LETTERS, MIXED, ANYTHING), max_size=6)


def literal(documents, vocab_size, pattern, tie="first"):
    split = Splitter(pattern)
    return train_literally([chunk.encode() for text in documents for chunk in split(text)], vocab_size, tie)


@pytest.mark.parametrize("tie", ["first", "smallest"])
@pytest.mark.parametrize("pattern", SPLITS)
@settings(deadline=None)
@given(documents=DOCUMENTS, merges=st.integers(0, 40))
def test_merges_equal_the_literal_loop(pattern, tie, documents, merges):
    size = FIRST_MERGE + merges
    assert train(documents, size, pattern, tie=tie) == literal(documents, size, pattern, tie)


@pytest.mark.slow
@pytest.mark.parametrize("tie", ["first", "smallest"])
@pytest.mark.parametrize("letters", ["ab", "abc ", "aaaab \n", "abcdefgh '12A\n  "])
@pytest.mark.parametrize("pattern", SPLITS)
def test_hundreds_of_merges_equal_the_literal_loop(pattern, letters, tie):
    rng = random.Random(f"{pattern} {letters}")
    documents = ["".join(rng.choices(letters, k=rng.randrange(400))) for _ in range(12)]
    assert train(documents, 500, pattern, tie=tie) == literal(documents, 500, pattern, tie)


def test_most_of_the_random_texts_above_have_a_hundred_merges():
    rng = random.Random(0)
    documents = ["".join(rng.choices("abc ", k=400)) for _ in range(12)]
    assert len(train(documents, 500, None)) == 244
    assert len(train(documents, 500, "gpt4")) == 244


@pytest.mark.parametrize("length", [*range(12), 31, 32, 33, 64, 100])
def test_runs_of_one_letter(length):
    assert train(["a" * length], 300, None) == literal(["a" * length], 300, None)


def test_ties_go_to_the_pair_that_occurs_first():
    assert train(["xyab"], 257, None) == [(120, 121)]
    assert train(["xy", "ab", "ab", "xy"], 258, None) == [(120, 121), (97, 98)]


def test_overlapping_pairs_all_count():
    # 'aaa' holds two pairs of a's, though one merge only: as many as there are of 'bc'.
    assert train(["aaabcbc"], 257, None) == [(97, 97)]
    assert train(["bcbcaaa"], 257, None) == [(98, 99)]


def test_no_merge_crosses_documents():
    assert train(["a", "b"] * 10, 300, None) == []
    assert train(["ab", "ba"], 300, None) == [(97, 98), (98, 97)]


def test_documents_are_gone_through_once():
    assert train((text for text in ["abab", "ab"]), 258, None) == [(97, 98), (256, 256)]


def test_training_stops_when_no_pair_is_left():
    merges = train(["abcd"], 10_000, None)
    assert token_bytes_of(merges)[-1] == b"abcd"
    assert len(merges) == 3
    assert train([], 10_000, "gpt4") == train([""], 10_000, None) == train(["a"], 10_000, "gpt2") == []


@settings(deadline=None)
@given(documents=DOCUMENTS, small=st.integers(0, 20), more=st.integers(0, 20))
def test_a_smaller_vocabulary_is_a_prefix(documents, small, more):
    merges = train(documents, FIRST_MERGE + small + more, "gpt4")
    assert train(documents, FIRST_MERGE + small, "gpt4") == merges[:small]


@settings(deadline=None)
@given(documents=DOCUMENTS)
def test_no_two_trained_ids_have_the_same_bytes(documents):
    tokens = token_bytes_of(train(documents, 400, None))
    assert len(set(tokens)) == len(tokens)


@pytest.mark.parametrize("size", [0, 255])
def test_vocabulary_below_the_bytes_is_refused(size):
    with pytest.raises(ValueError, match="256 bytes alone"):
        train(["text"], size, None)


def test_progress_rises_and_ends_complete():
    calls = []
    train(["abcdefgh" * 3], 260, None, lambda done, total: calls.append((done, total)))
    assert calls == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4), (4, 4)]

    calls.clear()
    train(["abc"], 100_000, None, lambda done, total: calls.append((done, total)))
    assert calls == [(0, 99_744), (2, 2)]
