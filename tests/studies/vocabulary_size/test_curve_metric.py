"""The counts on which the study of vocabulary sizes rests: by jackknife group, merged in any order."""

from functools import reduce

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tokbench.corpus.contract import Document
from tokbench.corpus.shards import BUCKETS, Shard
from tokbench.measuring.encoded_shard import EncodedShard, LoadedTokenizer
from tokbench.studies.vocabulary_size.plugin import CURVE as SPEC
from tokbench.tokenizers.batch import encode_batch
from tokbench.tokenizers.options import Options
from tokbench_plugins.bpe import BPETokenizer, train

TOKENIZER = BPETokenizer(train(["the cat sat on the mat, the hat"] * 3, 290, "gpt4", engine="python"), "gpt4")


class Huge:
    """Ids beyond 27 bits."""

    vocab_size = 1 << 32

    def encode(self, text, /):
        return [(1 << 31) + ord(char) for char in text]

    def decode(self, ids, /):
        return "".join(chr(token - (1 << 31)) for token in ids)


def shard_of(texts):
    return Shard("c", "g", 0, [Document(text, "g", str(k), f"f:{k}") for k, text in enumerate(texts)], by_key=False)


def state_of(texts, tokenizer=TOKENIZER):
    shard = shard_of(texts)
    return SPEC.text(Options()).map(
        EncodedShard(LoadedTokenizer("t", tokenizer), shard, encode_batch(tokenizer, texts))
    )


@settings(deadline=None, max_examples=20)
@given(st.lists(st.lists(st.text(alphabet="the cat,é", max_size=12), max_size=6), min_size=1, max_size=8), st.randoms())
def test_counts_by_group_in_any_order(parts, random):
    states = [state_of(texts) for texts in parts]
    random.shuffle(states)
    merged = reduce(SPEC.text(Options()).merge, states)
    texts = [text for part in parts for text in part]
    expected = np.zeros(TOKENIZER.vocab_size, np.int64)
    by_bucket = np.zeros(BUCKETS)
    for text, bucket in zip(texts, shard_of(texts).buckets, strict=True):
        np.add.at(expected, TOKENIZER.encode(text), 1)
        by_bucket[bucket] += 3 * len(TOKENIZER.encode(text))
    assert merged.total().tolist() == expected.tolist()
    assert merged.per_bucket(np.full(TOKENIZER.vocab_size, 3)).tolist() == by_bucket.tolist()
    assert merged.documents == len(texts)


def test_ids_beyond_27_bits():
    [table] = state_of(["abba", "b"], Huge()).tables
    assert sorted(table.counts.tolist()) == [1, 2, 2] or sorted(table.counts.tolist()) == [2, 3]
    assert set((table.keys // BUCKETS).tolist()) == {(1 << 31) + 97, (1 << 31) + 98}


def test_counts_that_wait_are_few():
    """No more keys wait to be joined than the largest table has."""
    merged = state_of(["abc"])
    for k in range(60):
        merged = SPEC.text(Options()).merge(merged, state_of([chr(97 + k % 26) * 3 + str(k)]))
        first, *waiting = sorted((len(table.keys) for table in merged.tables), reverse=True)
        assert sum(waiting) <= first
    assert merged.documents == 61
    assert merged.total().sum() == 3 + 60 * 3 + sum(len(str(k)) for k in range(60))
