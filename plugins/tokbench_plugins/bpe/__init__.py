"""Byte-level BPE, the engine that several backends share: written to be read, and compiled where it pays.

Byte-pair encoding starts from the 256 bytes and gives the most frequent pair of neighbours an id of
its own, again and again; the list of these *merges*, in order, is the whole tokenizer. Read the files
in the order in which the idea grows:

1. ``literal``: training and encoding as the literature tells them, short and slow. What everything
   else must equal, merge by merge and id by id.
2. ``vocabulary``: what an id stands for; ``recover`` and ``ranks``: merges found again from bare ranks; ``order``: in
   an order that can be cut.
3. ``patterns``: the pre-tokenization split, which keeps merges from crossing words.
4. ``train``: the same merges, near-linear in the text.
5. ``encode``: the same ids, near-linear in the text; ``special``: tokens that no text gives.
6. ``tokenizer``: all this behind tokbench's contract; ``backend``: its options.
7. ``artefact``: a tokenizer as a file; ``formats``: as the files of other programs.

Then the same again in ``compiled``, with numba: it splits, counts, trains, encodes and decodes at many times the
speed. ``count_parallel`` counts in several processes, and ``gigatoken_encode`` hands text to an engine that is faster
still on some. ``trainer``, ``engines`` and ``decode`` choose.

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
