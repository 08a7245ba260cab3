"""The backend ``huggingface``: any ``tokenizer.json``, a BERT ``vocab.txt``, or a model trained by the library."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from pydantic import Field, model_validator

from tokbench import plugin
from tokbench_plugins.huggingface.json import bert_json
from tokbench_plugins.huggingface.options import HuggingFaceTrainOptions
from tokbench_plugins.registration import registers


class HuggingFaceLoadOptions(plugin.Options):
    """Either ``path`` or ``vocab_txt``.

    >>> HuggingFaceLoadOptions(vocab_txt="vocab.txt").lowercase
    True
    """

    path: plugin.LocalPath | None = Field(default=None, description="a tokenizer.json of any kind")
    vocab_txt: plugin.LocalPath | None = Field(
        default=None, description="instead of path: the vocab.txt of a BERT, one piece a line"
    )
    lowercase: bool = Field(default=True, description="with vocab_txt: lower case without accents (an uncased model)")

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.path is None) == (self.vocab_txt is None):
            raise ValueError("give either 'path' or 'vocab_txt'")
        if self.path is not None and "lowercase" in self.model_fields_set:
            raise ValueError("'lowercase' goes with 'vocab_txt'; a tokenizer.json says so itself")
        return self


def _load(options: HuggingFaceLoadOptions) -> plugin.Tokenizer:
    from tokbench_plugins.huggingface.tokenizer import make_tokenizer

    path = options.path or options.vocab_txt
    assert path is not None
    try:
        text = plugin.read_file(path, text=True).decode()
        return make_tokenizer(text if options.path else bert_json(text, lowercase=options.lowercase))
    except ValueError as error:
        raise plugin.BackendError(f"{path}: {error}") from error


def _train(
    documents: Iterable[str], vocab_size: int, options: HuggingFaceTrainOptions, progress: plugin.TrainProgress
) -> plugin.Tokenizer:
    from tokbench_plugins.huggingface.train import train

    progress(0, 1)  # the library shows its own progress or none
    tokenizer = train(documents, vocab_size, options)
    progress(1, 1)
    return tokenizer


SPEC = plugin.BackendSpec(
    name="huggingface",
    summary="any tokenizer.json, or BPE, WordPiece and Unigram trained by Hugging Face's tokenizers",
    load=_load,
    load_options=HuggingFaceLoadOptions,
    train=_train,
    train_options=HuggingFaceTrainOptions,
    requires=("tokenizers",),
    install="pip install 'tokbench[huggingface]'",
)
register_backends = registers(SPEC)
