"""The options of the engines."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from tokbench import plugin
from tokbench_plugins.bpe.backend import SplitPattern
from tokbench_plugins.engines.vocabulary import EncodingName, EngineVocabulary

_DEFAULT_PATTERN = "gpt4"


class PackageOptions(plugin.Options):
    """The vocabulary, one of those in the engine's package."""

    encoding: Literal["cl100k_base", "o200k_base"] = Field(description="cl100k_base or o200k_base")


class FileOptions(plugin.Options):
    """Options of an engine that takes any byte-level vocabulary: either ``encoding`` or ``path``.

    >>> FileOptions(encoding="cl100k_base").path is None
    True
    """

    encoding: EncodingName | None = Field(
        default=None, description="one of OpenAI's: gpt2 (r50k_base is the same), cl100k_base, o200k_base"
    )
    path: plugin.LocalPath | None = Field(
        default=None, description="a .tiktoken file, or a tokenizer.json with byte-level BPE"
    )
    pattern: SplitPattern | None = Field(
        default=None,
        description="with a .tiktoken file: the split: gpt2, gpt4, o200k or a regular expression; "
        f"default: {_DEFAULT_PATTERN}",
    )

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.encoding is None) == (self.path is None):
            raise ValueError("give either 'encoding' or 'path'")
        if self.pattern is not None and (self.path is None or self.path.suffix == ".json"):
            raise ValueError("'pattern' goes with a .tiktoken file; an encoding and a tokenizer.json bring their own")
        return self


def load_vocabulary(options: Any) -> EngineVocabulary:
    """Return the vocabulary that the options name.

    Raises:
        BackendUnavailable: an encoding is not on this machine.
        BackendError: a file cannot be read, is damaged, or is not byte-level BPE.
    """
    if options.encoding is not None:
        return EngineVocabulary.of_encoding(options.encoding)
    return EngineVocabulary.of_file(options.path, options.pattern or _DEFAULT_PATTERN)
