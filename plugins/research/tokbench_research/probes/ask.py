"""The probes of a run, in parallel jobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from unicodedata import normalize

from tokbench.measuring.encoded_shard import DECODING
from tokbench.measuring.metric import Answer, Probe, Segmented
from tokbench.measuring.round_trip import RoundTrip
from tokbench.plugin import Failure, Options, Tokenizer, attempt, doing, tracebacks
from tokbench.plugin.metrics import (
    OWN_TEXTS,
    WHOLE,
    AskedJobs,
    Job,
    JobContext,
    Kept,
    Outcome,
    StudyContext,
    make_cell,
)
from tokbench.results.blocks import OwnTexts
from tokbench_research.probes.block import ProbeAnswerInfo, ProbeInfo, ProbeText

STUDY: Final = "probes"
_FROM_BEST: Final = (RoundTrip.EXACT, RoundTrip.CANONICAL, RoundTrip.LOSSY, RoundTrip.UNKNOWN)


class CheckedAnswer(NamedTuple):
    """An answer, and by label the round trip of lossy texts of the probe."""

    answer: Answer
    lossy: dict[str, RoundTrip]
    own_lossy: dict[str, RoundTrip]


@dataclass(frozen=True)
class Ask(Job):
    """Ask a tokenizer a probe of a family, by its number from 0."""

    family: str
    options: Options
    number: int
    name: str

    @property
    def tokenizers(self) -> tuple[str, ...]:
        return (self.name,)

    def run(self, context: JobContext) -> Iterator[CheckedAnswer | Failure]:
        make = context.family(self.family).make
        assert make is not None
        probe = make(self.options)[self.number]
        with doing("asking", tokenizer=self.name, place=f"probe {probe.name}"):
            yield attempt(lambda: _checked(probe, context.tokenizer(self.name)), f"probe {probe.name}")


def _checked(asked: Probe, tokenizer: Tokenizer) -> CheckedAnswer:
    answer = asked.ask(tokenizer)
    with doing(DECODING):
        return CheckedAnswer(answer, _lossy(tokenizer, answer.segmented), _lossy(tokenizer, answer.own))


def _lossy(tokenizer: Tokenizer, texts: Sequence[Segmented]) -> dict[str, RoundTrip]:
    lossy = {}
    for text in texts:
        ids = [int(token) for token, _ in text.tokens]
        back = attempt(lambda ids=ids: str(tokenizer.decode(ids)))  # type: ignore[misc]
        if back != text.text:
            same = isinstance(back, str) and normalize("NFC", back) == normalize("NFC", text.text)
            lossy[text.label] = RoundTrip.CANONICAL if same else RoundTrip.LOSSY
    return lossy


class _PlannedProbe(NamedTuple):
    family: str
    options: Options
    number: int
    probe: Probe


def _kept(job: Ask) -> Kept:
    return Kept("answer", {"number": job.number}, job.family, "probing: {} answers")


def run(context: StudyContext, _: Options) -> Outcome:
    """Put every probe to every ready tokenizer, until it ends a process."""
    planned = [
        _PlannedProbe(family.name, options, number, probe)
        for family, options in context.plan.metrics
        if family.study == STUDY and family.make
        for number, probe in enumerate(family.make(options))
    ]
    names = [prepared.name for prepared in context.prepared if prepared.facts]
    jobs = [Ask(one.family, one.options, one.number, name) for name in names for one in planned]
    asked = AskedJobs(jobs, "probing", _kept)
    answers = {(job.family, job.number, job.name): value for job, value, _ in context.ask(asked)}
    cells, block = [], []
    for one in planned:
        given = {
            prepared.name: answers.get((one.family, one.number, prepared.name), Failure(prepared.reason))
            for prepared in context.prepared
        }
        for prepared in context.prepared:
            answer = given[prepared.name]
            values = answer if isinstance(answer, Failure) else answer.answer.values
            cells += [make_cell(prepared, OWN_TEXTS, WHOLE, metric, values) for metric in one.probe.values]
        block.append(_described(one.probe, given))
    failures = [answer for answer in answers.values() if isinstance(answer, Failure)]
    return Outcome(block=block, cells=cells, own_texts=list(_own_texts(block)), tracebacks=tracebacks(failures))


def _own_texts(block: Sequence[ProbeInfo]) -> Iterator[OwnTexts]:
    for probe in block:
        for name, answer in probe.answers.items():
            found = [RoundTrip.UNKNOWN] if answer.lossy is None else [RoundTrip.EXACT, *answer.lossy.values()]
            worst = max(found, key=_FROM_BEST.index)
            yield from (OwnTexts(metric=metric, tokenizer=name, round_trip=worst) for metric in probe.metrics)


def _described(asked: Probe, answers: Mapping[str, CheckedAnswer | Failure]) -> ProbeInfo:
    first = next((outcome.answer for outcome in answers.values() if isinstance(outcome, CheckedAnswer)), None)
    return ProbeInfo(
        probe=asked.name,
        title=asked.title,
        explanation=asked.explanation,
        metrics=[metric.id for metric in asked.values],
        texts=[(text.label, text.text) for text in first.segmented] if first else [],
        answers={name: _answer(outcome) for name, outcome in answers.items()},
    )


def _answer(outcome: CheckedAnswer | Failure) -> ProbeAnswerInfo:
    if isinstance(outcome, Failure):
        return ProbeAnswerInfo(reason=outcome.reason)
    return ProbeAnswerInfo(
        tokens=[_tokens(text) for text in outcome.answer.segmented],
        own=[_own(text, outcome.own_lossy.get(text.label, RoundTrip.EXACT)) for text in outcome.answer.own],
        lossy=outcome.lossy,
    )


def _own(text: Segmented, round_trip: RoundTrip) -> ProbeText:
    return ProbeText(label=text.label, text=text.text, tokens=_tokens(text), round_trip=round_trip)


def _tokens(segmented: Segmented) -> list[tuple[int, str]]:
    return [(int(token), text) for token, text in segmented.tokens]
