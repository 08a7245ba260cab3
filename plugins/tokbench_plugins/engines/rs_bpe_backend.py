"""The backend ``rs_bpe``: OpenAI's vocabularies in rs-bpe, a relative of ``bpe_openai`` with threads of its own."""

from __future__ import annotations

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
    from rs_bpe.bpe import openai

    from tokbench_plugins.engines.tokenizer import Engine, EngineTokenizer, calling
    from tokbench_plugins.engines.vocabulary import EngineVocabulary

    vocabulary = EngineVocabulary.of_encoding(options.encoding)
    native = calling("rs_bpe", getattr(openai, options.encoding))
    engine = Engine("rs_bpe", native.encode, native.decode, given=len(vocabulary.ranks or ()))
    return EngineTokenizer(engine, vocabulary, (_load, (options,)))


@plugin.hookimpl
def register_backends(register: Callable[[plugin.BackendSpec], None]) -> None:
    """Register ``rs_bpe``."""
    register(
        plugin.BackendSpec(
            name="rs_bpe",
            summary="OpenAI's vocabularies in rs-bpe",
            load=_load,
            load_options=LoadOptions,
            requires=("rs-bpe",),
            install="pip install 'tokbench[engines]'",
        )
    )
