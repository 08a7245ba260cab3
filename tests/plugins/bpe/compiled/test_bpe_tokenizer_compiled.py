"""The engine ``numba`` behind a tokenizer: batches, long texts, decoding, and when ``auto`` takes it."""

import pickle
from importlib.metadata import version

import numpy as np
import pytest

import tokbench
import tokbench.plugin
from tokbench.tokenizers.contract import WarmsUp
from tokbench_plugins.bpe import BPETokenizer, train
from tokbench_plugins.bpe import tokenizer as bpe_tokenizer
from tokbench_plugins.bpe.vocabulary import Vocabulary

pytest.importorskip("numba")

TEXTS = ["Hello, world! Hello?", "", "été 2024", "日本語 🙂\n", "a" * 200, "Hello\ud800", "unseen ünseen"]


@pytest.mark.parametrize("pattern", ["gpt2", "o200k"])
def test_batches_and_long_texts_are_those_of_python(pattern):
    merges = train(TEXTS, 300, pattern)
    tokenizer, python = (BPETokenizer(merges, pattern, engine=engine) for engine in ("numba", "python"))
    long = "Hello\ud800 unseen ünseen\n" * 400  # by itself as good as a batch
    texts = [*TEXTS, long] * 3
    expected = python.encode_batch(texts)
    encoded = tokenizer.encode_batch(texts)
    assert encoded.ids.tolist() == expected.ids.tolist()
    assert encoded.offsets.tolist() == expected.offsets.tolist()
    assert tokenizer.encode(long) == python.encode(long)
    assert tokenizer.decode_batch(encoded) == python.decode_batch(expected)
    assert pickle.loads(pickle.dumps(tokenizer)).engine == "numba"


def test_warm_up_gets_the_engine_ready():
    tokenizer = BPETokenizer([(97, 98)], "gpt4", engine="numba")
    assert isinstance(tokenizer, WarmsUp)
    assert tokenizer.encoded_by == f"compiled (numba {version('numba')})"
    tokenizer.warm_up()
    assert type(tokenizer._bulk).__name__ == "CompiledEncoder"


@pytest.mark.parametrize("limit", ["_WORTH_LOADING", "_WORTH_COMPILING"])
def test_auto_changes_when_it_is_worth_it(monkeypatch, limit):
    BPETokenizer([], "gpt2", engine="numba").encode_batch(["ab"])  # compiled from now on
    monkeypatch.setattr(bpe_tokenizer, limit, 100)
    tokenizer = BPETokenizer([(97, 98)], "gpt2")
    tokenizer.encode_batch(["ab" * 40])
    assert tokenizer._bulk is None
    assert tokenizer.encode_batch(["ab" * 40]).ids.tolist() == [256] * 40
    assert tokenizer._bulk is not None


def test_a_vocabulary_that_is_too_large_is_left_to_python():
    tokens = (*(bytes([byte]) for byte in range(256)), *[b""] * (1 << 21))
    tokenizer = BPETokenizer(Vocabulary(tokens, tuple(range(256)), ()), "gpt2")
    tokenizer.warm_up()
    assert tokenizer.encode_batch(["ab"]).ids.tolist() == [97, 98]
    assert tokenizer.encoded_by.startswith("python")


def test_batches_are_decoded_as_the_documents_one_by_one():
    ranks = {bytes([255 - i]): i for i in range(256)} | {b"hi": 300, b"hi!": 301}
    tokenizer = BPETokenizer.from_ranks(ranks, None, {"<end>": 400})
    rng = np.random.default_rng(1)
    sizes = [0, 3, 200, 0, 0, 7, 49, 1, *[20] * 30, 0]
    documents = [rng.integers(0, 401, size=size, dtype=np.uint32) for size in sizes]
    encoded = tokbench.plugin.Encoded(np.concatenate(documents), np.cumsum([0, *sizes]))
    assert tokenizer.decode_batch(encoded) == [tokenizer.decode(ids) for ids in documents]
    assert tokenizer.decode_batch(tokbench.plugin.Encoded(encoded.ids[:0], encoded.offsets[:1])) == []
    wrong = tokbench.plugin.Encoded(np.array([5, 401], np.uint32), np.array([0, 2]))
    with pytest.raises(ValueError, match="id 401 is not in the vocabulary of 401 tokens"):
        tokenizer.decode_batch(wrong)
