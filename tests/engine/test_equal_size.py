"""Published vocabularies at equal size on PUD, through the configuration that ships: equal to the published tables."""

import os
from pathlib import Path

import numpy as np
import pytest

import tokbench
from tokbench.foundation.jit import has_numba
from tokbench.results.cells import WHOLE
from tokbench.studies.vocabulary_size.size_lines import SizeLines
from tokbench.tokenizers.batch import encode_batch
from tokbench.tokenizers.curve import Curve
from tokbench.tokenizers.merges import merge_order
from tokbench_plugins.bpe import PATTERNS, BPETokenizer, train
from tokbench_plugins.tiktoken.tokenizer import make_encoding

ROOT = Path(__file__).parents[2]
ENCODINGS = ("gpt-2", "gpt-4", "gpt-4o")
ENGINE = "numba" if has_numba() else "python"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def sizes(data, shared_store, tiktoken_files):
    # The others are measured for the table of the README.
    only = [*ENCODINGS, "gpt-neox", "mistral-7b", "mistral-nemo", "qwen-3", "kimi-k2"]
    return SizeLines(tokbench.run(ROOT / "configs" / "equal_size-pud.yaml", workers=0, only=only))


def test_every_vocabulary_has_a_curve_that_never_rises(sizes):
    for line in sizes.lines:
        assert (line.kind, line.reason) == ("curve", "")
        for group in [*sizes.groups("pud"), WHOLE]:
            assert (np.diff(sizes.trace(line, "pud", group).tokens) <= 0).all()


def test_the_ends_are_the_published_counts(sizes, data):
    rows = [row.split("|") for row in (data / "MANIFEST.md").read_text(encoding="utf-8").splitlines()]
    table = {
        row[2].strip(): [int(cell) for cell in row[-4:-1]] for row in rows if len(row) > 4 and row[1].strip() == "open"
    }
    assert len(table) == 10
    lines = {line.line: line for line in sizes.lines}
    for language, counts in table.items():
        found = [int(sizes.trace(lines[name], "pud", language).tokens[-1]) for name in ENCODINGS]
        assert found == counts


def test_at_32000_tokens(sizes):
    """Figures found apart from this code, with the ids below 32,000 of vocabularies that begin with no special ids."""
    at = {line.line: sizes.trace(line, "pud", WHOLE) for line in sizes.lines}
    tokens = {
        name: int(trace.tokens[trace.sizes == 32_000][0]) for name, trace in at.items() if trace.sizes[-1] >= 32_000
    }
    assert tokens["gpt-4o"] == 447_649
    assert tokens["gpt-4"] == 667_270
    assert tokens["kimi-k2"] == 600_404
    assert tokens["qwen-3"] == 665_200, "the ids below 31,988, and 12 tokens that were added as ordinary text"
    assert min(tokens, key=tokens.get) == "mistral-nemo", "the thousand special ids taken off"


def corpus(name, data):
    """Return 40 to 200 kB of text."""
    if name == "sources":
        return [Path(os.__file__).read_text(encoding="utf-8"), Path(os.__file__).with_name("argparse.py").read_text()]
    if name == "shakespeare":
        return [(data / "text" / "tinyshakespeare.txt").read_text(encoding="utf-8")[:200_000]]
    return (data / "pud" / f"{name}.txt").read_text(encoding="utf-8").splitlines()[::3]


@pytest.mark.parametrize("name", ["en", "th", "zh", "sources", "shakespeare"])
def test_twenty_sizes_equal_engines_trained_and_vocabularies_cut_at_each(data, name):
    texts = corpus(name, data)
    largest = BPETokenizer(train(texts, 3000, "gpt4", engine=ENGINE), "gpt4", engine=ENGINE)
    ids = encode_batch(largest, texts).ids
    curve = Curve(merge_order(largest), np.bincount(ids, minlength=largest.vocab_size))
    for size in np.geomspace(256, largest.vocab_size, 20).round().astype(int).tolist():
        merges = train(texts, size, "gpt4", engine=ENGINE) if size > 256 else []
        assert list(merges) == list(largest.merges[: size - 256])
        trained = BPETokenizer(merges, "gpt4", engine=ENGINE)
        counts = np.bincount(encode_batch(trained, texts).ids, minlength=largest.vocab_size)
        assert curve.counts_at(size - 256).tolist() == counts.tolist()
        ranks = {trained.token_bytes(i): i for i in range(size)}
        cut = make_encoding("cut", ranks, PATTERNS["gpt4"], {})
        assert sum(map(len, cut.encode_ordinary_batch(texts))) == curve.tokens[size - 256] == counts.sum()
