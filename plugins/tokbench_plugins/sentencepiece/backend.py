"""The backend ``sentencepiece``: any ``.model`` file, or one trained here with the library's trainer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from tokbench import plugin
from tokbench_plugins.bpe.backend import split_problem
from tokbench_plugins.bpe.patterns import WORDS
from tokbench_plugins.bpe.special import SPECIAL_OPTION, with_added_special
from tokbench_plugins.sentencepiece.options import WORDS_ALONE, SentencePieceTrainOptions


class SentencePieceLoadOptions(plugin.Options):
    """The model, and the special tokens to add to it."""

    path: plugin.LocalPath = Field(description="a SentencePiece model (.model) of any kind")
    special_tokens: tuple[str, ...] = SPECIAL_OPTION


def load(options: SentencePieceLoadOptions) -> plugin.Tokenizer:
    """Load a model."""
    from tokbench_plugins.sentencepiece.tokenizer import make_tokenizer

    try:
        return with_added_special(make_tokenizer(plugin.read_file(options.path)), options.special_tokens)
    except ValueError as error:
        raise plugin.BackendError(f"{options.path}: {error}") from error


def _save_object(processor: Any, folder: Path) -> dict[str, Any]:
    (folder / "tokenizer.model").write_bytes(processor.serialized_model_proto())
    return {"path": "tokenizer.model"}


def _train(
    documents: Iterable[str], vocab_size: int, options: SentencePieceTrainOptions, progress: plugin.TrainProgress
) -> plugin.Tokenizer:
    from tokbench_plugins.sentencepiece.train import train

    progress(0, 1)  # the library's trainer does not say how far it is
    tokenizer = train(documents, vocab_size, options)
    progress(1, 1)
    return tokenizer


def _train_counts(
    tables: Mapping[str, plugin.CountsFile],
    vocab_size: int,
    options: SentencePieceTrainOptions,
    progress: plugin.TrainProgress,
) -> plugin.Tokenizer:
    from tokbench_plugins.sentencepiece.train import train_on_counts

    progress(0, 1)
    tokenizer = train_on_counts(tables, vocab_size, options)
    progress(1, 1)
    return tokenizer


def _check_counts(options: SentencePieceTrainOptions, tables: Mapping[str, plugin.CountsFile]) -> str:
    if options.model_type != "bpe":
        return "counts train 'model_type: bpe' alone: unigram would ignore them in choosing its first pieces"
    for name, needed in WORDS_ALONE.items():
        if getattr(options, name) != needed:
            return f"{name!r} needs whole lines, which counts do not have; leave it out, or train on the text"
    return split_problem(WORDS, tables)


SPEC = plugin.BackendSpec(
    name="sentencepiece",
    summary="Google's unigram, BPE, character and word models, loaded or trained with every option",
    load=load,
    load_options=SentencePieceLoadOptions,
    save_object=_save_object,
    train=_train,
    train_counts=_train_counts,
    check_counts=_check_counts,
    train_options=SentencePieceTrainOptions,
    requires=("sentencepiece",),
    install="pip install sentencepiece",
    main="path",
    train_main="model_type",
    # Of the first piece: the length, the text with its length, and the score.
    files=(plugin.FileKind(".model"), plugin.FileKind(marks=r"\n[\x05-\x7f]\n[\x01-\x7f][^\x15]+\x15")),
)
