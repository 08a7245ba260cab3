"""The backend ``regex_bpe``: byte-level BPE within the chunks of a pre-tokenization split.

The BPE of GPT-2 and all that followed it; the split is one of theirs by name or any regular expression.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pydantic import Field, field_validator

import tokbench
from tokbench_plugins.bpe import FIRST_MERGE, BPETokenizer, read_artefact, resolve_pattern, train

__all__ = ["LoadOptions", "TrainOptions", "register_backends"]


class LoadOptions(tokbench.Options):
    """Options of a saved ``regex_bpe``; its pattern is in the file."""

    path: tokbench.LocalPath = Field(description="a file saved by regex_bpe (.bpe.json)")


class TrainOptions(tokbench.Options):
    """Options of training ``regex_bpe``."""

    pattern: str = Field(
        default="gpt4",
        description="the pre-tokenization split: gpt2, gpt4, o200k or a regular expression",
    )

    @field_validator("pattern")
    @classmethod
    def _can_split(cls, pattern: str) -> str:
        resolve_pattern(pattern)
        return pattern


def _load(options: LoadOptions) -> BPETokenizer:
    artefact = read_artefact(options.path, "regex_bpe")
    return BPETokenizer(artefact.merges, artefact.pattern)


def _train(
    documents: Iterable[str], vocab_size: int, options: TrainOptions, progress: tokbench.TrainProgress
) -> BPETokenizer:
    return BPETokenizer(train(documents, vocab_size, options.pattern, progress), options.pattern)


@tokbench.hookimpl
def register_backends(register: Callable[[tokbench.BackendSpec], None]) -> None:
    """Bring ``regex_bpe``."""
    register(
        tokbench.BackendSpec(
            name="regex_bpe",
            summary="byte-level BPE with the split of GPT-2, GPT-4, GPT-4o or your own, trained here",
            load=_load,
            load_options=LoadOptions,
            train=_train,
            train_options=TrainOptions,
            min_vocab_size=FIRST_MERGE,
        )
    )
