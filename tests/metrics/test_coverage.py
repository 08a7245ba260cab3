"""Coverage of 95 % intervals: samples of a large corpus, whose own ratio is the truth.

Each document falls into a jackknife group at random, as it does by its hash in a run.
"""

import itertools

import numpy as np
import pytest

import tokbench
from tokbench.batch import encode_batch
from tokbench.corpus.shards import BUCKETS
from tokbench.corpus.sources.python import StdlibOptions, StdlibSource
from tokbench.metrics.jackknife import jackknife

DRAWS = 1000
SEED = 20

pytestmark = pytest.mark.slow


def coverage(above, below, size):
    """The share of samples of ``size`` documents whose interval holds the ratio of all documents."""
    rng = np.random.default_rng(SEED)
    truth = above.sum() / below.sum()
    held = 0
    for _ in range(DRAWS):
        sample, groups = rng.integers(0, len(above), size), rng.integers(0, BUCKETS, size)
        sums = (np.bincount(groups, weights=each[sample], minlength=BUCKETS) for each in (above, below))
        low, high = jackknife(*sums)
        held += low is not None and low <= truth <= high
    return held / DRAWS


def tokens(name, texts):
    tokenizer = tokbench.load("splintr", vocabulary=name)
    return np.diff(encode_batch(tokenizer, texts).offsets).astype(float)


@pytest.fixture(scope="module")
def lines():
    """200,000 lines of Python's standard library, with their bytes and tokens."""
    pytest.importorskip("splintr")
    sources = (document.text for document in StdlibSource(StdlibOptions()).documents())
    texts = list(itertools.islice((line for text in sources for line in text.split("\n") if line.strip()), 200_000))
    counts = {name: tokens(name, texts) for name in ("cl100k_base", "llama2", "modernbert")}
    return counts | {"bytes": np.array([len(text.encode()) for text in texts], dtype=float)}


@pytest.mark.parametrize("size", [200, 1000, 10_000])
def test_ratios(lines, size):
    assert 0.93 <= coverage(lines["bytes"], lines["cl100k_base"], size) <= 0.97


@pytest.mark.parametrize("size", [200, 1000, 10_000])
def test_paired_differences(lines, size):
    assert 0.93 <= coverage(lines["cl100k_base"], lines["llama2"], size) <= 0.97


def test_a_sample_cannot_tell_of_what_is_not_in_it():
    """One paragraph of the library is a table with a twentieth of all tokens: few samples have it."""
    pytest.importorskip("splintr")
    sources = (document.text for document in StdlibSource(StdlibOptions()).documents())
    texts = [paragraph for text in sources for paragraph in text.split("\n\n") if paragraph.strip()]
    n_bytes = np.array([len(text.encode()) for text in texts], dtype=float)
    assert coverage(n_bytes, tokens("cl100k_base", texts), 200) < 0.9


@pytest.fixture(scope="module")
def aligned():
    """The shipped sentences; few, but a sample of them knows no more than that of any corpus."""
    pytest.importorskip("splintr")
    from tokbench.corpus.sources.sample import SampleOptions, SampleSource

    texts = {}
    for document in SampleSource(SampleOptions(part="languages")).documents():
        texts.setdefault(document.group, []).append(document.text)
    return {group: tokens("o200k_base", some) for group, some in texts.items()}


@pytest.mark.parametrize("language", ["de", "fi", "hi", "ja", "am", "th"])
def test_premiums(aligned, language):
    assert 0.93 <= coverage(aligned[language], aligned["en"], 66) <= 0.97


@pytest.mark.parametrize("size", [66, 500])
@pytest.mark.parametrize("language", ["deu", "tha", "amh"])
def test_premiums_of_a_larger_corpus(data, language, size):
    pytest.importorskip("splintr")
    texts = {
        name: (data / "ntrex" / f"{name}.txt").read_text(encoding="utf-8").split("\n") for name in (language, "eng")
    }
    above, below = (tokens("cl100k_base", texts[name]) for name in (language, "eng"))
    assert 0.93 <= coverage(above, below, size) <= 0.97
