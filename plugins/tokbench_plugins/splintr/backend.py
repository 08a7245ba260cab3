"""The backend ``splintr``: vocabularies of well-known models from the package ``splintr-rs``, offline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from pydantic import Field

from tokbench import plugin
from tokbench_plugins.bpe.special import SPECIAL_OPTION, with_added_special
from tokbench_plugins.proofs import proofs

Vocabulary = Literal[
    "cl100k_base",
    "codellama",
    "deepseek_v3",
    "gemma2",
    "gemma3",
    "gemma4",
    "glm4",
    "gpt-oss",
    "kimi_k2",
    "kimi_k3",
    "llama2",
    "llama3",
    "mistral_v1",
    "mistral_v2",
    "mistral_v3",
    "modernbert",
    "o200k_base",
    "olmo2",
    "phi4",
    "qwen3",
    "whisper_v1",
    "whisper_v2",
    "whisper_v3",
]
"""Every vocabulary of splintr-rs 0.22; its other names are aliases."""


_PUBLISHED: Final[Mapping[str, Vocabulary]] = {
    "codellama": "codellama",
    "deepseek-v3": "deepseek_v3",
    "gemma-2": "gemma2",
    "gemma-3": "gemma3",
    "gemma-4": "gemma4",
    "glm-4": "glm4",
    "gpt-4": "cl100k_base",
    "kimi-k2": "kimi_k2",
    "kimi-k3": "kimi_k3",
    "llama-2": "llama2",
    "llama-3": "llama3",
    "mistral-7b-v1": "mistral_v1",
    "mistral-nemo": "mistral_v3",
    "modernbert": "modernbert",
    "olmo-2": "olmo2",
    "phi-4": "phi4",
    "qwen-3": "qwen3",
    "whisper-1": "whisper_v1",
    "whisper-2": "whisper_v2",
    "whisper-3": "whisper_v3",
}
"""The vocabulary of each published name; those of gpt-4o and gpt-oss have engines of OpenAI's own split."""


class SplintrLoadOptions(plugin.Options):
    """The vocabulary, and the special tokens to add to it."""

    vocabulary: Vocabulary = Field(description="the model whose vocabulary is loaded; all are inside the package")
    special_tokens: tuple[str, ...] = SPECIAL_OPTION


def _load(options: SplintrLoadOptions) -> plugin.Tokenizer:
    from tokbench_plugins.splintr.tokenizer import SplintrTokenizer

    return with_added_special(SplintrTokenizer(options.vocabulary), options.special_tokens)


SPEC = plugin.BackendSpec(
    name="splintr",
    summary="vocabularies of 23 well-known models that need no network, in a fast engine",
    load=_load,
    load_options=SplintrLoadOptions,
    requires=("splintr-rs",),
    install="pip install 'tokbench[fast]'",
    main="vocabulary",
    published={name: {"vocabulary": vocabulary} for name, vocabulary in _PUBLISHED.items()},
    verified=proofs("splintr"),
    precedence=1,
)
