"""The compiled extension against the one in Python, merge by merge and with the number of times."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokbench_plugins.bpe.fast.train import continue_merges

pytest.importorskip("numba")

from tokbench_plugins.bpe.compiled.count import Counts
from tokbench_plugins.bpe.compiled.extend import continue_counts

chunks = st.lists(st.tuples(st.lists(st.integers(0, 3), max_size=12), st.integers(1, 4)), max_size=8)
TIES = ["first", "smallest"]


def compiled(sequences, made, tie):
    ids = np.array([each for sequence, _ in sequences for each in sequence], dtype=np.uint32)
    offsets = np.cumsum([0, *(len(sequence) for sequence, _ in sequences)])
    counts = np.array([count for _, count in sequences], dtype=np.int64)
    return continue_counts(Counts(ids, offsets, counts), made, tie=tie)


@given(chunks, st.integers(0, 20), st.sampled_from(TIES))
def test_equal_to_the_merges_in_python(sequences, n_more, tie):
    made = range(10, 10 + n_more)
    assert compiled(sequences, made, tie) == list(continue_merges(sequences, made, tie=tie))


@pytest.mark.parametrize("tie", TIES)
def test_hundreds_of_merges_of_large_ids(tie):
    rng = random.Random(tie)
    sequences = [(rng.choices(range(60_000, 60_040), k=rng.randrange(80)), rng.randrange(1, 9)) for _ in range(300)]
    made = range(70_000, 70_600)
    assert compiled(sequences, made, tie) == list(continue_merges(sequences, made, tie=tie))
