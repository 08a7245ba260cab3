"""The base of tokenizers that do not encode by plain BPE: BoundlessBPE and PickyBPE."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, ClassVar

from tokbench.foundation.errors import BackendError
from tokbench.foundation.progress import silent
from tokbench.tokenizers.backend import TrainProgress
from tokbench.tokenizers.contract import Adaptation
from tokbench_plugins.bpe.artefact import TrainingRecord
from tokbench_plugins.bpe.engines import Engine
from tokbench_plugins.bpe.special import SpecialTokens
from tokbench_plugins.bpe.tokenizer import BPETokenizer
from tokbench_plugins.bpe.vocabulary import Vocabulary


class RuledTokenizer(BPETokenizer):
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
        special_tokens: SpecialTokens | Mapping[str, int] | None = None,
        *,
        engine: Engine = "auto",
        training: TrainingRecord | None = None,
    ) -> None:
        self.learned = learned
        super().__init__(vocabulary, pattern, special_tokens, engine=engine, training=training)

    def __reduce__(self) -> tuple[Any, ...]:
        made = partial(type(self), engine=self.engine, training=self.training)
        return made, (self.learned, self.pattern, self.special_tokens)

    def _not_written_as(self, name: str) -> str:
        return (
            f"a vocabulary of {self.rule} cannot be written as {name}: {self.no_format}; save it as {self.file_suffix}"
        )

    def adapt(
        self, documents: Iterable[str], /, *, add: int, remove: int | None, progress: TrainProgress = silent
    ) -> Adaptation:
        del documents, add, remove, progress
        raise BackendError(f"a vocabulary of {self.rule} cannot be adapted; adapt one that plain BPE trained")
