"""Coverage of 95 % intervals: samples of large populations of documents, whose own ratio is the truth.

Beyond 256 documents each falls into a sampling unit at random, as it does by its hash in a run.
``pytest tests/statistics/test_coverage.py -m slow -s`` prints the table of the README of the metrics.
"""

import itertools
import sys
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

import tokbench
from tokbench.measuring.paired import paired_quotient
from tokbench.measuring.sums import Sums
from tokbench.sources.python import StdlibOptions, StdlibSource
from tokbench.statistics.jackknife import jackknife
from tokbench.statistics.sample_units import MOST_UNITS, unit_keys
from tokbench.tokenizers.batch import encode_batch

SEED = 20
SIZES = (24, 37, 137, 1000)


class Coverage(NamedTuple):
    """The coverage of the intervals of many samples."""

    given: float
    """The share of samples that have one."""
    held: float
    """The share of the intervals that hold the truth."""
    length: float
    """Their median length in that of an ideal interval, from the spread of the values of all samples."""


def coverage(above, below, size, draws=500):
    """Return the coverage of samples of ``size`` documents."""
    rng = np.random.default_rng(SEED)
    truth = above.sum() / below.sum()
    values, lengths, held, given = [], [], 0, 0
    for _ in range(draws):
        taken = rng.integers(0, len(above), size)
        a, b = above[taken], below[taken]
        if size > MOST_UNITS:
            unit = rng.integers(0, MOST_UNITS, size)
            a, b = (np.bincount(unit, column, MOST_UNITS) for column in (a, b))
        if not b.any():
            continue
        values.append(a.sum() / b.sum())
        low, high, _ = jackknife(a, b)
        if low is not None:
            given += 1
            held += low <= truth <= high
            lengths.append(high - low)
    ideal = 2 * 1.96 * np.std(values) or 1.0
    return Coverage(given / draws, held / given if given else 1.0, float(np.median(lengths)) / ideal if given else 0.0)


def drawn(lengths, slope, rng, noise=0.15):
    """Bytes and tokens of documents: bytes per token vary by themselves, and with a power of the length."""
    n_bytes = np.rint(lengths) + 1
    log = np.log(n_bytes) - np.log(n_bytes).mean()
    per_token = 3.5 * np.exp(noise * rng.standard_normal(len(n_bytes)) + slope * log)
    return n_bytes, np.maximum(1, np.rint(n_bytes / per_token))


def giants(share, times, rng):
    """Documents of which a few are many times as long as the others, with half the bytes per token."""
    lengths, giant = np.exp(rng.normal(6, 0.7, 200_000)), rng.random(200_000) < share
    lengths[giant] *= times
    n_bytes, tokens = drawn(lengths, 0, rng)
    return n_bytes, np.where(giant, 2 * tokens, tokens)


@cache
def synthetic():
    rng, many = np.random.default_rng(SEED), 200_000
    populations = {}
    for slope in (0, 0.1):
        for sigma in (0.5, 1, 1.5, 2):
            populations[f"lognormal {sigma}, slope {slope}"] = drawn(np.exp(rng.normal(7, sigma, many)), slope, rng)
        for tail in (1.1, 1.5, 2, 3):
            populations[f"Pareto {tail}, slope {slope}"] = drawn(200 * (1 + rng.pareto(tail, many)), slope, rng)
    populations["10 % giants"], populations["1 % giants"] = giants(0.1, 30, rng), giants(0.01, 100, rng)
    for share in (0.001, 0.01, 0.1, 0.5, 0.9, 0.99):
        populations[f"{100 * share:g} % of documents"] = (rng.random(many) < share).astype(float), np.ones(many)
    return populations


def tokens(name, texts):
    tokenizer = tokbench.load("splintr", vocabulary=name)
    return np.diff(encode_batch(tokenizer, texts).offsets).astype(float)


def real(data):
    """Whole files, paragraphs and lines of Python's standard library, and sentences of NTREX and PUD."""
    pytest.importorskip("splintr")
    files = [document.text for document in StdlibSource(StdlibOptions()).documents()]
    texts = {"files": files, "paragraphs": [part for text in files for part in text.split("\n\n") if part.strip()]}
    texts["lines"] = list(itertools.islice((x for text in files for x in text.split("\n") if x.strip()), 200_000))
    populations = {}
    for name, some in texts.items():
        one, other = tokens("cl100k_base", some), tokens("whisper_v1", some)  # whisper_v1 is GPT-2's vocabulary
        populations[f"{name}, bytes/token"] = np.array([len(text.encode()) for text in some], dtype=float), one
        populations[f"{name}, paired"] = one, other
    for corpus, languages in {"ntrex": ("eng", "deu", "tha", "amh"), "pud": ("en", "fi", "th")}.items():
        counts = {
            name: tokens("cl100k_base", (data / corpus / f"{name}.txt").read_text(encoding="utf-8").split("\n"))
            for name in languages
        }
        for name in languages[1:]:
            populations[f"{corpus} {name}, premium"] = counts[name], counts[languages[0]]
    return populations


