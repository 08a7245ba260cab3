"""What a plugin is made of: specs, options, errors and the tokenizer's contract.

Metrics and studies find the rest in :mod:`tokbench.plugin.metrics`, timings in :mod:`tokbench.plugin.timing`,
sections of a report in :mod:`tokbench.plugin.report`, commands in :mod:`tokbench.command`, byte-level BPE in
:mod:`tokbench_plugins.bpe`. These six modules are stable; nothing else of tokbench is. ``plugins/README.md`` shows one
plugin of each kind.

>>> from tokbench.plugin import check_id, from_lists
>>> from_lists([[7, 8], [9]]).offsets.tolist()
[0, 2, 3]
"""

from __future__ import annotations

from tokbench.corpus.contract import CorpusSpec, Document
from tokbench.foundation.errors import BackendError, BackendUnavailable, InputError, Problem, did_you_mean
from tokbench.foundation.failures import Failure, attempt, doing
from tokbench.foundation.files import read_file, write_atomically
from tokbench.foundation.parsing import TextError, decode_utf8, parse_json
from tokbench.foundation.progress import Progress, silent
from tokbench.measuring.executor import ExecutorSpec
from tokbench.registry.hookspecs import hookimpl
from tokbench.text.opening import opened
from tokbench.tokenizers.backend import BackendSpec, CountsFile, FileKind, TrainProgress
from tokbench.tokenizers.batch import (
    check_encoded,
    check_id,
    decode_batch,
    encode_batch,
    from_lists,
    valid_unicode,
    vocab_size_of,
)
from tokbench.tokenizers.contract import (
    Encoded,
    HasMerges,
    HasSpecialTokens,
    HasStages,
    HasTokenBytes,
    HasUnknown,
    Tokenizer,
)
from tokbench.tokenizers.options import LocalPath, Options

__all__ = [
    "BackendError",
    "BackendSpec",
    "BackendUnavailable",
    "CorpusSpec",
    "CountsFile",
    "Document",
    "Encoded",
    "ExecutorSpec",
    "Failure",
    "FileKind",
    "HasMerges",
    "HasSpecialTokens",
    "HasStages",
    "HasTokenBytes",
    "HasUnknown",
    "InputError",
    "LocalPath",
    "Options",
    "Problem",
    "Progress",
    "TextError",
    "Tokenizer",
    "TrainProgress",
    "attempt",
    "check_encoded",
    "check_id",
    "decode_batch",
    "decode_utf8",
    "did_you_mean",
    "doing",
    "encode_batch",
    "from_lists",
    "hookimpl",
    "opened",
    "parse_json",
    "read_file",
    "silent",
    "valid_unicode",
    "vocab_size_of",
    "write_atomically",
]
