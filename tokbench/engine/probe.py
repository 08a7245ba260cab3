"""The probes of a run: each asks one tokenizer in a worker, and all run side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tokbench.engine.finish import make_cell
from tokbench.engine.plan import Plan
from tokbench.engine.prepared import PreparedTokenizer
from tokbench.engine.stored import StoredWork
from tokbench.engine.workers.pool import WorkerDied, WorkerPool
from tokbench.engine.workers.worker import Job, WorkerContext
from tokbench.foundation.failures import Failure, attempt, doing, tracebacks
from tokbench.measuring.encoded_shard import DECODING
from tokbench.measuring.metric import Answer, Probe, Segmented
from tokbench.results.cells import OWN_TEXTS, WHOLE, Cell
from tokbench.results.probes import ProbeAnswerInfo, ProbeInfo, ProbeText
from tokbench.tokenizers.contract import HasUnknown, Tokenizer
from tokbench.tokenizers.options import Options


class CheckedAnswer(NamedTuple):
    """An answer, and the labels of the texts that the tokenizer does not give back, its own in a list apart."""

    answer: Answer
    lost: list[str]
    own_lost: list[str]


@dataclass(frozen=True)
class Ask(Job):
    """Ask a tokenizer a probe of a family, by its number from 0; it answers a :class:`CheckedAnswer` or a failure."""

    family: str
    options: Options
    number: int
    name: str

    @property
    def tokenizers(self) -> tuple[str, ...]:
        """See :class:`tokbench.engine.workers.worker.Job`."""
        return (self.name,)

    def run(self, context: WorkerContext) -> Iterator[CheckedAnswer | Failure]:
        """See :class:`tokbench.engine.workers.worker.Job`."""
        make = context.registry.metrics.get(self.family).probes
        assert make is not None
        each = make(self.options)[self.number]
        with doing("asking", tokenizer=self.name, place=f"probe {each.name}"):
            yield attempt(lambda: _checked(each, context.tokenizer(self.name)), f"probe {each.name}")


def _checked(asked: Probe, tokenizer: Tokenizer) -> CheckedAnswer:
    """Ask a tokenizer, and decode what it answers: a tokenizer that loses text could need the fewest tokens."""
    answer = asked.ask(tokenizer)
    with doing(DECODING):
        return CheckedAnswer(answer, _lost(tokenizer, answer.segmented), _lost(tokenizer, answer.own))


def _lost(tokenizer: Tokenizer, texts: Sequence[Segmented]) -> list[str]:
    """Return the labels of the texts that do not come back, or have an unknown token; decoding may raise."""
    unk_id = tokenizer.unk_id if isinstance(tokenizer, HasUnknown) else None
    lost = []
    for each in texts:
        ids = [int(token) for token, _ in each.tokens]
        back = attempt(lambda ids=ids: str(tokenizer.decode(ids)))  # type: ignore[misc]
        if back != each.text or unk_id in ids:
            lost.append(each.label)
    return lost


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


def probe(
    plan: Plan,
    prepared: Sequence[PreparedTokenizer],
    ended: Mapping[str, Failure],
    pool: WorkerPool,
    stored: StoredWork,
) -> Probed:
    """Put every probe to every tokenizer that is ready, except to those that have ``ended`` a process before.

    Answers that the store has are taken from there.
    """
    planned: list[_PlannedProbe] = [
        (family.name, options, number, each)
        for family, options in plan.metrics
        if family.probes
        for number, each in enumerate(family.probes(options))
    ]
    answers = _ask(planned, [each.name for each in prepared if each.facts], dict(ended), pool, stored)
    cells, probes = [], []
    for family, _, number, each in planned:
        found = {one.name: answers.get((family, number, one.name), Failure(one.reason)) for one in prepared}
        for one in prepared:
            answer = found[one.name]
            values = answer if isinstance(answer, Failure) else answer.answer.values
            cells += [make_cell(one, OWN_TEXTS, WHOLE, metric, values) for metric in each.values]
        probes.append(_described(each, found))
    failures = [answer for answer in answers.values() if isinstance(answer, Failure)]
    return Probed(cells, probes, tracebacks(failures))


def _ask(
    planned: list[_PlannedProbe], names: list[str], ended: dict[str, Failure], pool: WorkerPool, stored: StoredWork
) -> dict[_Key, CheckedAnswer | Failure]:
    """Return the answers; a tokenizer that ends a process is asked nothing more."""
    answers: dict[_Key, CheckedAnswer | Failure] = {}
    waiting = iter([Ask(*each[:3], name) for name in names for each in planned])

    def next_job() -> Ask | None:
        for job in waiting:
            known = ended.get(job.name) or stored.answer(job.name, job.family, job.number)
            if known is None:
                return job
            answers[job.family, job.number, job.name] = known
        return None

    for done, (job, answer) in enumerate(pool.work(next_job), 1):
        assert isinstance(job, Ask)
        if isinstance(answer, WorkerDied):
            ended[job.name] = answer.failure
            answer = answer.failure  # noqa: PLW2901 - what is kept of it
        elif isinstance(answer, CheckedAnswer):
            stored.keep_answer(job.name, job.family, job.number, answer)
        answers[job.family, job.number, job.name] = answer
        pool.progress("probing", done, len(planned) * len(names))
    return answers


def _described(asked: Probe, answers: Mapping[str, CheckedAnswer | Failure]) -> ProbeInfo:
    """Return what a report shows of a probe; its texts are those of any answer."""
    first = next((each.answer for each in answers.values() if isinstance(each, CheckedAnswer)), None)
    return ProbeInfo(
        probe=asked.name,
        title=asked.title,
        explanation=asked.explanation,
        metrics=[metric.id for metric in asked.values],
        texts=[(each.label, each.text) for each in first.segmented] if first else [],
        answers={name: _answer(each) for name, each in answers.items()},
    )


def _answer(found: CheckedAnswer | Failure) -> ProbeAnswerInfo:
    if isinstance(found, Failure):
        return ProbeAnswerInfo(reason=found.reason)
    return ProbeAnswerInfo(
        tokens=[_tokens(each) for each in found.answer.segmented],
        own=[_own(each, comes_back=each.label not in found.own_lost) for each in found.answer.own],
        lost=found.lost,
    )


def _own(text: Segmented, *, comes_back: bool) -> ProbeText:
    return ProbeText(label=text.label, text=text.text, tokens=_tokens(text), comes_back=comes_back)


def _tokens(segmented: Segmented) -> list[tuple[int, str]]:
    return [(int(token), text) for token, text in segmented.tokens]
