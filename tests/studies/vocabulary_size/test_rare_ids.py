"""Ids that training meets too rarely: by hand, and foretold from a tenth of a text."""

import math

import numpy as np
import pytest

import tokbench
from tokbench.plugin import Curve, merge_order, ordinary_tokens
from tokbench.sources.python import StdlibOptions, StdlibSource
from tokbench.studies.vocabulary_size.rare import SHOWN, Tail, burst, fitted, rare_ids, stated_error

NONE = np.zeros(0, dtype=np.int64)

IDS = 20_000
TAIL = Tail(-math.log(IDS) - 2.0, 2.0, 1.0)
"""Rates of ids that add up to about 1."""


def drawn(tokens):
    """Counts of ids in a text of about so many tokens, which come one by one."""
    draws = np.random.default_rng(0)
    rates = np.exp(draws.normal(TAIL.middle, TAIL.deviation, IDS))
    return draws.poisson(rates * tokens).astype(np.int64)


def test_a_text_that_is_large_enough_shows_the_share():
    # 1,000 tokens and training on as many: an id is rare if the text holds it fewer than 100 times.
    counts = np.array([701, 100, 100, 99, 0])
    assert rare_ids(counts, NONE, 1000) == (0.4, 0.4, 0.4, True)


def test_ten_occurrences_are_the_lowest_rate_that_a_text_shows():
    counts = np.array([490, 490, 10, 9, 1])
    assert rare_ids(counts, NONE, 10_000) == (0.4, 0.4, 0.4, True)
    assert not rare_ids(counts, NONE, 10_001).shown


def test_ids_that_are_all_frequent_are_not_rare_however_long_the_training():
    assert rare_ids(np.full(9, 10), NONE, 1e12) == (0.0, 0.0, 0.0, True)


def test_without_a_tenth_nothing_is_known_but_a_bound():
    rare = rare_ids(drawn(20_000), NONE, 1e9)
    assert (rare.low, rare.shown) == (0.0, False)
    assert rare.low < rare.share < rare.high


def test_the_fit_finds_the_tail_that_counts_were_drawn_from():
    middle, deviation, _ = fitted(drawn(300_000), NONE)
    assert (middle, deviation) == pytest.approx(TAIL[:2], abs=0.1)


def test_ids_in_bursts_vary_more():
    one_by_one = np.full(5000, 10)
    draws = np.random.default_rng(1)
    assert burst(one_by_one, draws.binomial(10, 0.1, 5000)) == pytest.approx(1.0, abs=0.05)
    assert burst(one_by_one, 5 * draws.binomial(2, 0.1, 5000)) == pytest.approx(5.0, abs=0.3)


def test_longer_training_holds_fewer_ids_too_rarely():
    counts = drawn(300_000)
    tenth = np.random.default_rng(2).binomial(counts, 0.1)
    shares = [rare_ids(counts, tenth, tokens) for tokens in (1e6, 1e7, 1e8, 1e9, 1e12)]
    for lower, higher in zip(shares[1:], shares, strict=False):
        assert lower.low <= lower.share <= lower.high
        assert (lower.share, lower.high) <= (higher.share, higher.high)


@pytest.fixture(scope="module")
def texts(data):
    """Documents by name: two languages and plays line by line, and code file by file."""
    files = {
        "english": ["ntrex/eng.txt", "pud/en.txt"],
        "russian": ["ntrex/rus.txt"],
        "plays": ["text/tinyshakespeare.txt"],
    }
    read = {
        name: [line for path in paths for line in (data / path).read_text(encoding="utf-8").splitlines() if line]
        for name, paths in files.items()
    }
    return read | {"code": [document.text for document in StdlibSource(StdlibOptions()).documents()][::2]}


def parts(documents, tokenizer):
    """The counts of the ids in all documents, in a tenth of them, and in a tenth of that."""
    ids = [np.array(tokenizer.encode(document), dtype=np.int64) for document in documents]
    shuffled = np.random.default_rng(0).permutation(len(ids))
    shares = (shuffled[: round(len(ids) * share)] for share in (1, 0.1, 0.01))
    return [np.bincount(np.concatenate([ids[i] for i in some]), minlength=tokenizer.vocab_size) for some in shares]


@pytest.mark.slow
@pytest.mark.parametrize("text", ["english", "russian", "plays", "code"])
@pytest.mark.parametrize("encoding", ["gpt2", "o200k_base"])
def test_a_tenth_of_the_text_predicts_the_tail_of_the_whole_within_its_stated_error(texts, text, encoding):
    tokenizer = tokbench.load("tiktoken", encoding=encoding)
    order = merge_order(tokenizer, ordinary_tokens(tokenizer))
    curves = [Curve(order, counts) for counts in parts(texts[text], tokenizer)]
    for size in (2000, 8000, 32_000, order.base + len(order)):
        whole, tenth, hundredth = (curve.counts_at(size - order.base) for curve in curves)
        met = whole > 0
        never = np.zeros(size - int(met.sum()), dtype=np.int64)
        whole, tenth, hundredth = (np.concatenate([counts[met], never]) for counts in (whole, tenth, hundredth))
        training = 10 * int(whole.sum())  # so the whole shows which ids are rare: those it holds fewer than 10 times
        truth = rare_ids(whole, tenth, training)
        assert truth == (*[np.mean(whole < SHOWN)] * 3, True)
        foretold = rare_ids(tenth, hundredth, training)
        assert not foretold.shown
        assert foretold.low <= truth.share <= foretold.high, (size, truth, foretold)
        assert abs(foretold.share - truth.share) <= stated_error(tenth, hundredth)
