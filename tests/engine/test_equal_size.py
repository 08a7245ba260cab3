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
ENGINE = "numba" if has_numba() else "python"

pytestmark = pytest.mark.slow


def test_curves_never_rise_and_have_known_counts(data, shared_store, tiktoken_files):
    """The ends are published; at 32,000 tokens the ids below were counted apart from this code."""
    only = ["gpt-2", "gpt-4"]
    sizes = SizeLines(tokbench.run(ROOT / "configs" / "equal_size-pud.yaml", workers=0, only=only))
    lines = {line.line: line for line in sizes.lines}
    for line in sizes.lines:
        assert (line.kind, line.reason) == ("curve", "")
        for group in [*sizes.groups("pud"), WHOLE]:
            assert (np.diff(sizes.trace(line, "pud", group).tokens) <= 0).all()
    rows = [row.split("|") for row in (data / "MANIFEST.md").read_text(encoding="utf-8").splitlines()]
    table = {row[2].strip(): list(map(int, row[-4:-2])) for row in rows if len(row) > 4 and row[1].strip() == "open"}
    assert len(table) == 10
    for language, counts in table.items():
        assert [int(sizes.trace(lines[name], "pud", language).tokens[-1]) for name in only] == counts
    whole = sizes.trace(lines["gpt-4"], "pud", WHOLE)
    assert int(whole.tokens[whole.sizes == 32_000][0]) == 667_270


@pytest.mark.parametrize("name", ["th", "sources"])
def test_sizes_equal_engines_trained_and_vocabularies_cut(data, name):
    texts = [Path(os.__file__).read_text(encoding="utf-8")]
    if name != "sources":
        texts = (data / "pud" / f"{name}.txt").read_text(encoding="utf-8").splitlines()[::10]
    largest = BPETokenizer(train(texts, 1500, "gpt4", engine=ENGINE), "gpt4", engine=ENGINE)
    ids = encode_batch(largest, texts).ids
    curve = Curve(merge_order(largest), np.bincount(ids, minlength=largest.vocab_size))
    for size in np.geomspace(256, largest.vocab_size, 6).round().astype(int).tolist():
        merges = train(texts, size, "gpt4", engine=ENGINE) if size > 256 else []
        assert list(merges) == list(largest.merges[: size - 256])
        trained = BPETokenizer(merges, "gpt4", engine=ENGINE)
        counts = np.bincount(encode_batch(trained, texts).ids, minlength=largest.vocab_size)
        assert curve.counts_at(size - 256).tolist() == counts.tolist()
        ranks = {trained.token_bytes(i): i for i in range(size)}
        cut = make_encoding("cut", ranks, PATTERNS["gpt4"], {})
        assert sum(map(len, cut.encode_ordinary_batch(texts))) == curve.tokens[size - 256] == counts.sum()
