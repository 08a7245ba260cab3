"""Merges recovered from bare ranks."""

import random
from dataclasses import replace

import pytest
import tiktoken
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tokbench.foundation.store import open_store
from tokbench_plugins.bpe import FIRST_MERGE, PATTERNS, Encoder, train
from tokbench_plugins.bpe.recovery import recover as recovery
from tokbench_plugins.bpe.recovery.recover import recover, vocabulary_of_ranks
from tokbench_plugins.bpe.recovery.recovered import Candidate, Recovered, WholeChunk
from tokbench_plugins.bpe.recovery.stored import recovered_once
from tokbench_plugins.bpe.vocabulary import token_bytes_of
from tokbench_plugins.tokbench_bpe.vocabulary import ranks_of_encoding

BYTES = {bytes([byte]): byte for byte in range(256)}


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), texts=st.lists(st.text(alphabet="abé ", max_size=80), max_size=5))
def test_trained_merges_come_back_whatever_the_ids(seed, texts):
    """Bytes shuffled and gaps between ids: the order is all that counts."""
    merges = train(texts, 340, None)
    rng = random.Random(seed)
    ids = sorted(rng.sample(range(1000), FIRST_MERGE + len(merges)))
    first = ids[:FIRST_MERGE]
    rng.shuffle(first)
    ids[:FIRST_MERGE] = first
    ranks = {token: ids[k] for k, token in enumerate(token_bytes_of(merges))}
    expected = [(ids[left], ids[right], ids[FIRST_MERGE + rank]) for rank, (left, right) in enumerate(merges)]
    assert recover(ranks) == (expected, [])


POWERS = BYTES | {b"a" * 2**k: 255 + k for k in range(1, 17)}
HUGE = POWERS | {b"ab" * 20_000: 300, b"xyz" * 10_000: 301, b"ab": 302}


def test_tokens_that_no_merge_builds():
    ranks = BYTES | {b"bc": 256, b"xyz": 257, b"xyz!": 258, b"ab": 259, b"abc": 260}
    merges, whole = recover(ranks)
    assert merges == [(98, 99, 256), (97, 98, 259), (97, 256, 260)]
    assert [(chunk.made, chunk.parts) for chunk in whole] == [(257, (120, 121, 122)), (258, (120, 121, 122, 33))]
    encode = Encoder(vocabulary_of_ranks(ranks), "gpt2")
    assert encode("xyz") == [257]
    assert encode("xyz xyz") == [257, 32, 120, 121, 122]
    assert encode("abc") == [260]


@given(seed=st.integers(0, 10**6), words=st.integers(1, 30), text=st.text("abc ", max_size=60))
@example(seed=12, words=18, text="bcc aaaacacabb caba    c  b b cbbbba   c")
def test_ranks_in_any_order_give_the_ids_of_tiktoken(seed, words, text):
    """Also of tokens whose halves have higher ranks: inside a longer chunk they are there in time."""
    rng = random.Random(seed)
    tokens = {"".join(rng.choices("abc", k=rng.randint(2, 5))).encode() for _ in range(words)}
    ranks = BYTES | {token: 256 + k for k, token in enumerate(rng.sample(sorted(tokens), len(tokens)))}
    engine = tiktoken.Encoding("any", pat_str=PATTERNS["gpt2"], mergeable_ranks=ranks, special_tokens={})
    assert Encoder(vocabulary_of_ranks(ranks), "gpt2")(text) == engine.encode_ordinary(text)


@pytest.mark.parametrize(
    ("ranks", "reason"),
    [
        ({token: byte for token, byte in BYTES.items() if byte != 65}, "no token for the byte 0x41"),
        (BYTES | {b"ab": 2**40}, "id 1,099,511,627,776 is beyond 64 times"),
        (BYTES | {b"ab": 256, b"cd": 256}, "the same id"),
    ],
)
def test_ranks_that_are_no_vocabulary(ranks, reason):
    with pytest.raises(ValueError, match=reason):
        vocabulary_of_ranks(ranks)


SOME = Recovered(
    [(0, 1, 3), (3, 2, 4)], [WholeChunk(5, (0, 1, 2), 0), WholeChunk(6, (1, 2), 2, ()), WholeChunk(7, (2,), 1, (4, 4))]
)


def test_merges_are_recovered_once_for_the_same_candidates(tmp_path, monkeypatch):
    monkeypatch.delenv("TOKBENCH_NO_STORE", raising=False)
    monkeypatch.setenv("TOKBENCH_STORE", str(tmp_path))
    made = []

    def recovered(candidates, late=False):
        return recovered_once(candidates, lambda: made.append(late) or SOME, late=late)

    candidates = [Candidate(3, [0, 1]), Candidate(4, [0, 1, 2], (3, 2))]
    longer = [Candidate(3, [0, 1, 0]), Candidate(4, [1, 2], (3, 2))]
    assert [recovered(candidates) for _ in range(3)] == [SOME] * 3
    assert made == [False]
    for other in (candidates[:1], longer, [candidates[0], Candidate(4, [0, 1, 2])]):
        recovered(other)
    recovered(candidates, late=True)
    assert made == [False] * 4 + [True]


@pytest.mark.slow
def test_a_real_vocabulary_comes_out_of_the_store_as_it_was_recovered(tmp_path, monkeypatch):
    """In Llama 3 some tokens are made of halves that come later."""
    monkeypatch.delenv("TOKBENCH_NO_STORE", raising=False)
    monkeypatch.setenv("TOKBENCH_STORE", str(tmp_path))
    pytest.importorskip("splintr")
    ranks = ranks_of_encoding("llama3")  # out of a package: tiktoken would need the network
    vocabulary = vocabulary_of_ranks(ranks)
    assert len(list(open_store().entries())) == 1
    monkeypatch.setattr(recovery, "recover", None)
    assert vocabulary_of_ranks(ranks) == vocabulary
    assert len(vocabulary.merges) == 128_046  # 997 of them are ways to the same tokens
    assert replace(vocabulary) == vocabulary  # which checks it
