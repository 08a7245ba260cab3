"""Byte-level BPE as a library: what this module has is stable, what is below it is not.

Byte-pair encoding starts from the 256 bytes and gives the most frequent pair of neighbours an id of its own, again and
again. The list of these *merges*, in order, is the tokenizer. ``README.md`` in this folder explains it in seven steps.

>>> merges = train(["aaabdaaabac"], 259, None)
>>> merges
[(97, 97), (256, 97), (257, 98)]
>>> Vocabulary.trained(merges).tokens[256:]
(b'aa', b'aaa', b'aaab')
>>> BPETokenizer(merges).encode("aaabdaaabac")
[258, 100, 258, 97, 99]
"""

from __future__ import annotations

from tokbench_plugins.bpe.artefact import CorpusDigest, TrainingRecord, read_artefact
from tokbench_plugins.bpe.backend import BPELoadOptions, SplitPattern, load_saved, saved_files
from tokbench_plugins.bpe.engines import BULK_ENGINE, BulkEngine, train
from tokbench_plugins.bpe.fast.encode import Encoder, merge_ids
from tokbench_plugins.bpe.fast.parallel import count_in_processes
from tokbench_plugins.bpe.fast.train import LinkedText
from tokbench_plugins.bpe.formats import Parts, read_ranks, write_ranks, write_tokenizer_json
from tokbench_plugins.bpe.literal import Tie
from tokbench_plugins.bpe.patterns import PATTERNS, Splitter, pattern_name, resolve_pattern
from tokbench_plugins.bpe.recovery.order import Merges
from tokbench_plugins.bpe.special import SPECIAL_OPTION, SpecialTokens
from tokbench_plugins.bpe.tokenizer import BPETokenizer
from tokbench_plugins.bpe.vocabulary import FIRST_MERGE, Pair, Vocabulary

__all__ = [
    "BULK_ENGINE",
    "FIRST_MERGE",
    "PATTERNS",
    "SPECIAL_OPTION",
    "BPELoadOptions",
    "BPETokenizer",
    "BulkEngine",
    "CorpusDigest",
    "Encoder",
    "LinkedText",
    "Merges",
    "Pair",
    "Parts",
    "SpecialTokens",
    "SplitPattern",
    "Splitter",
    "Tie",
    "TrainingRecord",
    "Vocabulary",
    "count_in_processes",
    "load_saved",
    "merge_ids",
    "pattern_name",
    "read_artefact",
    "read_ranks",
    "resolve_pattern",
    "saved_files",
    "train",
    "write_ranks",
    "write_tokenizer_json",
]
