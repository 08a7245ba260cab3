"""The backend ``mistral``: the vocabularies that lie inside the package ``mistral-common``; no network.

SentencePiece models go through the class of the backend ``sentencepiece``, Tekken's through tiktoken, which is what
``mistral-common`` itself does. Only its files are read: it is not imported.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from pydantic import Field

from tokbench import plugin
from tokbench_plugins.bpe.special import SPECIAL_OPTION, with_added_special
from tokbench_plugins.registration import registers


def vocabularies() -> dict[str, Path]:
    """Return the files of the installed package by the name of their vocabulary.

    ``tokenizer.model.v1`` is called v1, ``tekken_240911.json`` is called tekken_240911.
    """
    spec = importlib.util.find_spec("mistral_common")
    folders = spec.submodule_search_locations if spec else None
    files = [file for folder in folders or () for file in sorted(Path(folder, "data").glob("*"))]
    models = {file.name.rpartition(".model.")[2]: file for file in files if ".model." in file.name}
    tekken = {file.stem: file for file in files if file.match("tekken_*.json")}
    return dict(sorted(models.items())) | tekken


if TYPE_CHECKING:
    Vocabulary = str
else:
    # Without the package any name is accepted: the backend is then unavailable, and says so.
    Vocabulary = Literal[tuple(vocabularies())] if vocabularies() else str


class MistralLoadOptions(plugin.Options):
    """The vocabulary, and the special tokens to add to it."""

    vocabulary: Vocabulary = Field(description="a vocabulary of the package: v1, v2, v3, v7, ..., tekken_240718, ...")
    special_tokens: tuple[str, ...] = SPECIAL_OPTION


def _load(options: MistralLoadOptions) -> plugin.Tokenizer:
    path = vocabularies()[options.vocabulary]
    data = plugin.read_file(path)
    try:
        if path.suffix == ".json":
            from tokbench_plugins.mistral.tekken import TekkenTokenizer

            return with_added_special(TekkenTokenizer(data), options.special_tokens)
        from tokbench_plugins.sentencepiece.tokenizer import make_tokenizer

        return with_added_special(make_tokenizer(data), options.special_tokens)
    except ValueError as error:
        raise plugin.BackendError(f"{path}: {error}") from error


_TEKKEN: Final = "this looks like a Tekken file, which no backend loads by path; open mistral:tekken_240911 instead"

_PUBLISHED: Final = {
    "mistral-7b-v1": "v1",
    "mistral-7b-v3": "v3",
    "mistral-nemo": "tekken_240718",
    "tekken-2411": "tekken_240911",
}
"""By the published name, the vocabulary that has it."""


SPEC = plugin.BackendSpec(
    name="mistral",
    summary="Mistral's SentencePiece and Tekken vocabularies, all inside its package",
    load=_load,
    load_options=MistralLoadOptions,
    requires=("mistral-common",),
    install="pip install 'tokbench[mistral]'",
    main="vocabulary",
    files=(plugin.FileKind(".json", marks=r'\s*\{\s*"config"\s*:', refusal=_TEKKEN),),
    published={name: {"vocabulary": vocabulary} for name, vocabulary in _PUBLISHED.items()},
)
register_backends = registers(SPEC)
