"""The backend ``bpe_openai``: GitHub's linear-time BPE with OpenAI's vocabularies, from the package ``bpe-openai``.

The package's Python layer copies every list and refuses texts of 1,000,000 characters or 200,000 tokens; the
compiled encoder under it does neither, and is called here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from tokbench import plugin

if TYPE_CHECKING:
    from tokbench_plugins.engines.tokenizer import EngineTokenizer


class LoadOptions(plugin.Options):
    """The vocabulary, one of those in the package."""

    encoding: Literal["cl100k_base", "o200k_base"] = Field(description="cl100k_base or o200k_base")


def _load(options: LoadOptions) -> EngineTokenizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # raised when it reads its own files
        from bpe_openai import _bindings

    from tokbench_plugins.engines.tokenizer import Engine, EngineTokenizer, calling
    from tokbench_plugins.engines.vocabulary import EngineVocabulary

    vocabulary = EngineVocabulary.of_encoding(options.encoding)
    native = calling("bpe_openai", lambda: _bindings.tokenizer_for_encoding(options.encoding))
    engine = Engine(
        "bpe_openai",
        native.encode,
        native.decode,
        given=len(vocabulary.ranks or ()),
        notes=("bpe-openai's own Python layer refuses 1,000,000 characters; its compiled encoder is used without it",),
    )
    return EngineTokenizer(engine, vocabulary, (_load, (options,)))


@plugin.hookimpl
def register_backends(register: Callable[[plugin.BackendSpec], None]) -> None:
    """Register ``bpe_openai``."""
    register(
        plugin.BackendSpec(
            name="bpe_openai",
            summary="OpenAI's vocabularies in GitHub's linear-time BPE",
            load=_load,
            load_options=LoadOptions,
            requires=("bpe-openai",),
            install="pip install 'tokbench[engines]'",
        )
    )
