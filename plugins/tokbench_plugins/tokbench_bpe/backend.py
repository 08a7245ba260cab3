"""The backend ``tokbench_bpe``: any byte-level vocabulary in tokbench's BPE."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Final

from pydantic import Field

from tokbench.foundation.errors import BackendError
from tokbench.tokenizers.backend import BackendSpec
from tokbench.tokenizers.options import GivenOptions
from tokbench_plugins.bpe import BPETokenizer
from tokbench_plugins.bpe.engines import BULK_ENGINE, BulkEngine
from tokbench_plugins.bpe.recovery.order import first_merges
from tokbench_plugins.proofs import proofs
from tokbench_plugins.tiktoken.cache import MODEL, encoding_of_model, model_notes
from tokbench_plugins.tokbench_bpe.vocabulary import (
    ENCODINGS,
    VOCABULARY_FILES,
    EncodingName,
    FileOptions,
    has_ranks,
    load_vocabulary,
)


class TokbenchBPELoadOptions(FileOptions):
    """Options of a published vocabulary; merges are recovered where the file has only ranks."""

    engine: BulkEngine = BULK_ENGINE
    model: str = MODEL
    vocab_size: int | None = Field(
        default=None,
        ge=256,
        description="keep only this many tokens: the bytes and the first merges, without special tokens",
    )


def _load(options: TokbenchBPELoadOptions) -> BPETokenizer:
    given = load_vocabulary(options)
    vocabulary, special = given.vocabulary, given.special
    if options.vocab_size is not None:
        try:
            vocabulary, special = first_merges(vocabulary, options.vocab_size), {}
        except ValueError as error:
            raise BackendError(f"vocab_size: {error}") from error
    tokenizer = BPETokenizer(vocabulary, given.pattern, special, engine=options.engine)
    tokenizer.file_notes = (*given.notes, *model_notes(options.encoding, options.model))
    if not given.encoding:
        tokenizer.identity = repr(given.pattern)
    return tokenizer


_PUBLISHED: Final[Mapping[str, EncodingName]] = {
    "gpt-2": "gpt2",
    "gpt-4": "cl100k_base",
    "gpt-4o": "o200k_base",
    "gpt-oss": "o200k_harmony",
    "llama-3": "llama3",
}


def _alias(name: str) -> GivenOptions | None:
    options = encoding_of_model(name)
    return options if options and options["encoding"] in ENCODINGS else None


SPEC = BackendSpec(
    name="tokbench_bpe",
    summary="OpenAI's encodings, or any byte-level BPE, in tokbench's own engine",
    load=_load,
    load_options=TokbenchBPELoadOptions,
    main="encoding",
    files=VOCABULARY_FILES,
    published={name: {"encoding": encoding} for name, encoding in _PUBLISHED.items()},
    alias=_alias,
    verified=proofs("tokbench_bpe"),
    local=lambda options: options.encoding is None or has_ranks(options.encoding),
    # Its ids are proved, and compiled it is the fastest.
    precedence=2 if find_spec("numba") else -1,
)
