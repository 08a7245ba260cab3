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

    Attributes:
        facts: present if it is ready.
        failure: present if it is not ready.
        load_s: seconds that loading took, the library's import included.
        train_s: seconds that training took.
        train_bytes, train_documents: size of the text it was trained on.
        train_memory: bytes that training took at most; ``None`` if that is not known.
        train_from_store: ``True`` if an earlier run trained it; time and memory are then of that run.
        pickled_sha256: the sha256 of the pickled tokenizer, if it was trained.
        vocabulary: digest of its vocabulary; an empty string if it does not give the bytes of its tokens.
        saved: its file and the file's digest, if it was saved.
        notes: what a reader of the results must know.
    """

    planned: PlannedTokenizer
    facts: TokenizerFacts | None = None
    state: TokenizerState = TokenizerState.READY
    failure: Failure | None = None
    load_s: float | None = None
    train_s: float | None = None
    train_memory: int | None = None
    train_bytes: int = 0
    train_documents: int = 0
    train_from_store: bool = False
    pickled_sha256: str = ""
    vocabulary: str = ""
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
        """Return it with the facts, or in the state ``failed`` with the failure.

        A timeout has a state of its own, unless the tokenizer may be missing: how it failed does not matter then.
        """
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