@pytest.mark.parametrize("name", ["lognormal 0.5, slope 0.1", "lognormal 1.5, slope 0.1", "Pareto 3, slope 0"])
def test_an_interval_is_given_and_holds(name):
    measured = coverage(*synthetic()[name], 137, draws=200)
    assert measured.given == 1
    assert measured.held >= 0.9


def test_two_tokenizers_of_one_quality_differ_in_one_sample_of_twenty():
    """Pairs of noisy copies, over documents of uneven length: p-values of at most 0.05 in 1 to 6 % of samples."""
    rng = np.random.default_rng(SEED)
    significant, draws = 0, 600
    for _ in range(draws):
        n_bytes = np.exp(rng.normal(7, 1, 137)).round()
        one, other = (np.rint(n_bytes / 4 * np.exp(rng.normal(0, 0.1, 137))) for _ in range(2))
        keys = unit_keys(np.arange(137), None)
        sums = [Sums.by_key(keys, bytes=n_bytes, tokens=tokens) for tokens in (one, other)]
        quotient = paired_quotient(*sums, ("bytes", "tokens"))
        significant += not quotient.low <= 0 <= quotient.high
    assert 0.01 <= significant / draws <= 0.06


def test_independent_groups_are_a_stratified_sample():
    """Languages that differ much, each with its own documents: without strata an interval is far too long."""
    rng = np.random.default_rng(SEED)
    draws, groups, size = 400, 13, 37
    ratio, held, lengths, flat, values = np.linspace(2, 5, groups), 0, [], [], []
    truth = None
    for _ in range(draws):
        n_bytes = np.exp(rng.normal(5, 0.5, (groups, size)))
        tokens = n_bytes / ratio[:, None] * np.exp(rng.normal(0, 0.1, (groups, size)))
        keys = np.concatenate([unit_keys(np.arange(size), group) for group in range(groups)])
        sums = Sums.by_key(keys, bytes=n_bytes.ravel(), tokens=tokens.ravel())
        truth = truth or groups / (np.exp(0.1**2 / 2) / ratio).sum()
        interval = jackknife(sums.columns["bytes"], sums.columns["tokens"], sums.units)
        without = jackknife(sums.columns["bytes"], sums.columns["tokens"])
        held += interval.low <= truth <= interval.high
        lengths.append(interval.high - interval.low)
        flat.append(without.high - without.low)
        values.append(float(sums.columns["bytes"].sum() / sums.columns["tokens"].sum()))
    assert held / draws >= 0.91
    assert np.median(lengths) / (2 * 1.96 * np.std(values)) < 1.2
    assert np.median(flat) > 1.5 * np.median(lengths)


_NO_METHOD = ("1 % giants", "paragraphs", "0.1 % of", "Pareto 1.1", "Pareto 1.5, slope 0.1", "lognormal 2, slope 0.1")
"""Populations of which a sample does not show what matters: one paragraph of 40,854 is 757 kB of tables."""


@pytest.mark.nightly
@pytest.mark.slow
def test_every_population(data):
    """The table of the README, and its limits."""
    populations = {**real(data), **synthetic()}
    write = sys.stdout.write
    write(f"\n| population | {' | '.join(f'{size:,}' for size in SIZES)} |\n|---|{'---|' * len(SIZES)}\n")
    by_size = {size: {name: coverage(*columns, size) for name, columns in populations.items()} for size in SIZES}
    for name in populations:
        row = [by_size[size][name] for size in SIZES]
        cells = [f"{100 * cell.held:.0f} ({cell.length:.2f})" if cell.given > 0.05 else "none" for cell in row]
        write(f"| {name} | {' | '.join(cells)} |\n")
    medians = [float(np.median([cell.held for cell in by_size[size].values() if cell.given > 0.05])) for size in SIZES]
    write(f"| median | {' | '.join(f'{100 * median:.1f}' for median in medians)} |\n")
    assert min(medians) >= 0.945
    realistic = [name for name in populations if not name.startswith(_NO_METHOD)]
    assert all(by_size[137][name].held >= 0.9 for name in realistic)
