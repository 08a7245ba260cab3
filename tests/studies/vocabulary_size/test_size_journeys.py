"""Sizes for a text at two budgets: a range, which grows with the model, and the law near it."""

import pytest

import tokbench
from tokbench.studies.vocabulary_size.block import VOCABULARY_SIZES

SMALL = {"width": 768, "layers": 12, "context": 1024, "tied": True, "training_tokens": 1e9}
LARGE = {"width": 2048, "layers": 16, "context": 2048, "feed_forward": 8192, "gated": True, "training_tokens": 1e11}
"""GPT-2 small and a model of a billion parameters, with their training tokens."""


@pytest.mark.slow
def test_the_sizes_for_python_at_two_budgets():
    config = {
        "schema": "tokbench/1",
        "name": "journey",
        "corpora": {"code": {"source": "python", "packages": ["email", "json"], "holdout": 0.2}},
        "tokenizers": {
            "own": {"backend": "regex_bpe", "pattern": "o200k", "train": {"corpus": "code", "vocab_size": 5000}}
        },
        "metrics": ["compression"],
    }
    ranges = []
    for model in (SMALL, LARGE):
        results = tokbench.run(config | {"study": {"vocabulary": {"model": model}}}, workers=0)
        assert not results.failed
        advice = results.studies.get(VOCABULARY_SIZES).recommendation
        sizes = advice.range
        assert sizes.smallest <= advice.take[1] <= sizes.largest
        inside = zip(sizes.sizes, sizes.costs, strict=True)
        assert (
            max(cost for size, cost in inside if sizes.smallest <= size <= sizes.largest) <= 1.02 * sizes.flops_per_byte
        )
        ranges.append(sizes)
    small, large = ranges
    assert small.smallest < large.smallest, "a larger model has less of its cost in the output layer"
    assert small.best <= large.best
