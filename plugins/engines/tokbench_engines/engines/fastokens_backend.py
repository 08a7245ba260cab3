"""The backend ``fastokens``: any byte-level vocabulary in fastokens, batches through its own arrays."""

from __future__ import annotations

import os
from typing import Any, Final

import numpy as np

from tokbench.plugin import Encoded
from tokbench_engines.engines.given import holes, through_json, through_ranks
from tokbench_engines.engines.tokenizer import Engine, engine_spec
from tokbench_plugins.bpe import resolve_pattern
from tokbench_plugins.tokbench_bpe.vocabulary import EngineVocabulary

# Splits that it knows by the name of an encoding, and runs without a regular expression.
_PRESETS: Final = {"gpt4": "cl100k_base", "o200k": "o200k_base"}


def _native(vocabulary: EngineVocabulary) -> Any:
    # A batch is cut over all cores unless this is said before the library is first used.
    os.environ.setdefault("FASTOKENS_BPE_THREADS", "1")
    from fastokens import Tokenizer

    if vocabulary.ranks is None or holes(vocabulary) or vocabulary.pattern is None:
        return through_json(vocabulary, Tokenizer.from_file)
    split = (
        {"encoding": _PRESETS[vocabulary.pattern]}
        if vocabulary.pattern in _PRESETS
        else {"pattern": resolve_pattern(vocabulary.pattern)}
    )
    special = dict(vocabulary.special)
    return through_ranks(vocabulary, lambda path: Tokenizer.from_tiktoken(path, special_tokens=special, **split))


def _engine(vocabulary: EngineVocabulary) -> Engine:
    native = _native(vocabulary)

    def encode(text: str) -> list[int]:
        ids: list[int] = native.encode_ordinary(text).ids
        return ids

    def encode_many(texts: list[str]) -> Encoded:
        ids, offsets = native.encode_batch_flat(texts, split_special_tokens=True)
        return Encoded(np.frombuffer(ids, "<u4"), np.frombuffer(offsets, "<u8").astype(np.int64))

    return Engine(encode, native.decode, encode_many=encode_many)


SPEC = engine_spec("fastokens", "OpenAI's encodings, or any byte-level BPE, in fastokens", _engine)
