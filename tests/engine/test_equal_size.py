"""Curves of tokens over sizes: equal to engines that were trained, and to vocabularies that were cut, at each size."""

import os
from pathlib import Path

import numpy as np
import pytest

from tokbench.foundation.jit import has_numba
from tokbench.tokenizers.batch import encode_batch
from tokbench.tokenizers.curve import Curve
from tokbench.tokenizers.merges import merge_order
from tokbench_plugins.bpe import PATTERNS, BPETokenizer, train
from tokbench_plugins.tiktoken.tokenizer import make_encoding

ENGINE = "numba" if has_numba() else "python"

pytestmark = pytest.mark.slow


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
