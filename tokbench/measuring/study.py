"""The contract of a study: all that a run finds beyond numbers in cells.

The run checks its options, runs it after the text metrics, and keeps its block in ``results.json``. A study that fails
costs itself alone: its reason is in the results, and the exit code of the run says that something failed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from tokbench.foundation.errors import ContractError, shown
from tokbench.foundation.failures import Failure, attempt, tracebacks
from tokbench.foundation.plain_values import plain
from tokbench.foundation.progress import RunProgress
from tokbench.foundation.store import Key
from tokbench.measuring.job import Job, TokenizerJob
from tokbench.measuring.metric import DocumentExample, Measured, Metric, NotApplicable, Role
from tokbench.measuring.plan import Plan, RunTokenizer
from tokbench.results.blocks import OwnTexts
from tokbench.results.cells import Cell, Status, TokenizerState
from tokbench.results.study_blocks import BlockType
from tokbench.tokenizers.options import Options

if TYPE_CHECKING:  # a study that times has the pool itself
    from tokbench.engine.workers.pool import WorkerPool

J = TypeVar("J", bound=Job)
T = TypeVar("T")


class StudyProblem(NamedTuple):
    """Something that is wrong with the options of a study."""

    place: tuple[str | int, ...]
    message: str


@dataclass(kw_only=True)
class Outcome:
    """The result of a study in one run."""

    block: Any = None
    """The content that ``results.json`` keeps, of the type of the study's block; ``None`` for nothing."""
    cells: list[Cell] = field(default_factory=list)
    own_texts: list[OwnTexts] = field(default_factory=list)
    """The round trip of metrics with texts of their own: what loses text is never the best."""
    notes: list[str] = field(default_factory=list)
    not_ranked: dict[str, str] = field(default_factory=dict)
    """By tokenizer, why its speed is not measured: it does other work than it is declared to do."""
    failures: list[str] = field(default_factory=list)
    """Reasons why a part of the study is missing; each makes the run fail."""
    tracebacks: dict[str, str] = field(default_factory=dict)
    """By the reason of failed cells, where the code failed."""

    def traced(self, failures: Iterable[Failure | None]) -> Outcome:
        """Return it with where the code of these failed, too."""
        return replace(self, tracebacks=self.tracebacks | tracebacks(filter(None, failures)))


_PLAIN: Final = {
    "own_texts": list[OwnTexts],
    "notes": list[str],
    "failures": list[str],
    "not_ranked": dict[str, str],
    "tracebacks": dict[str, str],
}


def plain_outcome(outcome: object, member: str) -> Outcome:
    """Return an outcome as plain values, all but its block, or raise a ContractError."""
    if not isinstance(outcome, Outcome):
        raise ContractError(f"{member} must return an Outcome, but returned {shown(outcome)}")
    parts = {name: plain(getattr(outcome, name), kind, name) for name, kind in _PLAIN.items()}
    return replace(outcome, cells=plain_cells(outcome.cells, f"{member}.cells"), **parts)


