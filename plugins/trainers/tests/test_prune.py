"""Pruning against a loop that encodes the whole text anew for every removal."""

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tokbench_plugins.bpe.fast.encode import Encoder
from tokbench_plugins.bpe.literal import train_literally
from tokbench_plugins.bpe.vocabulary import Vocabulary
from tokbench_trainers.adaptation.prune import prune

words = st.lists(st.text(alphabet="abc", min_size=1, max_size=9), min_size=1, max_size=12)


def by_the_loop(vocabulary, chunks, n_fewer):
    removed, tokens = [], []
    while True:
        encode = Encoder(vocabulary, None)
        used = Counter()
        for chunk, count in chunks.items():
            for each in encode(chunk):
                used[each] += count
        tokens.append(used.total())
        parts = {part for left, right, _ in vocabulary.merges for part in (left, right)}
        leaves = {made for *_, made in vocabulary.merges} - parts
        if n_fewer is None:
            leaves = {leaf for leaf in leaves if not used[leaf]}
        if not leaves or len(removed) == n_fewer:
            return vocabulary, removed, tokens
        gone = min(leaves, key=lambda leaf: (used[leaf], -leaf))
        removed.append(gone)
        vocabulary = replace(
            vocabulary,
            tokens=tuple(b"" if k == gone else token for k, token in enumerate(vocabulary.tokens)),
            merges=tuple(merge for merge in vocabulary.merges if merge[2] != gone),
        )


@given(words, words, st.one_of(st.none(), st.integers(0, 12)))
def test_equal_to_the_loop(before, text, n_fewer):
    vocabulary = Vocabulary.trained(train_literally([word.encode() for word in before], 268))
    chunks = dict(Counter(text))
    assert tuple(prune(vocabulary, chunks, n_fewer)) == by_the_loop(vocabulary, chunks, n_fewer)


def test_a_token_that_no_merge_makes_is_removed_like_any_other():
    tokens = (*Vocabulary.trained([(97, 98)]).tokens, b"abc", b"xyz")
    vocabulary = Vocabulary(tokens, tuple(range(256)), ((97, 98, 256),), frozenset({257, 258}))
    pruned = prune(vocabulary, {"abc": 2, "ab": 1}, 2)
    assert pruned.removed == [258, 256]
    assert pruned.vocabulary.whole_chunks == {257}
    assert pruned.tokens == [3, 3, 4]
