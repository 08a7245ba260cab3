"""What the backends share that encode by a rule of their own: BoundlessBPE and PickyBPE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from pydantic import Field

from tokbench import plugin
from tokbench_plugins.bpe import (
    PATTERNS,
    SPECIAL_OPTION,
    BPETokenizer,
    SpecialTokens,
    SplitPattern,
    Tie,
    TrainingRecord,
    Vocabulary,
)


class RuledLoadOptions(plugin.Options):
    """Options of a saved vocabulary; its pattern is in the file."""

    path: plugin.LocalPath = Field(description="a file saved by this backend (.bpe.json)")
    special_tokens: tuple[str, ...] = SPECIAL_OPTION


class RuledTrainOptions(plugin.Options):
    """Options of training."""

    pattern: SplitPattern = Field(
        default="gpt4", description=f"the pre-tokenization split: {', '.join(PATTERNS)} or a regular expression"
    )
    tie: Tie = Field(
        default="first",
        description="tie-breaking of equally frequent pairs: the first in the text, or the smallest ids",
    )
    special_tokens: tuple[str, ...] = SPECIAL_OPTION


class RuledBPE(BPETokenizer):
    """Byte-level BPE that encodes by its own rule, in Python, and that no other program's format can hold."""

    python_only = True

    rule: ClassVar[str]

    no_format: ClassVar[str]
    """Why no other program's format can hold it."""

    def __init__(
        self,
        learned: Any,
        vocabulary: Vocabulary,
        pattern: str | None,
        special_tokens: SpecialTokens | Mapping[str, int] | None,
        training: TrainingRecord | None,
    ) -> None:
        self.learned = learned
        super().__init__(vocabulary, pattern, special_tokens, training=training)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), training=self.training), (self.learned, self.pattern, self.special_tokens)

    def _not_written_as(self, name: str) -> str:
        return (
            f"a vocabulary of {self.rule} cannot be written as {name}: {self.no_format}; save it as {self.file_suffix}"
        )


def special_behind(size: int, names: Sequence[str]) -> SpecialTokens:
    """Return special tokens whose ids begin at ``size``."""
    return SpecialTokens({}).with_more(names, size)
