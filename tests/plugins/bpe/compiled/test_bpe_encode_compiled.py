"""The compiled encoder against the one in Python: the same ids, whatever the vocabulary and the text."""

import itertools
import random

import numpy as np
import pytest
from bpe_texts import SPLITS, TEXT, made_by_hand
from hypothesis import given, settings
from hypothesis import strategies as st

import tokbench
from tokbench_plugins.bpe import FIRST_MERGE, Encoder, train
from tokbench_plugins.bpe.engines import bulk_encoder
from tokbench_plugins.bpe.recovery.recover import vocabulary_of_ranks
from tokbench_plugins.bpe.vocabulary import Vocabulary

pytest.importorskip("numba")

from tokbench_plugins.bpe.compiled import encode as encode_compiled
from tokbench_plugins.bpe.compiled.encode import CompiledEncoder
from tokbench_plugins.bpe.compiled.encode_chunks import LONGEST_CACHED
from tokbench_plugins.bpe.compiled.encode_merge import LONGEST_SCANNED

TEXTS = st.lists(TEXT, max_size=5)


@pytest.fixture(scope="module")
def words():
    """A vocabulary of 1,000 ids, and the text it was trained on."""
    rng = random.Random(5)
    syllables = ["ka", "to", "mi", "shi", "en", "or", "ß", "é", "да", "не", "語"]
    lexicon = ["".join(rng.choices(syllables, k=rng.randrange(1, 7))) for _ in range(1000)]
    text = " ".join(rng.choices(lexicon, k=10_000))
    return train([text], 1000, "gpt4"), text


def check(vocabulary, pattern, texts):
    """A batch twice, the second time out of the cache."""
    expected = list(map(Encoder(vocabulary, pattern), texts))
    compiled = CompiledEncoder(vocabulary, pattern)
    for _ in range(2):
        ids, offsets = compiled.encode_batch(texts)
        assert (ids.dtype, offsets.dtype, offsets.shape) == (np.uint32, np.int64, (len(texts) + 1,))
        assert [ids[a:b].tolist() for a, b in itertools.pairwise(offsets)] == expected


@settings(deadline=None, max_examples=60)
@given(pattern=st.sampled_from(SPLITS), documents=TEXTS, texts=TEXTS)
def test_trained_merges(pattern, documents, texts):
    check(Vocabulary.trained(train([*documents, *texts[:1]], 330, pattern)), pattern, texts)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6), documents=TEXTS, texts=TEXTS, whole=st.lists(st.text(min_size=2), max_size=3))
def test_any_ranks(seed, documents, texts, whole):
    """Bytes shuffled, gaps between the ids, tokens that no merge builds."""
    rng = random.Random(seed)
    tokens = [*Vocabulary.trained(train(documents, 300, "o200k")).ranks]
    first = tokens[:FIRST_MERGE]
    rng.shuffle(first)
    tokens[:FIRST_MERGE] = first
    tokens += {token.encode("utf-8", "replace") for token in whole} - set(tokens)
    ids = sorted(rng.sample(range(2000), len(tokens)))
    check(vocabulary_of_ranks(dict(zip(tokens, ids, strict=True))), "o200k", [*texts, *whole, *documents])


def test_merges_out_of_the_order_of_ids():
    tokens = (*(bytes([byte]) for byte in range(256)), b"abc", b"bc", b"ab", b"aa")
    merges = ((97, 97, 259), (98, 99, 257), (97, 98, 258), (258, 99, 256), (97, 257, 256))
    texts = ["abc", "aabc", "aaabcbcab", "abab abc", "ab", "aa", "bc"]
    check(Vocabulary(tokens, tuple(range(256)), merges), "gpt2", texts)


@settings(deadline=None, max_examples=50)
@given(merges=made_by_hand(), order=st.randoms(), texts=st.lists(st.text(alphabet="ab ", max_size=40), max_size=4))
def test_any_merges_in_any_order(merges, order, texts):
    """A merge may come before those that make its halves, and chunks of two bytes have the right id all the same."""
    trained = Vocabulary.trained(merges)
    check(trained, None, texts)
    shuffled = tuple(order.sample(trained.merges, len(merges)))
    check(Vocabulary(trained.tokens, trained.byte_ids, shuffled), "gpt2", texts)


def test_lengths_at_which_something_changes(words):
    """8 and 15 bytes fill words of a key, 120 are remembered, 223 are searched without a heap."""
    assert {LONGEST_CACHED, LONGEST_SCANNED} == {120, 223}
    merges, text = words
    data = text.replace(" ", "").encode()
    texts = [
        data[start : start + length].decode("utf-8", "ignore")
        for length in (*range(7, 18), *range(118, 123), *range(221, 226), 1000)
        for start in range(0, 3 * length, length // 3)
    ]
    check(Vocabulary.trained(merges), None, texts)


def test_slabs_and_documents_across_them(words, monkeypatch):
    merges, text = words
    monkeypatch.setattr(encode_compiled, "_SLAB", 1000)
    texts = [text[start : start + 37 * (start % 50)] for start in range(0, 20_000, 410)]
    check(Vocabulary.trained(merges), "gpt4", texts)


@pytest.mark.parametrize("small", ["_LEARNED", "_SPANS", "_KEYS"])
def test_a_full_cache_forgets_and_goes_on(words, monkeypatch, small):
    monkeypatch.setattr(encode_compiled, small, 64)
    merges, text = words
    letters = random.Random(1).choices("abcdefghé語", k=27_000)
    unseen = " ".join("".join(letters[i : i + (150 if i % 100 == 0 else 9)]) for i in range(0, 27_000, 9))
    check(Vocabulary.trained(merges), "gpt4", [text, unseen, unseen[::-1]])


def test_ids_too_high_to_be_merged_are_left_to_python(caplog):
    """Twenty-one bits hold an id; beyond, ids would be taken for others."""
    tokens = (*(bytes([byte]) for byte in range(256)), *[b""] * ((1 << 21) - 256), b"ab")
    vocabulary = Vocabulary(tokens, tuple(range(256)), ((97, 98, 1 << 21),))
    with pytest.raises(tokbench.BackendError, match="id 2097152"):
        bulk_encoder("numba", vocabulary, None)
    assert bulk_encoder("auto", vocabulary, None) is None
    assert "id 2097152" in caplog.text


def test_pairs_whose_hashes_agree_in_many_bits():
    """Two of the merges of this text fall into one bucket, with one slot and one step in a small table."""
    text = "00010\x80\x81Ù02\x820Á\U00010000\U0002f6f3"
    merges = train([text], 300, None)
    vocabulary = Vocabulary.trained(merges)
    assert CompiledEncoder(vocabulary, None).encode_batch([text]).ids.tolist() == Encoder(vocabulary, None)(text)
