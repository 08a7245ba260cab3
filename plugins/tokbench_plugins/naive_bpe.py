"""The backend ``naive_bpe``: byte-level BPE whose merges may cross anything but the end of a document.

The plainest BPE there is: no pre-tokenization split, so frequent phrases become tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tokbench import plugin
from tokbench_plugins.bpe import FIRST_MERGE, BPETokenizer
from tokbench_plugins.bpe.backend import LoadOptions, TrainOptions, load_saved, train_tokenizer

__all__ = ["register_backends"]


def _load(options: LoadOptions) -> BPETokenizer:
    return load_saved(options, "naive_bpe")


def _train(
    documents: Iterable[str], vocab_size: int, options: TrainOptions, progress: plugin.TrainProgress
) -> BPETokenizer:
    return train_tokenizer(documents, vocab_size, options, None, progress)


@plugin.hookimpl
def register_backends(register: Callable[[plugin.BackendSpec], None]) -> None:
    """Bring ``naive_bpe``."""
    register(
        plugin.BackendSpec(
            name="naive_bpe",
            summary="byte-level BPE without a pre-tokenization split, trained here",
            load=_load,
            load_options=LoadOptions,
            train=_train,
            train_options=TrainOptions,
            min_vocab_size=FIRST_MERGE,
            nested=True,
        )
    )
