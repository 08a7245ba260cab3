"""Sizes for three texts at two budgets, as the README of the study has them: a range, its reason, and what is near it.

The texts are smaller than those of a model: 1.9 MB in four languages and 12 MB of code, 1.8 MB of English prose, and 12 MB
of Python. Published vocabularies were trained on far more.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tokbench
from tokbench.results.model import Results

SMALL = {"width": 768, "layers": 12, "context": 1024, "positions": 1024, "biases": True, "tied": True}
LARGE = {
    "width": 2048, "layers": 16, "context": 2048, "heads": 32, "kv_heads": 8, "feed_forward": 8192, "gated": True,
    "tied": True,
}  # fmt: skip
BUDGETS = {"GPT-2 small, 1e10": SMALL | {"training_tokens": 1e10}, "1B, 1e12": LARGE | {"training_tokens": 1e12}}
"""Models with their training tokens."""


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
