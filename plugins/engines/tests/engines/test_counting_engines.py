"""Engines that count: toktok held against tiktoken's ids, ctok against the figures that its authors print."""

import pickle

import pytest
import tiktoken
from difficult_texts import TEXTS, hostile, pud

import tokbench


@pytest.mark.slow
@pytest.mark.usefixtures("tiktoken_files")
@pytest.mark.parametrize(
    ("name", "encoding"), [("toktok", "o200k_harmony"), ("quicktok", "cl100k_base"), ("rs_bpe", "cl100k_base")]
)
def test_counts_are_those_of_tiktoken(name, encoding, data):
    pytest.importorskip(name)
    tokenizer, reference = tokbench.load(name, encoding=encoding), tiktoken.get_encoding(encoding)
    texts = [*TEXTS, *hostile(), *pud(data)[::20], "a<|endoftext|>b", "", "a\ud800b", "\ud83d\ude00"]
    assert list(tokenizer.count_batch(texts)) == [len(reference.encode_ordinary(text)) for text in texts]
    assert tokenizer.vocab_size == reference.n_vocab


@pytest.mark.parametrize(
    ("vocabulary", "of_hello_world", "size"),
    [("v3", 10 - 7, 48_792), ("v4.7", 15 - 11, 15_283), ("v4.8", 10 - 6, 15_283)],
)
def test_ctok_counts_what_its_authors_print_less_the_frame(vocabulary, of_hello_world, size):
    """The README of ctok 1.3.0 gives 10, 15 and 10 tokens for this message, and frames of 7 and 6."""
    pytest.importorskip("ctok")
    tokenizer = tokbench.load("ctok", vocabulary=vocabulary)
    assert list(tokenizer.count_batch(["hello, world", "", "a\ud800b"]))[:2] == [of_hello_world, 0]
    assert tokenizer.vocab_size == size
    assert pickle.loads(pickle.dumps(tokenizer)).count_batch(["hello, world"]) == [of_hello_world]
