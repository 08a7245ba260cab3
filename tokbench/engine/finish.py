"""From states to cells: every tokenizer, corpus, group and metric has one, with a value or with a reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from tokbench.corpus.languages import slices
from tokbench.engine.evaluate import Evaluation, Key
from tokbench.foundation.errors import ContractError, shown
from tokbench.foundation.failures import Failure, attempt, tracebacks
from tokbench.foundation.plain_values import plain
from tokbench.measuring.cell import PlainValues, cell_of, plain_values, without_interval
from tokbench.measuring.examples import DocumentExample, FindsWorstDocuments
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.metric import (
    CorpusMetric,
    CorpusOutcome,
    CorpusStates,
    FindsLosses,
    Measured,
    Metric,
    TextMetric,
)
from tokbench.measuring.plan import Plan
from tokbench.measuring.prepared import PreparedTokenizer
from tokbench.results.blocks import LossInfo, PairComparison, PairMatrix, RawState
from tokbench.results.cells import WHOLE, Cell
from tokbench.results.states import RawStates


@dataclass(frozen=True)
class Finished:
    """All that the text metrics found."""

    cells: list[Cell]
    """By tokenizer, corpus, group, then the whole corpus and its slices, then metric."""
    losses: list[LossInfo]
    """For each tokenizer and group with lossy documents."""
    pairs: list[PairComparison]
    matrices: list[PairMatrix]
    """Numbers of every two groups or tokenizers."""
    ratios: dict[str, tuple[str, ...]]
    """For each metric that is a ratio of two sums, their names."""
    tracebacks: dict[str, str]
    """Where the code failed, by the reason of failed cells."""
    worst: dict[tuple[str, str, str], Sequence[DocumentExample]]
    """By tokenizer, corpus and group, the documents that need the most tokens per byte."""


def finish(plan: Plan, prepared: Sequence[PreparedTokenizer], evaluation: Evaluation) -> Finished:
    """Make the cells of the text metrics, and what goes with them."""
    finisher = _Finisher(plan, evaluation, TrainedShares(plan, prepared))
    cells = [cell for tokenizer in prepared for cell in finisher.cells(tokenizer)]
    outcomes = [outcome for outcome in finisher.outcomes.values() if isinstance(outcome, CorpusOutcome)]
    losses, worst = list[LossInfo](), dict[tuple[str, str, str], Sequence[DocumentExample]]()
    metrics = evaluation.metrics.items()
    finds_losses = {name: metric for name, metric in metrics if isinstance(metric, FindsLosses)}
    finds_worst = {name: metric for name, metric in metrics if isinstance(metric, FindsWorstDocuments)}
    for state in chain.from_iterable(_states(plan, evaluation, tokenizer) for tokenizer in prepared):
        loss = _loss(finds_losses[state.family], state) if state.family in finds_losses else None
        if isinstance(loss, Failure):
            evaluation.note(f"{state.tokenizer}: the losses of {state.family} are not shown: {loss.reason}")
        elif loss:
            losses.append(loss)
        if state.family in finds_worst and (examples := _worst(finds_worst[state.family], state)):
            worst[state[:3]] = examples
    return Finished(
        cells=cells,
        losses=losses,
        pairs=[pair for outcome in outcomes for pair in outcome.pairs],
        matrices=[
            replace(matrix, ci_low=[], ci_high=[]) if plan.design(matrix.corpus).designed else matrix
            for outcome in outcomes
            for matrix in outcome.matrices
        ],
        ratios=finisher.ratios,
        tracebacks=tracebacks(
            [*finisher.failures, *(tokenizer.failure for tokenizer in prepared if tokenizer.failure)]
        ),
        worst=worst,
    )


def pack_states(plan: Plan, prepared: Sequence[PreparedTokenizer], evaluation: Evaluation) -> RawStates:
    """Move the raw forms of states out of an evaluation, and note what cannot be packed.

    They are moved one by one, because both forms of all states would take too much memory.
    """
    packed = RawStates()
    for tokenizer in prepared:
        for state in _states(plan, evaluation, tokenizer):
            raw = attempt(partial(_pack, evaluation.metrics[state.family], state, packed))
            if isinstance(raw, Failure):
                problem = f"{state.tokenizer}: the raw sums of {state.family} are not kept: {raw.reason}"
                evaluation.problems += [problem] if problem not in evaluation.problems else []
            del evaluation.states[state[:4]]
    evaluation.states.clear()  # parts of groups, and failures, are in no file
    return packed


def _pack(metric: TextMetric | CorpusMetric, state: _State, packed: RawStates) -> None:
    raw = plain(metric.raw(state.state), Any, "raw")
    if raw is not None:
        packed.add(RawState(**state._asdict() | {"state": raw}))


class _State(NamedTuple):
    tokenizer: str
    corpus: str
    group: str
    family: str
    state: Any


def _corpora(plan: Plan, prepared: PreparedTokenizer) -> list[str]:
    return [corpus for corpus in plan.measured if prepared.name in plan.names_on(corpus)]


def _states(plan: Plan, evaluation: Evaluation, prepared: PreparedTokenizer) -> Iterator[_State]:
    for corpus in _corpora(plan, prepared):
        for group, documents in plan.groups(corpus).items():
            for family in plan.families_on(corpus):
                place = (prepared.name, corpus, group, family.name)
                state = evaluation.state(place, documents)
                if place in evaluation.states and not isinstance(state, Failure):
                    yield _State(*place, state)


def _of_run(plan: Plan, corpus: str) -> list[MetricFamily]:
    """Return the families of which the run makes cells, and not a study."""
    return [family for family in plan.families_on(corpus) if not family.study]


def _finished_corpus(metric: CorpusMetric, states: CorpusStates) -> CorpusOutcome:
    outcome = metric.finish_corpus(states)
    if not isinstance(outcome, CorpusOutcome):
        raise ContractError(f"finish_corpus must return a CorpusOutcome, but returned {shown(outcome)}")
    by_place = plain(outcome.values, dict[tuple[str, str], object], "finish_corpus.values")
    return CorpusOutcome(
        {place: plain_values(values) for place, values in by_place.items()},  # type: ignore[misc]
        plain(outcome.pairs, list[PairComparison], "finish_corpus.pairs"),
        plain(outcome.matrices, list[PairMatrix], "finish_corpus.matrices"),
    )


class TrainedShares:
    """Finds the documents of corpora that tokenizers were trained on, once for each pair of texts."""

    def __init__(self, plan: Plan, prepared: Sequence[PreparedTokenizer]) -> None:
        self._plan = plan
        self._train_on = {tokenizer.name: tokenizer.planned.train_on for tokenizer in prepared}
        self._counts: dict[tuple[tuple[str, ...], str], dict[str, int]] = {}

    def share(self, name: str, corpus: str, groups: Iterable[str]) -> float | None:
        """Return the share of the documents of groups; ``None`` if that is unknown."""
        names = self._train_on[name]
        if not names or any(self._plan.corpora[one].counts for one in (*names, corpus)):
            return None
        if (names, corpus) not in self._counts:
            self._counts[names, corpus] = self._count(names, corpus)
        counts, documents = self._counts[names, corpus], self._plan.surveys[corpus].groups
        chosen = list(groups)
        return sum(counts[group] for group in chosen) / sum(documents[group] for group in chosen)

    def _count(self, names: Sequence[str], corpus: str) -> dict[str, int]:
        evaluated = self._plan.surveys[corpus].evaluated
        trained = np.unique(np.concatenate([self._plan.surveys[name].trained for name in names]))
        seen = np.isin(np.concatenate(list(evaluated.values())), trained)
        ends = np.cumsum([len(marks) for marks in evaluated.values()])
        return {group: int(part.sum()) for group, part in zip(evaluated, np.split(seen, ends[:-1]), strict=True)}


class _Finisher:
    """Asks the text metrics of a run for their values."""

    def __init__(self, plan: Plan, evaluation: Evaluation, seen: TrainedShares) -> None:
        self._plan = plan
        self._evaluation = evaluation
        self._seen = seen
        self.outcomes: dict[tuple[str, str], CorpusOutcome | Failure] = {}
        """By corpus and family, of corpus metrics."""
        self.failures: list[Failure] = []
        self.ratios: dict[str, tuple[str, ...]] = {}
        """By metric, the sums of which its cells are ratios."""
        for corpus in plan.measured:
            for name in (family.name for family in plan.families_on(corpus)):
                if metric := evaluation.of_corpora.get(name):
                    states = self._corpus_states(corpus, name)
                    finish_corpus = partial(_finished_corpus, metric, states)
                    self.outcomes[corpus, name] = attempt(finish_corpus, f"finishing {name}")

    def _corpus_states(self, corpus: str, family: str) -> CorpusStates:
        groups, design = self._plan.groups(corpus), self._plan.design(corpus)
        names = self._plan.names_on(corpus)
        every = {
            (name, group): self._evaluation.state((name, corpus, group, family), documents)
            for name in names
            for group, documents in groups.items()
        }
        known = {place: state for place, state in every.items() if not isinstance(state, Failure)}
        measured = [name for name in names if any((name, group) in known for group in groups)]
        rules = self._plan.config.most_lost, self._plan.config.practical_margin
        return CorpusStates(corpus, design.parallel, design.reference, groups, measured, known, design.designed, *rules)

    def cells(self, prepared: PreparedTokenizer) -> Iterator[Cell]:
        for corpus in _corpora(self._plan, prepared):
            groups = self._plan.groups(corpus)
            for group in [*groups, WHOLE]:
                seen = self._seen.share(prepared.name, corpus, groups if group == WHOLE else [group])
                for family in _of_run(self._plan, corpus):
                    metrics = [metric for metric in family.values if group == WHOLE or not metric.whole]
                    values = self._values((prepared.name, corpus, group, family.name), groups)
                    yield from self._cells(prepared, (corpus, group), metrics, values, seen)
            yield from self._slices(prepared, corpus, seen)
            yield from self._by_script(prepared, corpus)

    def _cells(
        self,
        prepared: PreparedTokenizer,
        place: tuple[str, str],
        metrics: Iterable[Metric],
        values: PlainValues | Failure,
        seen: float | None,
    ) -> Iterator[Cell]:
        """Yield cells; ``seen`` is the share of documents trained on."""
        if isinstance(values, Failure):
            self.failures.append(values)
        else:
            self.failures += [value for value in values.values() if isinstance(value, Failure)]
            ratios = {name: value.ratio_of for name, value in values.items() if isinstance(value, Measured)}
            self.ratios.update((name, sums) for name, sums in ratios.items() if sums)
        cells = (cell_of(prepared, place, metric, values, seen) for metric in metrics)
        return map(without_interval, cells) if self._plan.design(place[0]).designed else cells

    def _values(self, key: Key, groups: Mapping[str, int]) -> PlainValues | Failure:
        """Return the values of a family in a group, or in all these groups."""
        name, corpus, group, family = key
        state = self._evaluation.group_state(key, groups)
        if isinstance(state, Failure):
            return state
        if family in self._evaluation.of_corpora:
            outcome = self.outcomes[corpus, family]
            return outcome if isinstance(outcome, Failure) else outcome.values.get((name, group), {})
        finish = self._evaluation.of_groups[family].finish
        return attempt(lambda: plain_values(finish(state)), f"finishing {family}")

    def _slices(self, prepared: PreparedTokenizer, corpus: str, seen: float | None) -> Iterator[Cell]:
        usual = {*self._plan.groups(corpus), WHOLE}
        for family in self._plan.families_on(corpus):
            outcome = self.outcomes.get((corpus, family.name))
            for (name, group), values in outcome.values.items() if isinstance(outcome, CorpusOutcome) else ():
                if name == prepared.name and group not in usual:
                    metrics = [metric for metric in family.values if metric.id in values]
                    yield from self._cells(prepared, (corpus, group), metrics, values, seen)

    def _by_script(self, prepared: PreparedTokenizer, corpus: str) -> Iterator[Cell]:
        documents = self._plan.groups(corpus)
        families = [family for family in self._plan.families_on(corpus) if family.by_script]
        scripts = [(part.value, part.groups) for part in slices(documents) if part.facet == "script" and part.value]
        for script, groups in scripts if families and len(scripts) > 1 else ():
            seen = self._seen.share(prepared.name, corpus, groups)
            counts = {group: documents[group] for group in groups}
            for family in families:
                values = self._values((prepared.name, corpus, WHOLE, family.name), counts)
                yield from self._cells(prepared, (corpus, f"script: {script}"), family.values, values, seen)


def _loss(metric: FindsLosses, place: _State) -> LossInfo | Failure | None:
    def loss_info() -> LossInfo | None:
        found = metric.loss(place.state)
        if found is None:
            return None
        info = LossInfo(tokenizer=place.tokenizer, corpus=place.corpus, group=place.group, **found._asdict())
        return plain(info, LossInfo, "loss")  # type: ignore[no-any-return]

    return attempt(loss_info)


def _worst(metric: FindsWorstDocuments, place: _State) -> Sequence[DocumentExample]:
    examples = attempt(lambda: plain(metric.worst(place.state), list[DocumentExample], "worst"))
    return () if isinstance(examples, Failure) else examples
