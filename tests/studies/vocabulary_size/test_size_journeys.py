"""Sizes for three texts at two budgets, as the README of the study has them: a range, its reason, and what is near it.

The texts are smaller than those of a model: 1.9 MB in four languages and 12 MB of code, 1.8 MB of English prose, and 12 MB
of Python. Published vocabularies were trained on far more.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tokbench
from tokbench.results.model import Results
from tokbench.studies.vocabulary_size.answer import size_answer
from tokbench.studies.vocabulary_size.block import VOCABULARY_SIZES, SizeRange
from tokbench.studies.vocabulary_size.published import LAW_WEIGHS, PRACTISED

SMALL = {"width": 768, "layers": 12, "context": 1024, "positions": 1024, "biases": True, "tied": True}
LARGE = {
    "width": 2048, "layers": 16, "context": 2048, "heads": 32, "kv_heads": 8, "feed_forward": 8192, "gated": True,
    "tied": True,
}  # fmt: skip
BUDGETS = {"small": SMALL | {"training_tokens": 1e9}, "large": LARGE | {"training_tokens": 1e11}}
"""GPT-2 small and a model of a billion parameters, with their training tokens."""

FILES = {
    "english": ("ntrex/eng.txt", "pud/en.txt"),
    "german": ("ntrex/deu.txt", "pud/de.txt"),
    "russian": ("ntrex/rus.txt", "pud/ru.txt"),
    "chinese": ("ntrex/zho-CN.txt", "pud/zh.txt"),
    "novel": ("text/botchan.txt",),
    "plays": ("text/tinyshakespeare.txt",),
}
"""By corpus, its files; the corpus "code" is the standard library of Python."""

TEXTS = {
    "languages": ("english", "german", "russian", "chinese", "code"),
    "prose": ("english", "novel", "plays"),
    "python": ("code",),
}
"""By text, its corpora."""


def corpus_of(name: str, data: Path, folder: Path) -> dict[str, Any]:
    """Return a corpus of a configuration, with a part that is held out."""
    if name == "code":
        return {"source": "python", "holdout": 0.2}
    (folder / name).mkdir(parents=True, exist_ok=True)
    for path in FILES[name]:
        (folder / name / Path(path).name).write_bytes((data / path).read_bytes())
    return {"source": "text", "path": str(folder / name / "*.txt"), "document": "line", "holdout": 0.3}


def study_of(text: str, budget: str, data: Path, folder: Path) -> Results:
    """Run the study of a text for a model."""
    corpora = TEXTS[text]
    config = {
        "schema": "tokbench/1",
        "name": text,
        "corpora": {name: corpus_of(name, data, folder) for name in corpora},
        "tokenizers": {
            "own": {"backend": "regex_bpe", "pattern": "o200k", "train": {"corpus": [*corpora], "vocab_size": 50257}},
            "gpt-2": {"backend": "tiktoken", "encoding": "gpt2"},
            "gpt-4": {"backend": "tiktoken", "encoding": "cl100k_base"},
            "gpt-4o": {"backend": "tiktoken", "encoding": "o200k_base"},
        },
        "metrics": ["compression"],
        "study": {"vocabulary": {"model": BUDGETS[budget]}},
        "report": {"formats": ["html", "md", "csv"]},
    }
    return tokbench.run(config, folder / "out", workers=0)


def answered(text: str, budget: str, data: Path, folder: Path) -> tuple[SizeRange, list[int]]:
    """Return the range of sizes and the law's band, after a look at the sentences and the chart that go with them."""
    results = study_of(text, budget, data, folder)
    assert not results.failed
    answer, study = size_answer(results), results.studies.get(VOCABULARY_SIZES)
    sizes, law = study.recommendation.range, [optimum.vocab_size for optimum in study.law.optima]
    [at] = [at for at, sentence in enumerate(answer.sentences) if sentence.startswith("Take own with ")]
    assert at == (0 if text == "python" else 1), "all but the Python is too small a text"
    assert answer.sentences[at + 1].startswith("Smaller needs more tokens (")
    assert f"The published scaling law points to {min(law):,} to {max(law):,} tokens." in answer.sentences
    assert {f"{LAW_WEIGHS}.", PRACTISED} <= set(answer.sentences)
    assert 'aria-label="Cost of a byte of text by vocabulary size"' in (folder / "out" / "report.html").read_text(
        "utf-8"
    )
    assert sizes.smallest <= study.recommendation.take[1] <= sizes.largest
    costs = [
        cost for size, cost in zip(sizes.sizes, sizes.costs, strict=True) if sizes.smallest <= size <= sizes.largest
    ]
    assert max(costs) <= 1.02 * sizes.flops_per_byte
    return sizes, law


@pytest.mark.slow
@pytest.mark.parametrize("text", TEXTS)
def test_the_sizes_for_a_text_at_two_budgets(text, data, tmp_path):
    small, law_of_small = answered(text, "small", data, tmp_path / "small")
    large, law_of_large = answered(text, "large", data, tmp_path / "large")
    assert small.smallest < large.smallest, "a larger model has less of its cost in the output layer"
    assert small.best < large.best
    assert small.largest < large.largest
    if text == "languages":  # the law is of English alone
        assert small.smallest > max(law_of_small)
        assert large.smallest > max(law_of_large)
    else:
        assert small.smallest <= max(law_of_small) < small.largest
        assert large.smallest <= min(law_of_large) < max(law_of_large) <= large.largest
        assert large.smallest <= 32_768 <= large.largest, "what Llama 2 and nanochat have"
