"""Byte-level BPE, the engine that several backends share.

Byte-pair encoding starts from the 256 bytes and gives the most frequent pair of neighbours an id of its own, again and
again. The list of these *merges*, in order, is the tokenizer. ``README.md`` in this folder explains it in seven steps.

>>> merges = train(["aaabdaaabac"], 259, None)
>>> merges
[(97, 97), (256, 97), (257, 98)]
>>> token_bytes_of(merges)[256:]
[b'aa', b'aaa', b'aaab']
>>> BPETokenizer(merges).encode("aaabdaaabac")
[258, 100, 258, 97, 99]
"""

from __future__ import annotations

from tokbench_plugins.bpe.artefact import FILE_SUFFIX, read_artefact, write_artefact
from tokbench_plugins.bpe.engines import train
from tokbench_plugins.bpe.fast.encode import Encoder
from tokbench_plugins.bpe.patterns import PATTERNS, Splitter, resolve_pattern
from tokbench_plugins.bpe.tokenizer import BPETokenizer
from tokbench_plugins.bpe.vocabulary import FIRST_MERGE, Pair, token_bytes_of

__all__ = [
    "FILE_SUFFIX",
    "FIRST_MERGE",
    "PATTERNS",
    "BPETokenizer",
    "Encoder",
    "Pair",
    "Splitter",
    "read_artefact",
    "resolve_pattern",
    "token_bytes_of",
    "train",
    "write_artefact",
]
