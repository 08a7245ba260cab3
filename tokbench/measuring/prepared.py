"""A tokenizer of the run, and how far its preparation has come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tokbench.foundation.failures import Failure
from tokbench.measuring.plan import PlannedTokenizer
from tokbench.results.cells import TokenizerState
from tokbench.tokenizers.facts import TokenizerFacts


@dataclass(frozen=True)
class PreparedTokenizer:
    """A tokenizer of the run, and how far it has come; every step of the preparation returns a new one.

    ``facts`` are there if it is ready, else ``failure``. Sizes, seconds and memory (in bytes) of its training may have
    been measured by an earlier run.
    """

    planned: PlannedTokenizer
    facts: TokenizerFacts | None = None
    state: TokenizerState = TokenizerState.READY
    failure: Failure | None = None
    load_s: float | None = None
    """The library's import included."""
    train_s: float | None = None
    train_memory: int | None = None
    """The most that training took."""
    train_bytes: int = 0
    train_documents: int = 0
    train_from_store: bool = False
    pickled_sha256: str = ""
    vocabulary: str = ""
    """Digest of its vocabulary, if it gives the bytes of its tokens."""
    saved: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.planned.name

    @property
    def backend(self) -> str:
        return self.planned.spec.name

    @property
    def same_as(self) -> str:
        return self.planned.same_as

    @property
    def reason(self) -> str:
        """The reason why it is not ready; an empty string if it is."""
        return self.failure.reason if self.failure else ""

    def with_outcome(self, outcome: TokenizerFacts | Failure, failed: TokenizerState) -> PreparedTokenizer:
        """Return it with the facts, or as ``failed``; a timeout has a state of its own unless it is optional."""
        if isinstance(outcome, Failure):
            timed_out = outcome.timed_out and failed == TokenizerState.FAILED
            return replace(self, state=TokenizerState.TIMEOUT if timed_out else failed, failure=outcome)
        return replace(self, facts=outcome, notes=outcome.notes)

    def with_note(self, note: str) -> PreparedTokenizer:
        return replace(self, notes=(*self.notes, note))


class Training(NamedTuple):
    """The outcome of a training, its cost, and the size of its text."""

    outcome: TokenizerFacts | Failure
    pickled: bytes
    seconds: float
    memory: int | None
    """The most memory in bytes that the process, and those below it, took above that before; ``None`` if unknown."""
    documents: int
    n_bytes: int
    compiled: bool = False
    """``True`` if functions were compiled for this machine meanwhile, which the cost includes."""
