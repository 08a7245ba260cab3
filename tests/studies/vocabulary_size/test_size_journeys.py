"""Sizes for a text and three models: a range, which grows with the model."""

import pytest

import tokbench
from tokbench.studies.vocabulary_size.block import VOCABULARY_SIZES


@pytest.mark.slow
def test_the_sizes_for_python_for_three_models():
    config = {
        "schema": "tokbench/1",
        "name": "journey",
        "corpora": {"code": {"source": "python", "packages": ["email", "json"], "holdout": 0.2}},
        "tokenizers": {
            "own": {"backend": "regex_bpe", "pattern": "o200k", "train": {"corpus": "code", "vocab_size": 5000}}
        },
        "metrics": ["compression"],
        "study": {"vocabulary": {}},
    }
    results = tokbench.run(config, workers=0)
    assert not results.failed
    advice = results.studies.get(VOCABULARY_SIZES).advice
    assert [each.model for each in advice] == ["125m", "1b", "8b"]
    for each in advice:
        assert each.pick.low <= each.pick.vocab_size <= each.pick.high <= each.largest
        inside = [c for size, c in zip(each.sizes, each.costs, strict=True) if each.pick.low <= size <= each.pick.high]
        assert max(inside) <= 1.02 * min(each.costs)
    small, _, large = advice
    assert small.pick.low < large.pick.low, "a larger model has less of its cost in the output layer"
