"""Drafts of configurations: the answers to a few questions become a commented YAML file that runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any, Final

import yaml

from tokbench.cli.folder_texts import PACKED, ROWS, documents_of
from tokbench.tokenizers.options import GivenOptions

_HELD: Final = 0.2
"""The share of a corpus that is held out."""


@dataclass(frozen=True)
class DraftCorpora:
    """The corpora of a draft."""

    entries: Mapping[str, Mapping[str, Any]]
    """By name, the keys of each corpus."""
    code: Sequence[str] = ()
    """The corpora of code, if others are beside them."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """By corpus, its share in the training text; empty if all count alike."""


def draft(name: str, purpose: str, corpora: DraftCorpora, tokenizers: Mapping[str, GivenOptions | str]) -> str:
    """Return the YAML text of a new configuration.

    Args:
        name: the name of the run.
        purpose: a key of :data:`~tokbench.cli.purposes.PURPOSES`.
        corpora: the corpora, with a part held out where :func:`holds_out` says so.
        tokenizers: by name, the entry of each tokenizer: its keys, or a name such as ``gpt-4o`` or ``tiktoken:gpt2``.
    """
    text = (Path(__file__).parent / "drafts" / f"{purpose}.yaml").read_text(encoding="utf-8")
    # In one pass: what a user wrote is not looked at again.
    return Template(text).substitute(
        corpora=_entries(corpora.entries),
        tokenizers=_entries(tokenizers),
        names=_flow([name for name in corpora.entries if corpora.weights.get(name, 1.0)]),
        code=_flow({"code": {"corpora": list(corpora.code)}}) if corpora.code else "code",
        weights=_weights(corpora),
        name=_flow([name])[1:-1],
    )


def holds_out(purpose: str) -> float:
    """Return the share of each corpus that is held out; 0 unless the draft trains a tokenizer."""
    return _HELD if purpose == "size" else 0.0


def held_out(keys: Mapping[str, Any], purpose: str) -> GivenOptions:
    """Return the keys of a corpus with a part that is held out, if the draft trains a tokenizer."""
    return {**keys, "holdout": holdout} if (holdout := holds_out(purpose)) else dict(keys)


def one_corpus(purpose: str, texts: str) -> DraftCorpora:
    """Return the corpus of a file, of a glob pattern, or of the texts that ship with tokbench."""
    if not texts:
        sample = {"source": "sample", "part": "code" if purpose == "code" else "languages"}
        return DraftCorpora({"sample": held_out(sample, purpose)})
    endings = [ending for ending in Path(texts.lower()).suffixes if ending[1:] not in PACKED]
    source = ROWS.get(endings[-1][1:] if endings else "", "text")
    keys = {"source": source, "path": texts}
    if source == "text":
        keys["document"] = "file" if purpose == "code" else documents_of(texts, holds_out(purpose))
    return DraftCorpora({"texts": held_out(keys, purpose)})


def _weights(corpora: DraftCorpora) -> str:
    """Return the lines of the weights; a comment if there are none to give."""
    if corpora.weights:
        return (
            f"    # The share of each corpus in the training text, in %.\n    weights: {_flow(dict(corpora.weights))}"
        )
    even = dict.fromkeys(corpora.entries, 1)
    return f"    # All corpora count alike; other shares are written as: weights: {_flow(even)}"


def _entries(entries: Mapping[str, Mapping[str, Any] | str]) -> str:
    """Return entries as lines of YAML, one for each."""
    # Norwegian is "no", which YAML takes for false unless it is quoted.
    return "\n".join(f"  {_flow({name: entry})[1:-1]}" for name, entry in entries.items())


def _flow(keys: object) -> str:
    return yaml.safe_dump(keys, default_flow_style=True, sort_keys=False, width=1 << 20, allow_unicode=True).strip()
