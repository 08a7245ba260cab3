"""The backend ``tiktoken``: OpenAI's encodings, any file of ranks, Mistral's Tekken, or ranks trained here."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, Self

from pydantic import Field, model_validator

from tokbench import plugin
from tokbench_plugins.bpe import train
from tokbench_plugins.bpe.backend import SplitPattern
from tokbench_plugins.bpe.formats import DEFAULT_SPLIT, RANKS_FILES, read_ranks_file
from tokbench_plugins.bpe.patterns import SPLIT_NAMES
from tokbench_plugins.bpe.special import SPECIAL_OPTION, with_added_special
from tokbench_plugins.bpe.vocabulary import token_bytes_of
from tokbench_plugins.proofs import proofs
from tokbench_plugins.tiktoken.cache import MODEL, encoding_of_model, is_cached, model_notes

TEKKEN: Final = plugin.FileKind(".json", marks=r'\s*\{.*"(default_vocab_size|token_bytes|is_control)"\s*:')
"""Mistral's ``tekken.json``, known by a key of its settings, its tokens or its special tokens."""

_PATTERN = f"the pre-tokenization split: {SPLIT_NAMES} or a regular expression; what it does not match is lost"


class TiktokenLoadOptions(plugin.Options):
    """Either ``encoding`` or ``path``."""

    encoding: str | None = Field(
        default=None, description="a name that the installed tiktoken knows, such as gpt2, cl100k_base, o200k_base"
    )
    model: str = MODEL
    path: plugin.LocalPath | None = Field(
        default=None, description="a .tiktoken file: base64 token and rank a line; or Mistral's tekken.json"
    )
    pattern: SplitPattern | None = Field(
        default=None, description=f"with path: {_PATTERN}; default: as published or exported, or gpt4"
    )
    special_tokens: dict[str, int] | tuple[str, ...] = Field(
        default=(), description=f"{SPECIAL_OPTION.description}; or names with ids of your own"
    )

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.encoding is None) == (self.path is None):
            raise ValueError("give either 'encoding' or 'path'")
        if self.encoding is not None and self.pattern is not None:
            raise ValueError("'pattern' goes with 'path'; an encoding brings its own")
        return self


class TiktokenTrainOptions(plugin.Options):
    """Options of training ranks. A ``.tiktoken`` file has no pattern: set it again to load it."""

    pattern: SplitPattern = Field(default=DEFAULT_SPLIT, description=_PATTERN)


def _load(options: TiktokenLoadOptions) -> plugin.Tokenizer:
    from tokbench_plugins.tiktoken.tokenizer import (
        TiktokenTokenizer,
        get_encoding,
        is_lossless,
        make_encoding,
        with_special_tokens,
    )

    if options.encoding is not None:
        encoding = with_special_tokens(get_encoding(options.encoding), options.special_tokens)
        return TiktokenTokenizer(encoding, lossless=True, notes=model_notes(options.encoding, options.model))
    assert options.path is not None
    if TEKKEN.fits(TEKKEN.ending, plugin.read_file(options.path)[:4096]):
        return _tekken(options.path, options)
    ranks, pattern, notes = read_ranks_file(options.path, options.pattern)
    encoding = make_encoding(options.path.stem, ranks, pattern, {})
    encoding = with_special_tokens(encoding, options.special_tokens)
    tokenizer = TiktokenTokenizer(encoding, lossless=is_lossless(ranks, pattern), notes=notes)
    tokenizer.identity = pattern
    return tokenizer


def _tekken(path: Path, options: TiktokenLoadOptions) -> plugin.Tokenizer:
    from tokbench_plugins.tiktoken.tekken import TekkenTokenizer

    if options.pattern is not None or isinstance(options.special_tokens, dict):
        raise plugin.BackendError(f"{path}: has its split and ids of its own; leave 'pattern' and ids out")
    try:
        return with_added_special(TekkenTokenizer(plugin.read_file(path)), options.special_tokens)
    except ValueError as error:
        raise plugin.BackendError(f"{path}: {error}") from error


def _save_object(encoding: Any, folder: Path) -> dict[str, Any]:
    from tokbench_plugins.tiktoken.tokenizer import TiktokenTokenizer

    name, tokenizer = "encoding.tiktoken", TiktokenTokenizer(encoding)  # its own name may be no name of a file
    tokenizer.save(folder / name)
    return {"path": name, "pattern": encoding._pat_str, "special_tokens": dict(tokenizer.special_ids)}  # noqa: SLF001 - it has no public name


def _train(
    documents: Iterable[str], vocab_size: int, options: TiktokenTrainOptions, progress: plugin.TrainProgress
) -> plugin.Tokenizer:
    from tokbench_plugins.tiktoken.tokenizer import TiktokenTokenizer, is_lossless, make_encoding

    merges = train(documents, vocab_size, options.pattern, progress)
    ranks: dict[bytes, int] = {}
    for rank, data in enumerate(token_bytes_of(merges)):
        # Two merges may make the same bytes; tiktoken looks bytes up and finds the earlier one only.
        ranks.setdefault(data, rank)
    encoding = make_encoding("trained", ranks, options.pattern, {})
    return TiktokenTokenizer(encoding, lossless=is_lossless(ranks, options.pattern))


SPEC = plugin.BackendSpec(
    name="tiktoken",
    summary="OpenAI's encodings by name, any .tiktoken file or tekken.json, or ranks trained here, in OpenAI's engine",
    load=_load,
    load_options=TiktokenLoadOptions,
    save_object=_save_object,
    train=_train,
    train_options=TiktokenTrainOptions,
    min_vocab_size=256,
    nested=True,
    requires=("tiktoken",),
    install="pip install tiktoken",
    main="encoding",
    train_main="pattern",
    files=(*RANKS_FILES, TEKKEN),
    published={
        "gpt-2": {"encoding": "gpt2"},
        "gpt-4": {"encoding": "cl100k_base"},
        "gpt-4o": {"encoding": "o200k_base"},
    },
    alias=encoding_of_model,
    verified=proofs("tiktoken"),
    local=lambda options: options.encoding is None or is_cached(options.encoding),
)
