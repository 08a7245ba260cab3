"""The backend ``regex_bpe``: byte-level BPE within the chunks of a pre-tokenization split.

This is the BPE of GPT-2 and its successors. A regular expression splits the text into chunks, about one per word. The
loop is the same as in ``naive_bpe``, but it counts and merges pairs within each chunk:

>>> from collections import Counter
>>> from itertools import pairwise
>>> import regex
>>> from tokbench_plugins.bpe import PATTERNS
>>> def split(text):
...     return [list(chunk.encode()) for chunk in regex.findall(PATTERNS["gpt4"], text)]
>>> def merge(ids, pair, new):
...     merged = []
...     for token_id in ids:
...         merged.append(token_id)
...         if tuple(merged[-2:]) == pair:
...             merged[-2:] = [new]
...     return merged
>>> chunks, merges = split("low low lower low low"), {}
>>> for new in range(256, 260):
...     counts = Counter(pair for ids in chunks for pair in pairwise(ids))
...     pair = max(counts, key=counts.get)  # of equals, the first one in the Counter
...     merges[pair], chunks = new, [merge(ids, pair, new) for ids in chunks]
>>> merges
{(108, 111): 256, (256, 119): 257, (32, 257): 258, (258, 101): 259}

The first three merges are the same as in ``naive_bpe``. The fourth is `` lowe``, where naive BPE has `` low low``: no
merge crosses from one chunk to the next. Encoding repeats the merges within each chunk:

>>> def encode(text):
...     chunks = split(text)
...     for pair, new in merges.items():
...         chunks = [merge(ids, pair, new) for ids in chunks]
...     return [token_id for ids in chunks for token_id in ids]
>>> encode("low low low lower")
[257, 258, 258, 259, 114]

The backend learns the same merges and gives the same ids, only faster:

>>> tokenizer = _train(["low low lower low low"], 260, RegexBPETrainOptions(pattern="gpt4"), plugin.silent)
>>> tokenizer.merges == tuple(merges), tokenizer.encode("low low low lower") == encode("low low low lower")
(True, True)
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from tokbench import plugin
from tokbench_plugins.bpe import FIRST_MERGE, BPETokenizer
from tokbench_plugins.bpe.backend import BPELoadOptions, SplitPattern, saved_files
from tokbench_plugins.bpe.patterns import SPLIT_NAMES
from tokbench_plugins.bpe.trainers import TrainerOptions, load_by_rule, train_by_options


class RegexBPETrainOptions(TrainerOptions):
    """Options of training ``regex_bpe``."""

    pattern: SplitPattern = Field(
        default="gpt4",
        description=f"the pre-tokenization split: {SPLIT_NAMES} or a regular expression",
    )


def _train(
    documents: Iterable[str], vocab_size: int, options: RegexBPETrainOptions, progress: plugin.TrainProgress
) -> BPETokenizer:
    return train_by_options(documents, vocab_size, options, progress, options.pattern)


SPEC = plugin.BackendSpec(
    name="regex_bpe",
    summary="byte-level BPE with the split of GPT-2, GPT-4, GPT-4o or your own, trained here",
    load=load_by_rule,
    load_options=BPELoadOptions,
    train=_train,
    train_options=RegexBPETrainOptions,
    min_vocab_size=FIRST_MERGE,
    nested=lambda options: options.is_nested,
    main="path",
    train_main="pattern",
    files=saved_files("regex_bpe"),
    adapts=True,
)
