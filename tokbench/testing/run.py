"""One tokenizer through all rules, each in a process that may die."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Self

from tokbench.contracts.backend import BackendSpec
from tokbench.errors import TokbenchError
from tokbench.testing.job import EXAMPLES, Job
from tokbench.testing.process import Died, Process
from tokbench.testing.report import Outcome, Report, State, Verdict
from tokbench.testing.rules import RULES

__all__ = ["TIME_LIMIT", "Session", "check_backend"]

TIME_LIMIT: Final = 120.0
"""Seconds that loading or training may take, and every rule."""

_TRIES: Final = 4


class Session:
    """One tokenizer under check, in a process of its own; a new one where it is killed.

    Args:
        job: which tokenizer.
        time_limit: seconds that loading or training may take, and every rule.

    Raises:
        InputError: the job cannot be done.
    """

    def __init__(self, job: Job, time_limit: float) -> None:
        job.check()
        self.job = job
        self._limit = time_limit
        self._process: Process | None = None
        self._avoid: frozenset[str] = frozenset()

    def start(self) -> None:
        """Start the process now.

        Raises:
            BackendUnavailable: the tokenizer is not to be had here.
            BackendError: it does not load.
        """
        self._process = self._process or Process(self.job, self._limit, avoid=self._avoid)

    def check(self, rule: str) -> Outcome:
        """Check one rule.

        Raises:
            BackendUnavailable, BackendError: as :meth:`start`, the first time.
        """
        verdict = Verdict(State.FAILED)
        for _ in range(_TRIES):
            self.start()
            assert self._process is not None
            try:
                verdict = self._process.ask("rule", rule)
                break
            except Died as died:
                self._process = None
                call, builds_on = died.note
                elsewhere, self._avoid = builds_on and bool(self._avoid), self._avoid | {call}
                if not elsewhere:
                    verdict = Verdict(State.FAILED, "", call, f"an answer within {self._limit:g} s", died.reason)
                    break
                # An earlier rule is broken by such calls; this one is asked again without them.
                verdict = Verdict(State.NOT_APPLICABLE, f"{call} kills the process; see the other rules")
        return Outcome(rule, RULES[rule].sentence, verdict)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def outcomes(self) -> Iterator[Outcome]:
        """Check all rules, one after the other."""
        self.start()
        for rule in RULES:
            try:
                outcome = self.check(rule)
            except TokbenchError as error:  # it loaded once, and does no longer
                verdict = Verdict(State.FAILED, "", "load", "the tokenizer, as the first time", str(error))
                outcome = Outcome(rule, RULES[rule].sentence, verdict)
            yield outcome


def check_backend(
    backend: str | BackendSpec,
    options: Mapping[str, Any] | None = None,
    *,
    train: int = 0,
    examples: int = EXAMPLES,
    time_limit: float = TIME_LIMIT,
) -> Report:
    """Check one tokenizer of a backend against every sentence of the contract.

    The tokenizer works in a process of its own: a panic, a crash and an endless loop break one rule, and
    the others go on. With hypothesis installed (``pip install 'tokbench[testing]'``) there are more texts.

    Args:
        backend: the name of a registered backend, or a spec whose functions another process can import.
        options: of loading, or of training.
        train: a vocabulary size to train to, on text that ships with tokbench; 0 to load.
        examples: how many texts hypothesis is to think of, besides those that ship with tokbench.
        time_limit: seconds that loading or training may take, and every rule.

    Returns:
        The outcome of every rule; ``report.ok`` tells whether none is broken, ``print(report)`` tells all.

    Raises:
        InputError: no such backend or option, or the backend cannot be loaded (or trained).
        BackendUnavailable: it is not to be had here.
        BackendError: it does not load.

    >>> report = check_backend("utf8_bytes")
    >>> report.ok, report.outcomes[0].rule, report.outcomes[0].verdict.note
    (True, 'vocab_size', '256 ids')
    """
    job = Job(backend, dict(options or {}), train, examples)
    with Session(job, time_limit) as session:
        return Report(job.name, job.options, train, tuple(session.outcomes()))
