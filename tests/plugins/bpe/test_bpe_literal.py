"""The literal loops: who wins a tie, and encoding as training did."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokbench_plugins.bpe.literal import count_pairs, encode_literally, most_frequent, train_literally


def test_ties():
    assert train_literally([b"xyab"], 257) == [(120, 121)]
    assert train_literally([b"xyab"], 257, "smallest") == [(97, 98)]
    assert train_literally([b"bdbc"], 257, "smallest") == [(98, 99)]
    assert train_literally([b"xyabxy"], 257, "smallest") == [(120, 121)]


@given(chunks=st.lists(st.binary(min_size=2, max_size=8), min_size=1, max_size=8))
def test_both_rules_take_a_most_frequent_pair(chunks):
    counts = count_pairs(chunks)
    equals = [pair for pair, count in counts.items() if count == max(counts.values())]
    assert most_frequent(counts) == equals[0]
    assert most_frequent(counts, "smallest") == min(equals)


@pytest.mark.parametrize("tie", ["first", "smallest"])
@given(chunk=st.binary(max_size=30))
def test_encoding_repeats_training(tie, chunk):
    merges = train_literally([chunk], 300, tie)
    assert len(encode_literally(chunk, merges)) == min(1, len(chunk))
