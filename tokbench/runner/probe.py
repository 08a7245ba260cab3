"""What asks one tokenizer at a time about texts of its own: each probe in a worker, all of them side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tokbench.contracts.metric import Answer, Probe, Segmented
from tokbench.contracts.options import Options
from tokbench.failures import Failure, attempt, doing
from tokbench.results.cells import OWN_TEXTS, WHOLE, Cell
from tokbench.runner.finish import make_cell
from tokbench.runner.plan import Plan
from tokbench.runner.prepare import PreparedTokenizer
from tokbench.runner.workers.pool import WorkerDied, WorkerPool
from tokbench.runner.workers.worker import Job, WorkerContext

__all__ = ["Probed", "probe"]


@dataclass(frozen=True)
class Ask(Job):
    """Ask a tokenizer; the answer is an :class:`Answer`, or why there is none.

    Attributes:
        family, options: of which metric,
        number: the how manieth probe.
        name: the tokenizer.
    """

    family: str
    options: Options
    number: int
    name: str

    def run(self, context: WorkerContext) -> Iterator[Answer | Failure]:
        """See :class:`tokbench.runner.workers.worker.Job`."""
        make = context.registry.metrics.get(self.family).probes
        assert make is not None
        each = make(self.options)[self.number]
        with doing("asking", tokenizer=self.name, place=f"probe {each.name}"):
            yield attempt(lambda: each.ask(context.tokenizer(self.name)), f"probe {each.name}")


_Key = tuple[str, int, str]
"""Family, number of the probe, tokenizer."""


class _Sheet(NamedTuple):
    """A probe and where it comes from."""

    family: str
    options: Options
    number: int
    probe: Probe


@dataclass
class Probed:
    """What all probes found: cells, and what a report shows, see :attr:`tokbench.results.model.Results.probes`."""

    cells: list[Cell] = field(default_factory=list)
    shown: list[dict[str, Any]] = field(default_factory=list)


def probe(plan: Plan, prepared: Sequence[PreparedTokenizer], ended: Mapping[str, Failure], pool: WorkerPool) -> Probed:
    """Every probe on every tokenizer that is ready.

    Args:
        plan: what is to be done.
        prepared: the tokenizers.
        ended: tokenizers that have ended a process before, which are asked nothing.
        pool: the workers.
    """
    sheets = [
        _Sheet(spec.name, options, number, each)
        for spec, options in plan.metrics
        if spec.probes
        for number, each in enumerate(spec.probes(options))
    ]
    found = Probed()
    answers = _ask(sheets, [each.name for each in prepared if each.facts], dict(ended), pool)
    for sheet in sheets:
        shown = {}
        for each in prepared:
            answer = answers.get((sheet.family, sheet.number, each.name), Failure(each.reason))
            values = answer if isinstance(answer, Failure) else answer.values
            found.cells.extend(make_cell(each, OWN_TEXTS, WHOLE, value, values) for value in sheet.probe.values)
            shown[each.name] = {"reason": answer.reason} if isinstance(answer, Failure) else _shown(answer)
        found.shown.append(_described(sheet, answers, shown))
    return found


def _ask(
    sheets: list[_Sheet], names: list[str], ended: dict[str, Failure], pool: WorkerPool
) -> dict[_Key, Answer | Failure]:
    """The answers; who ends a process is asked nothing more."""
    answers: dict[_Key, Answer | Failure] = {}
    waiting = iter([Ask(*sheet[:3], name) for name in names for sheet in sheets])

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
        pool.progress("probing", done, len(sheets) * len(names))
    return answers


def _shown(answer: Answer) -> dict[str, Any]:
    return {
        "tokens": [_tokens(each) for each in answer.segmented],
        "own": [[each.label, each.text, _tokens(each)] for each in answer.own],
    }


def _tokens(segmented: Segmented) -> list[list[Any]]:
    return [[int(token), text] for token, text in segmented.tokens]


def _described(
    sheet: _Sheet, answers: Mapping[_Key, Answer | Failure], shown: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """What a report shows of a probe; its texts are those of any answer."""
    known = (each for key, each in answers.items() if key[:2] == (sheet.family, sheet.number))
    first = next((each for each in known if isinstance(each, Answer)), None)
    return {
        "probe": sheet.probe.name,
        "title": sheet.probe.title,
        "explanation": sheet.probe.explanation,
        "values": [value.id for value in sheet.probe.values],
        "texts": [[each.label, each.text] for each in first.segmented] if first else [],
        "answers": shown,
    }
