"""The family ``numbers``: hand-computed values, and what patterns dictate."""

import random

import numpy as np
import pytest
from cutting import ByPattern
from metric_views import metric, values, view

import tokbench
from tokbench.measuring.metric import NotApplicable
from tokbench.statistics.jackknife import jackknife
from tokbench_research.metrics.numbers import LONGEST

PER_LENGTH = 30


def found(tokenizer, *texts):
    kept = values("numbers", view(tokenizer, *texts))
    return {k: v.reason if isinstance(v, NotApplicable) else v.value for k, v in kept.items()}


@pytest.fixture(scope="module")
def figures():
    """Numbers of every length, the first digit no zero."""
    rng = random.Random(3)
    return [
        str(rng.randrange(10 ** (length - 1), 10**length))
        for length in range(1, LONGEST + 1)
        for _ in range(PER_LENGTH)
    ]


@pytest.fixture(scope="module")
def text(figures):
    return "\n".join(f"a {figure}" for figure in figures)


def test_by_hand():
    # 12  12  12|34  123|4567  1|234|567; 13 digits are left out.
    tokenizer = ByPattern(r"12(?=34c)|123(?=4567e)|1(?=234567d)|234(?=567d)|\d+|\D+")
    got = found(tokenizer, "a12b 12 1234c 1234567e 1234567d 1234567890123")
    assert got["digits_3_tokens"] == "there are no runs of 3 digits"
    assert got["digits_4_tokens"] == 2
    assert got["digits_consistency"] == (2 + 1 + 1) / 5
    assert got["digits_right_triples"] == 1 / 3
    assert got["digits_left_triples"] == 0
    # 12|34 has a cut too many and lacks one, 123|4567 has one too many and lacks two: of 3, 6 and 6 places.
    assert got["digits_triples_distance"] == (2 + 3 + 0) / (3 + 6 + 6)
    assert got["digits_single"] == 0


def test_threes_from_the_right(text):
    got = found(ByPattern(r"\d{1,3}(?=(?:\d{3})*(?!\d))|\D"), text)
    assert got["digits_right_triples"] == 1
    # Six, nine and twelve digits are the same from either side.
    assert got["digits_left_triples"] == 3 / 9
    assert (got["digits_3_tokens"], got["digits_4_tokens"]) == (1, 2)


def test_single_digits(text):
    got = found(tokbench.load("utf8_bytes"), text)
    assert (got["digits_single"], got["digits_right_triples"], got["digits_consistency"]) == (1, 0, 1)
    assert (got["digits_3_tokens"], got["digits_4_tokens"]) == (3, 4)


def written(length, cut):
    """Write a pattern as the lengths of its parts."""
    ends = [k for k in range(1, length) if cut >> (k - 1) & 1]
    return " ".join(str(b - a) for a, b in zip([0, *ends], [*ends, length], strict=True))


def test_gpt2_splits_as_its_own_engine_says(data, figures, text):
    """GPT-2's pattern takes a whole number, so only the merges say how it is cut."""
    tiktoken = pytest.importorskip("tiktoken")
    encoding = tiktoken.get_encoding("gpt2")
    expected = {}
    for figure in figures:
        pieces = [encoding.decode([token]).strip() for token in encoding.encode_ordinary(f" {figure}")]
        way = " ".join(str(len(piece)) for piece in pieces)
        ways = expected.setdefault(str(len(figure)), {})
        ways[way] = ways.get(way, 0) + 1
    tokenizer = tokbench.load("tiktoken", encoding="gpt2")
    numbers = metric("numbers")
    state = numbers.map(view(tokenizer, text))
    for length, ways in expected.items():
        assert {written(int(length), cut): runs.sum() for cut, runs in state.counts(int(length)).items()} == ways
    got = found(tokenizer, text)
    most = sum(max(ways.values()) for length, ways in expected.items() if length != "1")
    assert got["digits_consistency"] == most / (PER_LENGTH * (LONGEST - 1))


def test_boundaries_of_digits_by_hand():
    """12|34|5 should be 12|345, 6|78 should be 678 and 9012 should be 9|012."""
    got = found(ByPattern(r"12|34|5|6|78|9012| "), "12345 678 9012")
    # Cuts: 2, 1, 0; places: 1, 0, 1; both: 1.
    assert got["digits_triples_f1"] == pytest.approx(2 * 1 / (3 + 2))


def test_consistency_has_the_interval_of_a_ratio():
    # Two digits are one token, but for 13.
    documents = ["12 13", "14 15 16", "17", *("12 " * (k % 3) + f"{k} {k + 1} 13" for k in range(20, 80))]
    counted = view(ByPattern(r"1(?=3)|\d{1,2}|\D"), *documents)
    numbers = metric("numbers")
    got = numbers.finish(numbers.map(counted))["digits_consistency"]
    runs = np.array([len(document.split()) for document in documents])
    alike = runs - np.array([document.count("13") for document in documents])
    buckets = counted.shard.buckets
    assert got.value == alike.sum() / runs.sum()
    ends = jackknife(*(np.bincount(buckets, column, 32) for column in (alike, runs)))
    assert (got.ci_low, got.ci_high, got.no_interval) == ends
    assert got.ci_low < got.value < got.ci_high
