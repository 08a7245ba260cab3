"""The backend ``tokbench_bpe``: any byte-level vocabulary in tokbench's BPE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import Field

from tokbench.foundation.errors import BackendError
from tokbench.tokenizers.backend import BackendSpec
from tokbench_plugins.bpe import BPETokenizer
from tokbench_plugins.bpe.engines import BULK_ENGINE, BulkEngine
from tokbench_plugins.bpe.recovery.order import first_merges
from tokbench_plugins.tokbench_bpe.vocabulary import (
    VOCABULARY_FILES,
    EncodingName,
    FileOptions,
    has_ranks,
    load_vocabulary,
)


class TokbenchBPELoadOptions(FileOptions):
    """Options of a published vocabulary; merges are recovered where the file has only ranks."""

    engine: BulkEngine = BULK_ENGINE
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
    tokenizer.file_notes = given.notes
    if not given.encoding:
        tokenizer.identity = repr(given.pattern)
    return tokenizer


_PUBLISHED: Final[Mapping[str, EncodingName]] = {
    "gpt-2": "gpt2",
    "gpt-4": "cl100k_base",
    "gpt-4o": "o200k_base",
    "llama-3": "llama3",
}

SPEC = BackendSpec(
    name="tokbench_bpe",
    summary="OpenAI's encodings, or any byte-level BPE, in tokbench's own engine",
    load=_load,
    load_options=TokbenchBPELoadOptions,
    main="encoding",
    files=VOCABULARY_FILES,
    published={name: {"encoding": encoding} for name, encoding in _PUBLISHED.items()},
    local=lambda options: options.encoding is None or has_ranks(options.encoding),
    precedence=-1,
)
