"""Extension in compiled code: the merges of Python with their times, and the rules of the trainers that use it."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokbench_trainers import extend
from tokbench_trainers.continued import continue_merges
from tokbench_trainers.superwords.superbpe import SuperBPERule, train_superbpe
from tokbench_trainers.superwords.train_boundless import train_boundless

pytest.importorskip("numba")

from tokbench_plugins.bpe.compiled.count import Counts
from tokbench_trainers.extend_compiled import continue_counts

chunks = st.lists(st.tuples(st.lists(st.integers(0, 3), max_size=12), st.integers(1, 4)), max_size=8)
texts = st.lists(st.text(alphabet="ab  c'_.:1é-0", max_size=40), min_size=1, max_size=4)
ties = st.sampled_from(["first", "smallest"])


def compiled(sequences, made, tie):
    ids = np.array([each for sequence, _ in sequences for each in sequence], dtype=np.uint32)
    offsets = np.cumsum([0, *(len(sequence) for sequence, _ in sequences)])
    counts = np.array([count for _, count in sequences], dtype=np.int64)
    return continue_counts(Counts(ids, offsets, counts), made, tie=tie)


@given(chunks, st.integers(0, 20), ties)
def test_equal_to_the_merges_in_python(sequences, n_more, tie):
    made = range(10, 10 + n_more)
    assert compiled(sequences, made, tie) == list(continue_merges(sequences, made, tie=tie))


@pytest.mark.parametrize("tie", ["first", "smallest"])
def test_hundreds_of_merges_of_large_ids(tie):
    rng = random.Random(tie)
    sequences = [(rng.choices(range(60_000, 60_040), k=rng.randrange(80)), rng.randrange(1, 9)) for _ in range(100)]
    made = range(70_000, 70_300)
    assert compiled(sequences, made, tie) == list(continue_merges(sequences, made, tie=tie))


@given(texts, ties)
def test_superwords_in_compiled_code_are_those_of_python(documents, tie):
    rule = SuperBPERule("gpt4", 262, 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extend, "_WORTH_COMPILING", 0)
        compiled = train_superbpe(documents, 272, rule, tie=tie), train_boundless(documents, 268, "gpt4", tie=tie)
    assert compiled == (train_superbpe(documents, 272, rule, tie=tie), train_boundless(documents, 268, "gpt4", tie=tie))
