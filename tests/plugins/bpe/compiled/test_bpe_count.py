"""Counting chunks: the same as a dict in Python, in the same order, in batches and in processes."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokbench_plugins.bpe import PATTERNS
from tokbench_plugins.bpe.fast.parallel import count_in_processes
from tokbench_plugins.bpe.fast.train import count_chunks

pytest.importorskip("numba")

from tokbench_plugins.bpe.compiled.count import count_documents
from tokbench_plugins.bpe.fast import parallel

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
