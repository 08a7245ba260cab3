"""A tokenizer that does not encode by plain BPE: the base of those of BoundlessBPE and PickyBPE."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, ClassVar

from tokbench.plugin import Adaptation, BackendError, TrainProgress, silent
from tokbench_plugins.bpe.artefact import TrainingRecord
from tokbench_plugins.bpe.engines import Engine
from tokbench_plugins.bpe.special import SpecialTokens
from tokbench_plugins.bpe.tokenizer import BPETokenizer
from tokbench_plugins.bpe.vocabulary import Vocabulary


class RuledTokenizer(BPETokenizer):
    """Byte-level BPE that encodes by a rule of its own, in Python, and that no format of another program can hold.

    Args:
        learned: what encoding needs; a subclass says what it is.
        vocabulary: the tokens.
        pattern: the pre-tokenization split, a name or a regular expression.
        special_tokens: names and ids, which ordinary text does not give.
        engine: ``literal`` encodes by the textbook loop; all others give the same ids, remembered chunk by chunk.
        training: how it was trained, for the artefact.
    """

    python_only = True

    rule: ClassVar[str]
    """The name of the rule, in messages."""

    no_format: ClassVar[str]
    """The reason why no format of another program can hold it."""

    def __init__(
        self,
        learned: Any,
        vocabulary: Vocabulary,
        pattern: str | None,
        special_tokens: SpecialTokens | Mapping[str, int] | None = None,
        *,
        engine: Engine = "auto",
        training: TrainingRecord | None = None,
    ) -> None:
        self.learned = learned
        super().__init__(vocabulary, pattern, special_tokens, engine=engine, training=training)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what it was made from, without the caches."""
        made = partial(type(self), engine=self.engine, training=self.training)
        return made, (self.learned, self.pattern, self.special_tokens)

    def _not_written_as(self, name: str) -> str:
        return (
            f"a vocabulary of {self.rule} cannot be written as {name}: {self.no_format}; save it as {self.file_suffix}"
        )

    def adapt(
        self, documents: Iterable[str], /, *, add: int, remove: int | None, progress: TrainProgress = silent
    ) -> Adaptation:
        """Refuse to adapt.

        Raises:
            BackendError: always; it says why.
        """
        del documents, add, remove, progress
        raise BackendError(f"a vocabulary of {self.rule} cannot be adapted; adapt one that plain BPE trained")
