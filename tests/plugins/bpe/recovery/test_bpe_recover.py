"""Merges recovered from bare ranks."""

import os
import random

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from tokbench_plugins.bpe import FIRST_MERGE, Encoder, token_bytes_of, train
from tokbench_plugins.bpe.compiled.jit import has_numba
from tokbench_plugins.bpe.fast.encode import is_canonical
from tokbench_plugins.bpe.recovery.recover import Candidate, Ranks, Recovery, recover, vocabulary_of_ranks

BYTES = {bytes([byte]): byte for byte in range(256)}


@pytest.mark.parametrize("seed", range(6))
@settings(deadline=None)
@given(texts=st.lists(st.text(alphabet="abé ", max_size=80), max_size=5))
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


CANDIDATES = st.lists(
    st.tuples(
        st.lists(st.integers(0, 2), min_size=2, max_size=7),
        st.one_of(st.none(), st.just(()), st.tuples(st.integers(0, 12), st.integers(0, 12))),
    ),
    max_size=40,
)


@pytest.mark.skipif(not has_numba(), reason="numba is not installed: pip install 'tokbench[fast]'")
@pytest.mark.parametrize("late", [False, True])
@given(CANDIDATES)
def test_compiled_recovery_equals_python(late, drawn):
    """Tokens of three letters in any order, some to be merged from one pair alone or never, some twice."""
    from tokbench_plugins.bpe.compiled.recover import CompiledRanks

    known, candidates = {}, []
    for units, pair in drawn:
        candidates.append(Candidate(known.setdefault(tuple(units), 3 + len(known)), units, pair))

    def recovered(kind):
        try:
            return Recovery(kind(candidates), late=late).run()
        except ValueError as error:
            return str(error)

    assert recovered(CompiledRanks) == recovered(Ranks)


@pytest.mark.skipif(not has_numba(), reason="numba is not installed: pip install 'tokbench[fast]'")
def test_compiled_recovery_watches_thousands_of_pairs():
    """Words of two halves that all come after them."""
    from tokbench_plugins.bpe.compiled.recover import CompiledRanks

    size = 3000
    words = [Candidate(10 * size + k, [2 * k, 2 * k, 2 * k + 1]) for k in range(size)]
    halves = [Candidate(20 * size + k, [2 * k, 2 * k + 1]) for k in range(size)]
    found = [Recovery(kind([*words, *halves]), late=True).run().merges for kind in (CompiledRanks, Ranks)]
    assert found[0] == found[1]
    assert len(found[0]) == 2 * size


def test_bytes_may_have_the_highest_ids():
    ranks = {token: 1000 + byte for token, byte in BYTES.items()} | {b"ab": 0, b"abab": 1}
    assert recover(ranks) == ([(1097, 1098, 0), (0, 0, 1)], [])


def test_tokens_that_no_merge_builds():
    ranks = BYTES | {b"bc": 256, b"xyz": 257, b"xyz!": 258, b"ab": 259, b"abc": 260}
    merges, whole = recover(ranks)
    assert merges == [(98, 99, 256), (97, 98, 259), (97, 256, 260)]
    assert [(chunk.made, chunk.parts) for chunk in whole] == [(257, (120, 121, 122)), (258, (120, 121, 122, 33))]
    encode = Encoder(vocabulary_of_ranks(ranks), "gpt2")
    assert encode("xyz") == [257]
    assert encode("xyz xyz") == [257, 32, 120, 121, 122]
    assert encode("abc") == [260]


@pytest.mark.parametrize(
    ("ranks", "reason"),
    [
        ({token: byte for token, byte in BYTES.items() if byte != 65}, "no token for the byte 0x41"),
        (BYTES | {b"": 256}, "empty token"),
        (BYTES | {b"ab": 2**40}, "id 1099511627776 is above"),
        (BYTES | {b"ab": -1}, "below 0"),
        (BYTES | {b"ab": 256, b"cd": 256}, "both have id 256"),
    ],
)
def test_ranks_that_are_no_vocabulary(ranks, reason):
    with pytest.raises(ValueError, match=reason):
        vocabulary_of_ranks(ranks)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "count"), [("gpt2", 50_000), ("p50k_base", 50_024), ("cl100k_base", 100_000), ("o200k_base", 199_742)]
)
def test_published_vocabularies(data, name, count):
    if not os.environ.get("TIKTOKEN_CACHE_DIR"):
        pytest.skip("TIKTOKEN_CACHE_DIR names no folder with tiktoken's files")
    ranks = tiktoken.get_encoding(name)._mergeable_ranks
    merges, whole = recover(ranks)
    assert (len(merges), whole) == (count, [])
    assert len(ranks) == count + FIRST_MERGE
    made = [token_id for _, _, token_id in merges]
    assert made == sorted(made)
    assert all(max(left, right) < token_id for left, right, token_id in merges)
    token_of = {token_id: token for token, token_id in ranks.items()}
    assert all(token_of[left] + token_of[right] == token_of[token_id] for left, right, token_id in merges)
    assert len({(left, right) for left, right, _ in merges}) == count
    assert is_canonical(vocabulary_of_ranks(ranks))
