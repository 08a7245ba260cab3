"""The backend ``snaptokens``: any byte-level vocabulary in snaptokens, batches through its own arrays.

It refuses GPT-4's spelling of its split: it gets Llama 3's, which cuts every text alike.
"""

from __future__ import annotations

import os
from typing import Any, Final

import numpy as np

from tokbench.plugin import Encoded
from tokbench_engines.engines.given import in_llama3_spelling, through_json
from tokbench_engines.engines.tokenizer import Engine, engine_spec, newer_unicode
from tokbench_plugins.tokbench_bpe.vocabulary import EngineVocabulary

_NOTE: Final = (
    "snaptokens keeps the caches of one tokenizer a thread, and makes them anew where two take turns, which takes ten "
    "milliseconds or more: time one vocabulary in a run"
)


def _native(vocabulary: EngineVocabulary) -> Any:
    # Its batches are cut over all cores unless this is said before the library is first used.
    os.environ.setdefault("RAYON_NUM_THREADS", "1")
    from snaptokens import Tokenizer

    return through_json(in_llama3_spelling(vocabulary), Tokenizer.from_file)


def _engine(vocabulary: EngineVocabulary) -> Engine:
    native = _native(vocabulary)

    def encode(text: str) -> list[int]:
        ids: list[int] = native.encode(text).ids
        return ids

    def encode_many(texts: list[str]) -> Encoded:
        ids, offsets = native.encode_batch_flat(texts)
        return Encoded(np.frombuffer(ids, "<u4"), np.frombuffer(offsets, "<u8").astype(np.int64))

    return Engine(
        encode,
        native.decode,
        encode_many,
        native.decode_batch,
        given=native.vocab_size,
        notes=(newer_unicode("snaptokens"), _NOTE),
    )


SPEC = engine_spec("snaptokens", "OpenAI's encodings, or any byte-level BPE, in snaptokens", _engine)
