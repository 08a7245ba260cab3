"""The backend ``naive_bpe``: byte-level BPE with no pre-tokenization split.

The baseline of all BPE: merges may cross words, and only the borders of documents stop them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pydantic import Field

import tokbench
from tokbench_plugins.bpe import FIRST_MERGE, BPETokenizer, read_artefact, train

__all__ = ["LoadOptions", "TrainOptions", "register_backends"]


class LoadOptions(tokbench.Options):
    """Options of a saved ``naive_bpe``."""

    path: tokbench.LocalPath = Field(description="a file saved by naive_bpe (.bpe.json)")


class TrainOptions(tokbench.Options):
    """Options of training ``naive_bpe``: there are none."""


def _load(options: LoadOptions) -> BPETokenizer:
    return BPETokenizer(read_artefact(options.path, "naive_bpe").merges)


def _train(
    documents: Iterable[str], vocab_size: int, _options: TrainOptions, progress: tokbench.TrainProgress
) -> BPETokenizer:
    return BPETokenizer(train(documents, vocab_size, None, progress))


@tokbench.hookimpl
def register_backends(register: Callable[[tokbench.BackendSpec], None]) -> None:
    """Bring ``naive_bpe``."""
    register(
        tokbench.BackendSpec(
            name="naive_bpe",
            summary="byte-level BPE without a pre-tokenization split, trained here",
            load=_load,
            load_options=LoadOptions,
            train=_train,
            train_options=TrainOptions,
            min_vocab_size=FIRST_MERGE,
        )
    )
