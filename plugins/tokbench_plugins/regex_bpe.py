"""The backend ``regex_bpe``: byte-level BPE within the chunks of a pre-tokenization split.

The BPE of GPT-2 and all that followed it; the split is one of theirs by name or any regular expression.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pydantic import Field

from tokbench import plugin
from tokbench_plugins.bpe import FIRST_MERGE, BPETokenizer, backend
from tokbench_plugins.bpe.backend import LoadOptions, SplitPattern, load_saved, train_tokenizer

__all__ = ["TrainOptions", "register_backends"]


class TrainOptions(backend.TrainOptions):
    """Options of training ``regex_bpe``."""

    pattern: SplitPattern = Field(
        default="gpt4",
        description="the pre-tokenization split: gpt2, gpt4, o200k or a regular expression",
    )


def _load(options: LoadOptions) -> BPETokenizer:
    return load_saved(options, "regex_bpe")


def _train(
    documents: Iterable[str], vocab_size: int, options: TrainOptions, progress: plugin.TrainProgress
) -> BPETokenizer:
    return train_tokenizer(documents, vocab_size, options, options.pattern, progress)


@plugin.hookimpl
def register_backends(register: Callable[[plugin.BackendSpec], None]) -> None:
    """Bring ``regex_bpe``."""
    register(
        plugin.BackendSpec(
            name="regex_bpe",
            summary="byte-level BPE with the split of GPT-2, GPT-4, GPT-4o or your own, trained here",
            load=_load,
            load_options=LoadOptions,
            train=_train,
            train_options=TrainOptions,
            min_vocab_size=FIRST_MERGE,
            nested=True,
        )
    )
