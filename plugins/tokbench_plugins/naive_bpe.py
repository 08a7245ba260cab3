"""The backend ``naive_bpe``: byte-level BPE whose merges may cross anything but the end of a document.

BPE begins with the bytes of the text. Training counts the pairs of neighbours, replaces the most frequent pair by a new
id (of equally frequent pairs the one that occurs first), and repeats this until there are enough ids:

>>> from collections import Counter
>>> from itertools import pairwise
>>> def merge(ids, pair, new):
...     merged = []
...     for token_id in ids:
...         merged.append(token_id)
...         if tuple(merged[-2:]) == pair:
...             merged[-2:] = [new]
...     return merged
>>> ids, merges = list(b"low low lower low low"), {}
>>> for new in range(256, 260):
...     counts = Counter(pairwise(ids))
...     pair = max(counts, key=counts.get)  # of equals, the first one in the Counter
...     merges[pair], ids = new, merge(ids, pair, new)
>>> merges
{(108, 111): 256, (256, 119): 257, (32, 257): 258, (258, 258): 259}

Encoding repeats the merges in the order in which they were learned:

>>> def encode(text):
...     ids = list(text.encode())
...     for pair, new in merges.items():
...         ids = merge(ids, pair, new)
...     return ids
>>> encode("low low low lower")
[257, 259, 258, 101, 114]

The backend learns the same merges and gives the same ids, only faster:

>>> tokenizer = train_tokenizer(["low low lower low low"], 260, BPETrainOptions(), plugin.silent)
>>> tokenizer.merges == tuple(merges), tokenizer.encode("low low low lower") == encode("low low low lower")
(True, True)

The last merge, of ``low low``, shows what is wrong with naive BPE: frequent phrases become tokens. The backend
``regex_bpe`` prevents that.
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
    adapts=True,
)
