"""The backend ``naive_bpe``: byte-level BPE whose merges may cross anything but the end of a document.

Frequent phrases become tokens, which the backend ``regex_bpe`` prevents. ``bpe/README.md`` explains both.

>>> tokenizer = train_tokenizer(["low low lower low low"], 260, BPETrainOptions(), plugin.silent)
>>> tokenizer.token_bytes(259), tokenizer.encode("low low low lower")
(b' low low', [257, 259, 258, 101, 114])
"""

from __future__ import annotations

from functools import partial

from tokbench import plugin
from tokbench_plugins.bpe import FIRST_MERGE
from tokbench_plugins.bpe.backend import BPELoadOptions, BPETrainOptions, load_saved, saved_files, train_tokenizer

SPEC = plugin.BackendSpec(
    name="naive_bpe",
    summary="byte-level BPE without a pre-tokenization split, trained here",
    load=partial(load_saved, kind="naive_bpe"),
    load_options=BPELoadOptions,
    train=train_tokenizer,
    train_options=BPETrainOptions,
    min_vocab_size=FIRST_MERGE,
    nested=True,
    main="path",
    files=saved_files("naive_bpe"),
)
