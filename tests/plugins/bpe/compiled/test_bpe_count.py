"""Counting chunks, machine code that numba keeps, and the engine numba behind a tokenizer."""

import os
import pickle
import random
import subprocess
import sys
from importlib.metadata import version

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tokbench
import tokbench.plugin
from tokbench.tokenizers.contract import WarmsUp
from tokbench_plugins.bpe import PATTERNS, BPETokenizer, train
from tokbench_plugins.bpe import tokenizer as bpe_tokenizer
from tokbench_plugins.bpe.fast import parallel
from tokbench_plugins.bpe.fast.parallel import count_in_processes
from tokbench_plugins.bpe.fast.train import count_chunks
from tokbench_plugins.bpe.vocabulary import Vocabulary

pytest.importorskip("numba")

from tokbench_plugins.bpe.compiled.count import count_documents

SPLITS = st.sampled_from([None, *PATTERNS, r"[^b]+", r"(a)|(b+)", "a*"])
DOCUMENTS = st.lists(st.one_of(st.text(alphabet="ab ", max_size=30), st.text(max_size=30)), max_size=12)


def as_dict(counts):
    """The chunks in their order; a chunk that comes twice is an error."""
    chunks = [bytes(counts.data[start:end]) for start, end in zip(counts.offsets, counts.offsets[1:], strict=False)]
    assert len(set(chunks)) == len(chunks) == counts.counts.size
    return list(zip(chunks, counts.counts.tolist(), strict=True))


def expected(documents, pattern):
    return [(chunk.encode(), count) for chunk, count in count_chunks(documents, pattern).items()]


def mixed_documents():
    rng = random.Random(0)
    return ["".join(rng.choices("abcdef '1\n", k=rng.randrange(60))) for _ in range(300)]


@settings(deadline=None)
@given(pattern=SPLITS, documents=DOCUMENTS)
def test_equal_to_a_dict(pattern, documents):
    assert as_dict(count_documents(iter(documents), pattern)) == expected(documents, pattern)


@pytest.mark.parametrize("pattern", [None, "gpt4", r"\w+"])
def test_batches_keep_the_order(monkeypatch, pattern):
    monkeypatch.setattr(parallel.batches, "__defaults__", (100,))
    documents = mixed_documents()
    assert as_dict(count_documents(documents, pattern)) == expected(documents, pattern)


@pytest.mark.slow
def test_processes_keep_the_order(monkeypatch):
    monkeypatch.setattr(parallel.batches, "__defaults__", (2000,))
    documents = mixed_documents()
    assert as_dict(count_documents(documents, r"\w+", 2)) == expected(documents, r"\w+")
    assert list(count_in_processes(documents, r"\w+", 2).items()) == list(count_chunks(documents, r"\w+").items())


def test_many_chunks_of_all_lengths():
    rng = random.Random(1)
    chunks = [rng.randbytes(rng.choice([1, 2, 3, 6, 7, 8, 9, 15, 16, 300])).decode("latin-1") for _ in range(10_000)]
    documents = chunks + rng.choices(chunks, k=10_000) + ["\x00", "\x00\x00", "\x00" * 7, "\x00" * 8, "\x00" * 9]
    assert as_dict(count_documents(documents, None)) == expected(documents, None)


def test_one_document_larger_than_all_room():
    documents = ["b", "a" * 1_000_000, "b", "a" * 1_000_000, "a" * 999_999]
    assert as_dict(count_documents(documents, None)) == expected(documents, None)


def test_lone_surrogates_and_nothing():
    assert as_dict(count_documents(["a\ud800", "a\ufffd"], None)) == [("a\ufffd".encode(), 2)]
    for pattern in (None, "gpt4", r"\w"):
        assert as_dict(count_documents(["", ""], pattern)) == as_dict(count_documents([], pattern)) == []


INNER = "from tokbench.foundation.jit import inlined\n\n\n@inlined\ndef number():\n    return {}\n"
OUTER = "from tokbench.foundation.jit import compiled\nfrom folder.inner import number\n\n\n@compiled\ndef outer():\n    return number()\n"


@pytest.mark.slow
def test_a_function_is_compiled_again_when_one_that_it_calls_has_changed(tmp_path):
    """The new source is as long as the old one and as old; numba itself would keep the machine code."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "outer.py").write_text(OUTER, encoding="utf-8")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from folder.outer import outer; print(outer())"
    found = []
    for number in (1, 1, 2):
        (folder / "inner.py").write_text(INNER.format(number), encoding="utf-8")
        os.utime(folder / "inner.py", (1_000_000_000, 1_000_000_000))
        done = subprocess.run(
            [sys.executable, "-B", "-c", code], capture_output=True, text=True, timeout=300, check=True
        )
        found.append((int(done.stdout), sorted(path.stat().st_mtime_ns for path in folder.rglob("outer.*.nbc"))))
    assert [value for value, _ in found] == [1, 1, 2]
    assert found[0][1] == found[1][1] != found[2][1]


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
