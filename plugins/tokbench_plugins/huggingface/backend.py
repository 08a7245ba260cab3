"""The backend ``huggingface``: any ``tokenizer.json``, a known encoding, a BERT ``vocab.txt``, or a trained model."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

from pydantic import Field, model_validator

from tokbench import plugin
from tokbench_plugins.bpe.formats import Parts
from tokbench_plugins.bpe.formats.tokenizer_json import tokenizer_json
from tokbench_plugins.bpe.special import SPECIAL_OPTION, SpecialTokens
from tokbench_plugins.huggingface.chat import JinjaChat, jinja_chat
from tokbench_plugins.huggingface.json import bert_json
from tokbench_plugins.huggingface.options import HuggingFaceTrainOptions
from tokbench_plugins.tokbench_bpe.vocabulary import EncodingName, EngineVocabulary


class HuggingFaceLoadOptions(plugin.Options):
    """One of ``path``, ``encoding`` and ``vocab_txt``."""

    path: plugin.LocalPath | None = Field(default=None, description="a tokenizer.json of any kind")
    encoding: EncodingName | None = Field(
        default=None,
        description="instead of path: gpt2 (r50k_base is the same), cl100k_base, o200k_base or llama3, whose "
        "tokenizer.json is made from the ranks",
    )
    vocab_txt: plugin.LocalPath | None = Field(
        default=None, description="instead of path: the vocab.txt of a BERT, one piece a line"
    )
    lowercase: bool = Field(default=True, description="with vocab_txt: lower case without accents (an uncased model)")
    special_tokens: tuple[str, ...] = SPECIAL_OPTION
    chat_template: plugin.LocalPath | None = Field(
        default=None, description="the model's tokenizer_config.json, or a chat_template.jinja, for conversations"
    )

    @model_validator(mode="after")
    def _one_of_three(self) -> Self:
        if [self.path, self.encoding, self.vocab_txt].count(None) != 2:  # noqa: PLR2004 - all but one
            raise ValueError("give either 'path', 'encoding' or 'vocab_txt'")
        if self.vocab_txt is None and "lowercase" in self.model_fields_set:
            raise ValueError("'lowercase' goes with 'vocab_txt'; a tokenizer.json says so itself")
        return self


def load(options: HuggingFaceLoadOptions) -> plugin.Tokenizer:
    """Load a file or an encoding."""
    from tokbench_plugins.huggingface.tokenizer import make_tokenizer, with_special

    source, chat = _source(options), _chat(options)
    try:
        return make_tokenizer(with_special(source, options.special_tokens), chat=chat)
    except plugin.TextError as error:
        raise plugin.BackendError(f"{error.at(str(options.path))}; get the file again") from error
    except ValueError as error:
        raise plugin.BackendError(f"{options.path or options.vocab_txt or options.encoding}: {error}") from error


def _chat(options: HuggingFaceLoadOptions) -> JinjaChat | None:
    if options.chat_template is None:
        return None
    try:
        return jinja_chat(plugin.read_file(options.chat_template, text=True).decode())
    except ValueError as error:
        raise plugin.BackendError(f"{options.chat_template}: {error}") from error


def _source(options: HuggingFaceLoadOptions) -> str:
    if options.encoding is not None:
        return _json_of_encoding(options.encoding)
    path = options.path or options.vocab_txt
    assert path is not None
    try:
        text = plugin.decode_utf8(plugin.read_file(path, text=True))
        return text if options.path else bert_json(text, lowercase=options.lowercase)
    except ValueError as error:
        raise plugin.BackendError(f"{path}: {error}") from error


def _json_of_encoding(name: EncodingName) -> str:
    given = EngineVocabulary.of_encoding(name)
    vocabulary = given.vocabulary
    special = SpecialTokens(given.special, vocabulary.tokens)
    return json.dumps(tokenizer_json(Parts(vocabulary, given.pattern, special)), ensure_ascii=False)


def _save_object(tokenizer: Any, folder: Path) -> dict[str, Any]:
    tokenizer.save(str(folder / "tokenizer.json"))
    return {"path": "tokenizer.json"}


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
    summary="any tokenizer.json, known encodings, or BPE, WordPiece and Unigram trained by Hugging Face's tokenizers",
    load=load,
    load_options=HuggingFaceLoadOptions,
    save_object=_save_object,
    train=_train,
    train_options=HuggingFaceTrainOptions,
    requires=("tokenizers",),
    install="pip install 'tokbench[huggingface]'",
    main="path",
    train_main="model",
    files=(
        plugin.FileKind(".json"),
        plugin.FileKind(".json", marks=r"(?!\s*\{)", refusal="this is not a JSON object"),
        plugin.FileKind(".txt", "vocab_txt"),
    ),
)
