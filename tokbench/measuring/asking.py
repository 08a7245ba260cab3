"""Asks every tokenizer of a run one question: the short way to write a study."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from tokbench.foundation.failures import Failure, tracebacks
from tokbench.measuring.job import TokenizerJob
from tokbench.measuring.study import AskedJobs, Kept, Outcome, StudyContext

T = TypeVar("T")


@dataclass(frozen=True)
class Answers(Generic[T]):
    """What the tokenizers of a run answered.

    Attributes:
        values: the answers, by tokenizer.
        reasons: why the other tokenizers have none.
        failures: the failures of those that failed while they were asked.
    """

    values: Mapping[str, T]
    reasons: Mapping[str, str]
    failures: Mapping[str, Failure]

    def outcome(self, block: Any) -> Outcome:
        """Return the outcome of the study with its block; a failure makes the run fail.

        >>> Answers({"a": 7}, {}, {}).outcome("block").failures
        []
        """
        failures = [f"{name}: {failure.reason}" for name, failure in self.failures.items()]
        return Outcome(block=block, failures=failures, tracebacks=tracebacks(self.failures.values()))


def ask_each(context: StudyContext, step: str, question: Callable[..., T], **details: Any) -> Answers[T]:
    """Ask each tokenizer in a worker; later runs take the answers from the store.

    Args:
        context: the run.
        step: what is done, such as ``counting indents``.
        question: a function of a module, because it is sent to workers: it takes a tokenizer and the details.
        **details: plain values that go with the question; with the tokenizer and the code they decide the answer.
    """
    names = [prepared.name for prepared in context.prepared if prepared.facts]
    missing = {prepared.name: prepared.reason for prepared in context.prepared if not prepared.facts}
    jobs = [TokenizerJob((name,), step, "texts of the study", partial(question, **details)) for name in names]
    kept = Kept(step, details, counted=f"{step}: {{}} tokenizers")
    answers = {job.names[0]: value for job, value, _ in context.ask(AskedJobs(jobs, step, lambda _: kept))}
    failures = {name: value for name, value in answers.items() if isinstance(value, Failure)}
    values = {name: value for name, value in answers.items() if name not in failures}
    return Answers(values, missing | {name: failure.reason for name, failure in failures.items()}, failures)
