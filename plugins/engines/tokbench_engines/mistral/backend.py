"""The backend ``mistral``: the vocabularies inside the package ``mistral-common``, offline.

Only encoding a conversation imports the package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from pydantic import Field

from tokbench import plugin
from tokbench_engines import install
from tokbench_engines.mistral.chat import vocabularies
from tokbench_plugins.bpe import SPECIAL_OPTION
from tokbench_plugins.bpe.special import with_added_special
from tokbench_plugins.proofs import proofs

if TYPE_CHECKING:
    Vocabulary = str
else:
    # Without the package any name is accepted: the backend is then unavailable, and says so.
    Vocabulary = Literal[tuple(vocabularies())] if vocabularies() else str


class MistralLoadOptions(plugin.Options):
    """Options of ``mistral``."""

    vocabulary: Vocabulary = Field(description="a vocabulary of the package: v1, v2, v3, v7, ..., tekken_240718, ...")
    special_tokens: tuple[str, ...] = SPECIAL_OPTION


def _load(options: MistralLoadOptions) -> plugin.Tokenizer:
    from tokbench_engines.mistral.tokenizers import MistralPieces, MistralTekken

    path = vocabularies()[options.vocabulary]
    data = plugin.read_file(path)
    try:
        made = (MistralTekken if path.suffix == ".json" else MistralPieces)(data, options.vocabulary)
    except ValueError as error:
        raise plugin.BackendError(f"{path}: {error}") from error
    return with_added_special(made, options.special_tokens)


_PUBLISHED: Final = {
    "mistral-7b-v1": "v1",
    "mistral-7b-v3": "v3",
    "mistral-nemo": "tekken_240718",
    "mistral-v2": "v2",
    "mistral-v7": "v7",
    "mistral-v7m1": "v7m1",
    "tekken-2411": "tekken_240911",
}


SPEC = plugin.BackendSpec(
    name="mistral",
    summary="Mistral's SentencePiece and Tekken vocabularies, all inside its package",
    load=_load,
    load_options=MistralLoadOptions,
    requires=("mistral-common",),
    install=install("mistral"),
    main="vocabulary",
    published={name: {"vocabulary": vocabulary} for name, vocabulary in _PUBLISHED.items()},
    verified=proofs("mistral"),
)
