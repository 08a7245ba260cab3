"""Drafts of configurations: the answers to three questions become a commented YAML file that runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any, Final

import yaml

from tokbench.foundation.errors import InputError, Problem

PURPOSES: Final[Mapping[str, str]] = {
    "choose": "which tokenizer is best for these texts",
    "size": "how large a vocabulary should be",
    "languages": "what each language costs",
    "code": "what happens to source code",
}
"""By the name of a draft, the question that it answers."""

_SOURCES: Final = {".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".conllu": "conllu"}
_PACKED: Final = {".gz", ".zst"}


def draft(name: str, purpose: str, texts: str, tokenizers: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the YAML text of a new configuration.

    Args:
        name: the name of the run.
        purpose: a key of :data:`PURPOSES`.
        texts: a file, a folder or a glob pattern; empty for the texts that ship with tokbench.
        tokenizers: by name, the keys of each tokenizer: ``{"gpt-2": {"backend": "tiktoken", "encoding": "gpt2"}}``.

    Raises:
        InputError: a folder has no files.
    """
    text = (Path(__file__).parent / "drafts" / f"{purpose}.yaml").read_text(encoding="utf-8")
    corpus = _corpus(purpose, texts)
    key = "texts" if texts else "sample"
    # In one pass: what a user wrote is not looked at again.
    return Template(text).substitute(
        corpora_held_out=_entries({key: corpus | {"holdout": 0.2}}),
        corpora=_entries({key: corpus}),
        tokenizers=_entries(tokenizers),
        names=key,
        name=_flow([name])[1:-1],
    )


def _corpus(purpose: str, texts: str) -> dict[str, str]:
    """Return the keys of the corpus."""
    if not texts:
        return {"source": "sample", "part": "code" if purpose == "code" else "languages"}
    path = texts
    if Path(texts).is_dir():
        counts = Counter(file.suffix for file in Path(texts).rglob("*") if file.is_file())
        if not counts:
            raise InputError([Problem(texts, "the folder has no files; name one that has texts")])
        path = f"{texts.rstrip('/')}/**/*{counts.most_common(1)[0][0]}"
    suffixes = [suffix for suffix in Path(path.lower()).suffixes if suffix not in _PACKED]
    source = _SOURCES.get(suffixes[-1] if suffixes else "", "text")
    if source != "text":
        return {"source": source, "path": path}
    return {"source": source, "path": path, "document": "file" if purpose == "code" else "line"}


def _entries(entries: Mapping[str, Mapping[str, Any]]) -> str:
    """Return entries as lines of YAML, one for each."""
    lines = (f"  {name}: {_flow(dict(keys))}" for name, keys in entries.items())
    return "\n".join(lines)


def _flow(keys: object) -> str:
    return yaml.safe_dump(keys, default_flow_style=True, sort_keys=False, width=1 << 20, allow_unicode=True).strip()