def joined(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the cells, notes and tracebacks of several outcomes as one."""
    every = list(outcomes)
    return Outcome(
        cells=[cell for one in every for cell in one.cells],
        notes=[note for one in every for note in one.notes],
        tracebacks={reason: text for one in every for reason, text in one.tracebacks.items()},
    )


class NoNumber(NamedTuple):
    """Why a tokenizer is not measured."""

    status: Status
    reason: str

    @classmethod
    def of(cls, failure: Failure) -> NoNumber:
        return cls(Status.of(failure), failure.reason)


def absent_cells(missing: Mapping[str, NoNumber], places: Iterable[tuple[str, str, str, str]]) -> Iterator[Cell]:
    """Yield a cell of each tokenizer that is ``missing`` at each place: corpus, group, metric, unit."""
    every = list(places)
    for name, why in missing.items():
        for corpus, group, metric, unit in every:
            yield Cell(name, corpus, group, metric, unit=unit, status=why.status, reason=why.reason)


class Kept(NamedTuple):
    """The entry of the store in which an answer is kept for later runs."""

    kind: str
    details: Key
    """All that the answer is made from, except the tokenizers, the code and the libraries."""
    family: str = ""
    """The metric family whose options and code decide it, too; empty for none."""
    counted: str = ""
    """The words for a number of cache hits, such as ``probing: {} answers``; empty for none."""


class JobAnswer(NamedTuple, Generic[J]):
    """The answer to a job."""

    job: J
    value: Any
    """Or a :class:`~tokbench.foundation.failures.Failure`."""
    crashed: bool = False


class AskedJobs(NamedTuple, Generic[J]):
    """Jobs that a study asks workers to do."""

    jobs: Sequence[J]
    """Each job names the tokenizer to blame first."""
    step: str
    kept: Callable[[J], Kept | None] = lambda _: None
    """Returns where the answer to a job is kept; ``None`` for nowhere."""
    feeds: Callable[[J], Mapping[str, Any]] = lambda _: {}
    """Returns the texts of a job by feed."""
    keep_asking: bool = False
    """Ask a tokenizer on after it has ended a process."""


class StudyContext(Protocol):
    """All that a study sees of a run."""

    @property
    def plan(self) -> Plan:
        """Of the run."""

    @property
    def tokenizers(self) -> Sequence[RunTokenizer]:
        """All tokenizers of the run, whether they are ready or not."""

    @property
    def ended(self) -> Mapping[str, Failure]:
        """The tokenizers that have ended a process, and are asked no more."""

    @property
    def unmeasurable(self) -> Mapping[str, NoNumber]:
        """The tokenizers that are not ready, have ended a process, or do other work than they are declared to do."""

    def alone(self, seconds: float | None = None, /) -> AbstractContextManager[WorkerPool]:
        """Return the pool for a study that is alone on the machine; it ends processes when it needs fresh ones.

        Args:
            seconds: an answer, after the loading of a tokenizer, may take no longer.
        """

    @property
    def cells(self) -> Sequence[Cell]:
        """The numbers so far, of text metrics and of earlier studies."""

    @property
    def worst(self) -> Mapping[tuple[str, str, str], Sequence[DocumentExample]]:
        """By tokenizer, corpus and group, the documents that need the most tokens per byte."""

    @property
    def progress(self) -> RunProgress:
        """Of the run."""

    def state(self, role: Role, tokenizer: str, corpus: str, group: str, /) -> Any | Failure:
        """Return the state of the family with a role in a group, or in the whole corpus (``*``)."""

    def ask(self, asked: AskedJobs[J], /) -> Iterator[JobAnswer[J]]:
        """Yield the answers to all jobs: from the store first, then as workers give them."""

    def stored(self, tokenizers: Sequence[str], kept: Kept, /) -> Any | None:
        """Return what the store has of some tokenizers, or of none."""

    def keep(self, tokenizers: Sequence[str], kept: Kept, value: object, /) -> None:
        """Keep something in the store, see :meth:`stored`."""

    def key(self, tokenizers: Sequence[str], kept: Kept, /) -> Key | None:
        """Return its key in the store; ``None`` if nothing is kept."""


class Answers(NamedTuple, Generic[T]):
    """The answers of tokenizers to one question, by name, and why others have none; some ``failed`` at the question."""

    values: Mapping[str, T]
    reasons: Mapping[str, str]
    failed: Mapping[str, Failure]

    def outcome(self, block: Any) -> Outcome:
        """Return an outcome with a block; a failure makes the run fail."""
        failures = [f"{name}: {failure.reason}" for name, failure in self.failed.items()]
        return Outcome(block=block, failures=failures).traced(self.failed.values())


def ask_each(context: StudyContext, doing: str, question: Callable[..., T], **given: Any) -> Answers[T]:
    """Ask every ready tokenizer in a worker; a later run takes the answers from the store.

    Args:
        context: the run.
        doing: what is done, in words such as ``counting indents``.
        question: takes a tokenizer, and ``given``; a function of a module, because it is sent as a pickle.
        given: plain values. The answer is kept under them, the tokenizer, and the code of the study.
    """
    ready = [tokenizer.name for tokenizer in context.tokenizers if tokenizer.ready]
    reasons = {tokenizer.name: tokenizer.info.reason for tokenizer in context.tokenizers if not tokenizer.ready}
    kept = Kept(doing, given, counted=f"{doing}: {{}} tokenizers")
    jobs = [TokenizerJob((name,), doing, "its own texts", partial(question, **given)) for name in ready]
    given_by = {job.names[0]: value for job, value, _ in context.ask(AskedJobs(jobs, doing, lambda _: kept))}
    answers = {name: given_by[name] for name in ready if name in given_by}  # not in the order in which workers end
    failed = {name: value for name, value in answers.items() if isinstance(value, Failure)}
    values = {name: value for name, value in answers.items() if name not in failed}
    return Answers(values, reasons | {name: failure.reason for name, failure in failed.items()}, failed)


@dataclass(frozen=True, kw_only=True)
class StudySpec:
    """The description of a study, which a plugin registers."""

    name: str
    """The word by which other studies and metric families name it, such as ``probes``."""
    title: str
    """The words for it in a sentence: ``the study of …``."""
    summary: str
    run: Callable[[StudyContext, Any], Outcome]
    """Runs it. What it raises becomes the reason why the study is missing."""
    key: str = ""
    """Of its options in a configuration, such as ``study.mixtures``; empty if metric families ask for it."""
    options: type[Options] = Options
    due: Callable[[Plan], Collection[str]] = lambda _: ()
    """Returns the tokenizers for which it runs, with its default options, where a configuration does not name it; a
    metric that the run adds for it measures these alone."""
    alone: bool = False
    """It measures time or memory: after all others, alone on the machine; its numbers hold for this machine."""
    own_texts: bool = False
    """Its families are measured on texts of their own, and on no corpus."""
    trainings: bool = False
    """Each training of the run has a process to itself, so that its memory is known."""
    block: BlockType[Any] | None = None
    """The type of its block; ``None`` if it gives cells alone."""
    roles: tuple[Role, ...] = ()
    """The roles of metrics that it needs; a run adds a family for each that it lacks."""
    makes: tuple[str, type] | None = None
    """What a family of this study makes, in words, and its protocol; ``None`` if no family may name the study."""
    check: Callable[[Plan, Any], Iterator[StudyProblem]] | None = None
    """Yields what is wrong with its options, before anything is measured."""
    largest: Callable[[Any], int] | None = None
    """Returns the largest vocabulary that is of use with its options, which ``vocab_size: auto`` trains."""
    outlook: Callable[[Plan, Any], Iterator[str]] | None = None
    """Yields what can be said of a plan before it runs, such as text that is too little for a firm answer."""


# From a value, or the reason why there is none, to the cell of a tokenizer.

Values = Mapping[str, Measured | NotApplicable]
PlainValues: TypeAlias = Mapping[str, Measured | NotApplicable | Failure]

_NO_VALUE: Final = Failure("the metric returned neither a value nor a reason")


def plain_values(values: object) -> PlainValues:
    """Return the values of a metric family as plain ones or failures; a ContractError if they are not by metric."""
    return {
        name: attempt(partial(plain, value, Measured | NotApplicable, f"the value of {name}"))
        for name, value in plain(values, dict[str, object], "finish").items()
    }


def cell_of(
    tokenizer: RunTokenizer,
    at: tuple[str, str],
    metric: Metric,
    values: PlainValues | Failure,
    seen: float | None = None,
) -> Cell:
    """Make the cell of a value of ``values`` (by metric id), or of the reason why there is none.

    ``at`` is corpus and group, ``seen`` the share of the documents on which the tokenizer was trained, if known.
    """
    place = (tokenizer.name, *at, metric.id)
    if problem := _problem(tokenizer, metric):
        return Cell(*place, unit=metric.unit, status=problem[0], reason=problem[1])
    value = values if isinstance(values, Failure) else values.get(metric.id, _NO_VALUE)
    if isinstance(value, Failure):
        return Cell(*place, unit=metric.unit, status=Status.of(value), reason=value.reason)
    if isinstance(value, NotApplicable):
        return Cell(*place, unit=metric.unit, status=Status.NOT_APPLICABLE, reason=value.reason, in_sample=seen)
    return Cell(
        *place,
        value=value.value,
        unit=value.unit or metric.unit,
        ci_low=value.ci_low,
        ci_high=value.ci_high,
        n=value.n,
        in_sample=seen,
        caution=value.no_interval,
    )


def without_interval(cell: Cell) -> Cell:
    """Return the cell of a designed corpus, from which nothing is inferred."""
    return cell if cell.value is None else replace(cell, ci_low=None, ci_high=None, caution="")


def plain_cells(cells: object, member: str) -> list[Cell]:
    """Return plain cells, or raise a ContractError; one that is ok and has no value is failed."""
    made: list[Cell] = plain(cells, list[Cell], member)
    if wrong := next((cell for cell in made if cell.reason and cell.status == Status.OK), None):
        raise ContractError(f"{member}: {wrong.metric} is ok and has a reason, {wrong.reason!r}; give it as caution")
    return [
        replace(cell, status=Status.FAILED, reason=_NO_VALUE.reason, caution="")
        if cell.value is None and cell.status == Status.OK
        else cell
        for cell in made
    ]


def _problem(tokenizer: RunTokenizer, metric: Metric) -> tuple[Status, str] | None:
    info = tokenizer.info
    if info.state != TokenizerState.READY:
        return Status(info.state.value), info.reason
    if metric.id in info.lacks:
        names = " or ".join(need.__name__ for need in metric.needs)
        return Status.NOT_APPLICABLE, f"backend {info.backend} lacks the capability {names}"
    return None
