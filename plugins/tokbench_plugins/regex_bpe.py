"""The backend ``regex_bpe``: byte-level BPE within the chunks of a pre-tokenization split.

This is the BPE of GPT-2 and its successors. A regular expression splits the text into chunks, about one per word, and
no merge crosses from one chunk to the next. ``bpe/README.md`` explains it.

>>> tokenizer = _train(["low low lower low low"], 260, RegexBPETrainOptions(pattern="gpt4"), plugin.silent)
>>> tokenizer.token_bytes(259), tokenizer.encode("low low low lower")
(b' lowe', [257, 258, 258, 259, 114])
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from pydantic import Field

from tokbench import plugin
from tokbench_plugins.bpe import FIRST_MERGE, BPETokenizer
from tokbench_plugins.bpe.backend import (
    BPELoadOptions,
    BPETrainOptions,
    SplitPattern,
    check_split,
    load_saved,
    saved_files,
    train_from_counts,
    train_tokenizer,
)
from tokbench_plugins.bpe.patterns import SPLIT_NAMES


class RegexBPETrainOptions(BPETrainOptions):
    """Options of training ``regex_bpe``."""

    pattern: SplitPattern = Field(
        default="gpt4",
        description=f"the pre-tokenization split: {SPLIT_NAMES} or a regular expression",
    )


def _train(
    documents: Iterable[str], vocab_size: int, options: RegexBPETrainOptions, progress: plugin.TrainProgress
) -> BPETokenizer:
    return train_tokenizer(documents, vocab_size, options, progress, options.pattern)


SPEC = plugin.BackendSpec(
    name="regex_bpe",
    summary="byte-level BPE with the split of GPT-2, GPT-4, GPT-4o or your own, trained here",
    load=partial(load_saved, kind="regex_bpe"),
    load_options=BPELoadOptions,
    train=_train,
    train_counts=train_from_counts,
    check_counts=check_split,
    train_options=RegexBPETrainOptions,
    min_vocab_size=FIRST_MERGE,
    nested=True,
    main="path",
    train_main="pattern",
    files=saved_files("regex_bpe"),
)
