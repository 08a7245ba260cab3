"""The metrics: hand-computed values, published reference values, and merging in any order."""

import functools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from metric_views import Lossy, metric, utf8_bytes, values, view

import tokbench
from tokbench.measuring.metric import LossSummary, NotApplicable
from tokbench.measuring.sums import Sums
from tokbench.measuring.token_counts import (
    CountTable,
    TokenCounts,
    add_tables,
    join_tables,
)
from tokbench.results.blocks import LossCause, LossExample


def test_compression_by_hand():
    found = values("compression", view(tokbench.load("utf32_units"), "né", "né né"))
    assert {name: value.value for name, value in found.items()} == {
        "tokens": 7,
        "bytes": 10,
        "chars": 7,
        "compression_ratio": 10 / 7,
        "chars_per_token": 1,
    }
    assert found["tokens"].n == 2


@pytest.mark.parametrize(
    ("text", "group", "ratio", "unit"),
    [
        ("It's 3.5 km.", "en", 12 / 3, "word (UAX #29)"),
        ("བོད་ཡིག", "bo", 7 / 2, "syllable"),
        ("안녕 하세요.", "ko", 7 / 2, "word (whitespace)"),
    ],
)
def test_fertility_names_its_unit(text, group, ratio, unit):
    found = values("fertility", view(tokbench.load("utf32_units"), text, group=group))["fertility"]
    assert (found.value, found.unit, found.ratio_of) == (ratio, f"tokens/{unit}", ("tokens", "words"))


def test_fertility_of_different_units_has_no_common_value():
    one, other = view(utf8_bytes(), "a"), view(utf8_bytes(), "བ", group="bo")
    assert isinstance(values("fertility", one, other)["fertility"], NotApplicable)


def test_continued_words_by_bytes_and_by_offsets():
    # Each byte is a token: every word of two letters or more is cut, 'a' is not.
    found = values("continued_words", view(tokbench.load("utf8_bytes"), "a bé cat", "dog"))
    assert found["continued_word_rate"].value == 3 / 4
    # Lossy as to capitals, yet it says itself where its tokens lie.
    found = values("continued_words", view(Lossy(), "A Bee"))
    assert found["continued_word_rate"].value == 1 / 2


def test_round_trip_by_hand():
    found = values("roundtrip", view(Lossy(), "abc", "Hello", "jazz"))
    assert found["roundtrip_exact"].value == 1 / 3
    assert found["cer"].value == 3 / 12  # H -> h, and two unknown letters
    assert found["unk_rate"].value == 2 / 12


def test_the_first_loss_is_shown():
    m = metric("roundtrip")
    state = m.merge(m.map(view(Lossy(), "fine", "so far so good, then Bad")), m.map(view(Lossy(), "fine")))
    first = LossExample(origin="c:1", position=21, expected=" good, then Bad", got=" good, then bad")
    causes = [LossCause(cause="casing", documents=1, taking_part=1, first=first)]
    assert m.loss(state) == LossSummary(1, first, causes)


class Pieces:
    """Words between spaces are tokens, as in text that is cut already; a word has the number of its first place."""

    def __init__(self, text):
        self.words = list(dict.fromkeys(text.split()))
        self.vocab_size = len(self.words)

    def encode(self, text, /):
        return [self.words.index(word) for word in text.split()]

    def decode(self, ids, /):
        return " ".join(self.words[token] for token in ids)


@pytest.mark.parametrize(
    ("text", "alphas"),
    [
        (
            "pick @@ed pick @@l @@ed pick @@les",
            {2.5: 0.8265064834225245, 1: 0.9211854965885544, 3: 0.8031528501359657},
        ),
        (
            "pick @@e @@d pick @@l @@e @@d pick @@l @@e @@s",
            {2.5: 0.9204840242168808, 1: 0.9609557933859342, 3: 0.9105681923824472},
        ),
    ],
)
def test_efficiency_is_that_of_tokenization_scorer(text, alphas):
    """Its own tests, as far as they are right: its README gives the values of order 3 as those of order 2.5."""
    encoded = view(Pieces(text), text)
    for alpha, efficiency in alphas.items():
        found = values("vocabulary", encoded, alpha=alpha)
        assert found["renyi_efficiency"].value == pytest.approx(efficiency, rel=1e-14)
    assert found["token_entropy"].value == pytest.approx(alphas[1] * np.log2(len(set(text.split()))), rel=1e-14)


def test_the_shape_of_frequencies_by_hand():
    """Counts 4, 2, 1, 1."""
    found = values("vocabulary", view(tokbench.load("utf8_bytes"), "aaaabb", "cd"))
    assert (found["type_token_ratio"].value, found["token_entropy"].value) == (4 / 8, 1.75)


def test_vocabulary_by_hand():
    found = values("vocabulary", view(tokbench.load("utf8_bytes"), "aaab"))
    assert found["vocab_utilization"].value == 2 / 256
    assert found["distinct_tokens"].value == 2
    assert found["shannon_efficiency"].value == pytest.approx(0.8112781244591328)


texts = st.lists(st.text(alphabet="abzA \n,né한กé", max_size=12), min_size=1, max_size=20)


@given(texts)
def test_token_ends_by_bytes_equal_a_plain_count(documents):
    ends, aligned = view(utf8_bytes(), *documents).token_ends
    assert aligned.all()
    assert ends.tolist() == list(range(1, sum(len(text.encode()) for text in documents) + 1))


def test_a_share_ends_at_one():
    sums = Sums(40, {"part": np.array([5.0] * 28 + [2, 2, 3, 4]), "whole": np.array([5.0] * 32)})
    assert sums.share("part", "whole").ci_high == 1.0
    assert sums.ratio("part", "whole").ci_high > 1.0


KEYS = st.integers(0, 200) | st.integers(2**32 - 40, 2**32 + 40) | st.integers(0, 2**36)
TABLES = st.lists(st.dictionaries(KEYS, st.integers(1, 70_000), max_size=40), min_size=1, max_size=8)


@given(TABLES)
def test_tables_of_counts_add_up_however_they_are_kept(rows):
    columns = ([np.array(list(each), dtype=np.int64) for each in (row.keys(), row.values())] for row in rows)
    tables = [CountTable.of(*each) for each in columns]
    counted = functools.reduce(lambda one, other: one + other, (TokenCounts(2**32, 1, (each,)) for each in tables))
    expected = sum(map(Counter, rows), Counter())
    for found in (counted.joined(), join_tables(functools.reduce(add_tables, ([each] for each in tables)))):
        assert found.keys.tolist() == sorted(expected)
        assert dict(zip(found.keys.tolist(), found.counts.tolist(), strict=True)) == expected
