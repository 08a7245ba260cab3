"""Counting chunks: the same as a dict in Python, in the same order, in batches, in threads and processes."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokbench_plugins.bpe import PATTERNS
from tokbench_plugins.bpe.fast.parallel import batches, count_in_processes, in_order
from tokbench_plugins.bpe.fast.train import count_chunks

pytest.importorskip("numba")

from tokbench_plugins.bpe.compiled.count import ChunkCounter, Counts, count_documents, encode_documents
from tokbench_plugins.bpe.fast import parallel

SPLITS = [None, *PATTERNS, r"[^b]+", r"(a)|(b+)", "a*"]
DOCUMENTS = st.lists(st.one_of(st.text(alphabet="ab ", max_size=30), st.text(max_size=30)), max_size=12)


def as_dict(counts):
    """The chunks in their order; a chunk that comes twice is an error."""
    chunks = [bytes(counts.data[start:end]) for start, end in zip(counts.offsets, counts.offsets[1:], strict=False)]
    assert len(set(chunks)) == len(chunks) == counts.counts.size
    return list(zip(chunks, counts.counts.tolist(), strict=True))


def expected(documents, pattern):
    return [(chunk.encode(), count) for chunk, count in count_chunks(documents, pattern).items()]


@pytest.mark.slow
@pytest.mark.parametrize("pattern", SPLITS)
@settings(deadline=None)
@given(documents=DOCUMENTS)
def test_equal_to_a_dict(pattern, documents):
    assert as_dict(count_documents(iter(documents), pattern)) == expected(documents, pattern)


@pytest.mark.parametrize("pattern", SPLITS)
@pytest.mark.parametrize("processes", [1, 3])
def test_batches_in_threads_keep_the_order(monkeypatch, pattern, processes):
    if processes > 1 and pattern not in {None, *PATTERNS}:
        pytest.skip("spawns processes: below")
    monkeypatch.setattr(parallel.batches, "__defaults__", (100,))
    rng = random.Random(0)
    documents = ["".join(rng.choices("abcdef '1\n", k=rng.randrange(60))) for _ in range(300)]
    assert as_dict(count_documents(documents, pattern, processes)) == expected(documents, pattern)


@pytest.mark.slow
def test_processes_keep_the_order(monkeypatch):
    monkeypatch.setattr(parallel.batches, "__defaults__", (2000,))
    rng = random.Random(0)
    documents = ["".join(rng.choices("abcdef '1\n", k=rng.randrange(60))) for _ in range(300)]
    assert as_dict(count_documents(documents, r"\w+", 2)) == expected(documents, r"\w+")
    assert list(count_in_processes(documents, r"\w+", 2).items()) == list(count_chunks(documents, r"\w+").items())


def test_many_chunks_of_all_lengths():
    rng = random.Random(1)
    chunks = [rng.randbytes(rng.choice([1, 2, 3, 6, 7, 8, 9, 15, 16, 300])).decode("latin-1") for _ in range(40_000)]
    documents = chunks + rng.choices(chunks, k=40_000) + ["\x00", "\x00\x00", "\x00" * 7, "\x00" * 8, "\x00" * 9]
    assert as_dict(count_documents(documents, None)) == expected(documents, None)


def test_one_document_larger_than_all_room():
    documents = ["b", "a" * 1_000_000, "b", "a" * 1_000_000, "a" * 999_999]
    assert as_dict(count_documents(documents, None)) == expected(documents, None)


def test_weights_add_up():
    counter = ChunkCounter()
    counter.add(*Counts.of({"x": 2**40, "some long chunk": 3}))
    counter.add(*Counts.of({"y": 1, "some long chunk": 4, "x": 1}))
    assert as_dict(counter.counts()) == [(b"x", 2**40 + 1), (b"some long chunk", 7), (b"y", 1)]


def test_lone_surrogates_become_replacement_characters():
    assert as_dict(count_documents(["a\ud800", "a\ufffd"], None)) == [("a\ufffd".encode(), 2)]


def test_nothing():
    for documents in ([], [""], ["", ""]):
        for pattern in (None, "gpt4", r"\w"):
            assert as_dict(count_documents(documents, pattern)) == []
    data, offsets = encode_documents([])
    assert (data.size, offsets.tolist(), offsets.dtype) == (0, [0], np.int64)


def test_documents_are_taken_as_needed():
    taken = []

    def documents():
        for number in range(1000):
            taken.append(number)
            yield "x" * 100

    batch = next(batches(documents(), 1000))
    assert len(batch) == len(taken) == 10

    taken.clear()
    results = in_order(len, batches(documents(), 1000), 2, threads=True)
    assert next(results) == 10
    assert len(taken) <= 40
    results.close()


def test_an_error_in_a_worker_comes_out():
    with pytest.raises(TypeError):
        list(in_order(len, iter([1, 2, 3]), 2, threads=True))
