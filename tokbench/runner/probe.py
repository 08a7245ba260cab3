"""The probes of a run: each asks one tokenizer in a worker, and all run side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tokbench.contracts.metric import Answer, Probe, Segmented
from tokbench.contracts.options import Options
from tokbench.failures import Failure, attempt, doing, tracebacks
from tokbench.results.blocks import ProbeAnswerInfo, ProbeInfo, ProbeText
from tokbench.results.cells import OWN_TEXTS, WHOLE, Cell
from tokbench.runner.finish import make_cell
from tokbench.runner.plan import Plan
from tokbench.runner.prepare import PreparedTokenizer
from tokbench.runner.workers.pool import WorkerDied, WorkerPool
from tokbench.runner.workers.worker import Job, WorkerContext


@dataclass(frozen=True)
class Ask(Job):
    """Ask a tokenizer a probe of a family, by its number from 0; the answer is an :class:`Answer` or the failure."""

    family: str
    options: Options
    number: int
    name: str

    @property
    def tokenizers(self) -> tuple[str, ...]:
        """See :class:`tokbench.runner.workers.worker.Job`."""
        return (self.name,)

    def run(self, context: WorkerContext) -> Iterator[Answer | Failure]:
        """See :class:`tokbench.runner.workers.worker.Job`."""
        make = context.registry.metrics.get(self.family).probes
        assert make is not None
        each = make(self.options)[self.number]
        with doing("asking", tokenizer=self.name, place=f"probe {each.name}"):
            yield attempt(lambda: each.ask(context.tokenizer(self.name)), f"probe {each.name}")


_Key = tuple[str, int, str]
"""Family, number of the probe, tokenizer."""


_PlannedProbe = tuple[str, Options, int, Probe]
"""Family and its options, number of the probe, and the probe."""


@dataclass(frozen=True)
class Probed:
    """All that the probes of a run found.

    Attributes:
        cells: the numbers.
        probes: for each probe its texts, and the answers of all tokenizers.
        tracebacks: by the reason of failed cells, where the code failed.
    """

    cells: list[Cell]
    probes: list[ProbeInfo]
    tracebacks: dict[str, str]


def probe(plan: Plan, prepared: Sequence[PreparedTokenizer], ended: Mapping[str, Failure], pool: WorkerPool) -> Probed:
    """Put every probe to every tokenizer that is ready, except to those that have ``ended`` a process before."""
    planned: list[_PlannedProbe] = [
        (family.name, options, number, each)
        for family, options in plan.metrics
        if family.probes
        for number, each in enumerate(family.probes(options))
    ]
    answers = _ask(planned, [each.name for each in prepared if each.facts], dict(ended), pool)
    cells, probes = [], []
    for family, _, number, each in planned:
        found = {one.name: answers.get((family, number, one.name), Failure(one.reason)) for one in prepared}
        for one in prepared:
            answer = found[one.name]
            values = answer if isinstance(answer, Failure) else answer.values
            cells += [make_cell(one, OWN_TEXTS, WHOLE, metric, values) for metric in each.values]
        probes.append(_described(each, found))
    failures = [answer for answer in answers.values() if isinstance(answer, Failure)]
    return Probed(cells, probes, tracebacks(failures))


def _ask(
    planned: list[_PlannedProbe], names: list[str], ended: dict[str, Failure], pool: WorkerPool
) -> dict[_Key, Answer | Failure]:
    """Return the answers; a tokenizer that ends a process is asked nothing more."""
    answers: dict[_Key, Answer | Failure] = {}
    waiting = iter([Ask(*each[:3], name) for name in names for each in planned])

    def next_job() -> Ask | None:
        for job in waiting:
            if job.name not in ended:
                return job
            answers[job.family, job.number, job.name] = ended[job.name]
        return None

    for done, (job, answer) in enumerate(pool.work(next_job), 1):
        assert isinstance(job, Ask)
        if isinstance(answer, WorkerDied):
            ended[job.name] = answer.failure
            answer = answer.failure  # noqa: PLW2901 - what is kept of it
        answers[job.family, job.number, job.name] = answer
        pool.progress("probing", done, len(planned) * len(names))
    return answers


def _described(asked: Probe, answers: Mapping[str, Answer | Failure]) -> ProbeInfo:
    """Return what a report shows of a probe; its texts are those of any answer."""
    first = next((each for each in answers.values() if isinstance(each, Answer)), None)
    return ProbeInfo(
        probe=asked.name,
        title=asked.title,
        explanation=asked.explanation,
        metrics=[metric.id for metric in asked.values],
        texts=[(each.label, each.text) for each in first.segmented] if first else [],
        answers={name: _answer(each) for name, each in answers.items()},
    )


def _answer(answer: Answer | Failure) -> ProbeAnswerInfo:
    if isinstance(answer, Failure):
        return ProbeAnswerInfo(reason=answer.reason)
    return ProbeAnswerInfo(
        tokens=[_tokens(each) for each in answer.segmented],
        own=[ProbeText(label=each.label, text=each.text, tokens=_tokens(each)) for each in answer.own],
    )


def _tokens(segmented: Segmented) -> list[tuple[int, str]]:
    return [(int(token), text) for token, text in segmented.tokens]
