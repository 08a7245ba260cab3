"""The backend ``gigatoken``: any byte-level vocabulary in gigatoken, or one that it trains.

gigatoken always recognises the special tokens that it knows: it is given none. Its trainer splits as GPT-2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from tokbench import plugin
from tokbench_plugins.engines.options import FileOptions

if TYPE_CHECKING:
    from tokbench_plugins.engines.gigatoken_tokenizer import GigatokenTokenizer


class LoadOptions(FileOptions):
    """Options of a vocabulary that gigatoken runs; of splits it knows those of well-known models alone."""


class TrainOptions(plugin.Options):
    """Options of gigatoken's trainer, which splits as GPT-2."""

    tie: Literal["huggingface", "raw_token_ids", "assembled_bytes"] = Field(
        default="huggingface",
        description="of equally frequent pairs: Hugging Face's choice, the smallest ids, or the smallest bytes",
    )


def _load(options: LoadOptions) -> GigatokenTokenizer:
    from tokbench_plugins.engines.gigatoken_tokenizer import GigatokenTokenizer
    from tokbench_plugins.engines.options import load_vocabulary

    return GigatokenTokenizer(load_vocabulary(options))


def _train(
    documents: Iterable[str], vocab_size: int, options: TrainOptions, progress: plugin.TrainProgress
) -> GigatokenTokenizer:
    from tokbench_plugins.engines.gigatoken_tokenizer import train

    tokenizer = train(documents, vocab_size, options.tie)
    progress(1, 1)  # it does not say how far it is
    return tokenizer


@plugin.hookimpl
def register_backends(register: Callable[[plugin.BackendSpec], None]) -> None:
    """Register ``gigatoken``."""
    register(
        plugin.BackendSpec(
            name="gigatoken",
            summary="OpenAI's encodings, or any byte-level BPE with a well-known split, in gigatoken; and its trainer",
            load=_load,
            load_options=LoadOptions,
            train=_train,
            train_options=TrainOptions,
            min_vocab_size=256,
            nested=True,
            requires=("gigatoken",),
            install="pip install 'tokbench[fast]'",
        )
    )
