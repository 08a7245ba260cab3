"""The parts of a vocabulary, and the vocabularies that are refused."""

import numpy as np
import pytest

from tokbench_plugins.bpe import train
from tokbench_plugins.bpe.recovery.order import first_merges
from tokbench_plugins.bpe.recovery.recover import vocabulary_of_ranks
from tokbench_plugins.bpe.vocabulary import Vocabulary

BYTES = tuple(bytes([byte]) for byte in range(256))


def test_shuffled_bytes_and_gaps():
    ranks = {byte: 2 * (255 - i) for i, byte in enumerate(BYTES)} | {b"ab": 600, b"aba": 700}
    vocabulary = vocabulary_of_ranks(ranks)
    assert len(vocabulary.tokens) == 701
    assert vocabulary.tokens[1] == vocabulary.tokens[699] == b""
    a, b = ranks[b"a"], ranks[b"b"]
    assert vocabulary.merges == ((a, b, 600), (600, a, 700))
    assert not vocabulary.is_trained
    assert vocabulary.ranks == ranks


@pytest.mark.parametrize("size", [256, 280])
def test_a_vocabulary_that_is_cut_is_the_one_that_training_gives_at_that_size(size):
    documents = ["some words, somewhat worded", "low lower lowest", "été été HTTPServer's isn't 12345"]
    whole = Vocabulary.trained(train(documents, 299, "gpt4"))
    shuffled = _renumbered(whole, np.random.default_rng(0).permutation(299).tolist())
    assert (
        first_merges(whole, size) == first_merges(shuffled, size) == Vocabulary.trained(train(documents, size, "gpt4"))
    )


def _renumbered(vocabulary, new):
    tokens = [b""] * len(new)
    for token_id, token in enumerate(vocabulary.tokens):
        tokens[new[token_id]] = token
    merges = tuple((new[a], new[b], new[c]) for a, b, c in vocabulary.merges)
    return Vocabulary(tuple(tokens), tuple(new[: len(vocabulary.byte_ids)]), merges)


def test_first_merges_are_those_that_an_engine_does():
    whole = Vocabulary.trained([(104, 105), (256, 33)])
    turned = Vocabulary(whole.tokens, whole.byte_ids, whole.merges[::-1])
    assert first_merges(turned, 258).tokens[256:] == (b"hi", b"hi!")  # an engine does it when its half is there
    looked_up = Vocabulary((*whole.tokens, b"abc"), whole.byte_ids, whole.merges, frozenset({258}))
    assert first_merges(looked_up, 258) == whole
    with pytest.raises(ValueError, match="no merge makes b'abc'"):
        first_merges(looked_up, 259)
