"""From states to cells: every tokenizer, corpus, group and metric has one, with a value or with a reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tokbench.corpus.languages import slices
from tokbench.engine.run import Key, Run, States
from tokbench.foundation.errors import ContractError, shown
from tokbench.foundation.failures import Failure, attempt, tracebacks
from tokbench.foundation.plain_values import plain
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.metric import (
    CorpusMetric,
    CorpusOutcome,
    CorpusStates,
    DocumentExample,
    FindsLosses,
    FindsWorstDocuments,
    Measured,
    Metric,
    TextMetric,
)
from tokbench.measuring.plan import Plan, RunTokenizer
from tokbench.measuring.study import PlainValues, cell_of, plain_values, without_interval
from tokbench.results.blocks import LossInfo, PairComparison, RawState
from tokbench.results.cells import WHOLE, Cell, TokenizerState
from tokbench.results.states import RawStates


def finish(run: Run) -> None:
    """Make the cells of the text metrics, and what goes with them."""
    plan, results, metrics = run.plan, run.results, run.states.metrics.items()
    for tokenizer in plan.tokenizers:
        if tokenizer.to_be_trained:
            tokenizer.fail(Failure("the run was stopped before it was trained"), TokenizerState.FAILED)
    finisher = _Finisher(plan, run.states)
    cells = [cell for tokenizer in plan.tokenizers for cell in finisher.cells(tokenizer)]
    losses, worst = list[LossInfo](), dict[tuple[str, str, str], Sequence[DocumentExample]]()
    finds_losses = {name: metric for name, metric in metrics if isinstance(metric, FindsLosses)}
    finds_worst = {name: metric for name, metric in metrics if isinstance(metric, FindsWorstDocuments)}
    for state in _states(run):
        loss = _loss(finds_losses[state.family], state) if state.family in finds_losses else None
        if isinstance(loss, Failure):
            run.note(f"{state.tokenizer}: the losses of {state.family} are not shown: {loss.reason}")
        elif loss:
            losses.append(loss)
        if state.family in finds_worst and (examples := _worst(finds_worst[state.family], state)):
            worst[state[:3]] = examples
    outcomes = [outcome for outcome in finisher.outcomes.values() if isinstance(outcome, CorpusOutcome)]
    failures = [*finisher.failures, *(tokenizer.failure for tokenizer in plan.tokenizers if tokenizer.failure)]
    results.cells, results.losses, run.worst = cells, losses, worst
    results.pairs = [pair for outcome in outcomes for pair in outcome.pairs]
    results.tracebacks = tracebacks(failures)
    for name in finisher.ratios.keys() & results.metrics.keys():
        results.metrics[name] = replace(results.metrics[name], ratio_of=list(finisher.ratios[name]))
    run.finished = True


def pack_states(run: Run) -> None:
    """Move the raw forms of states into the results, and note what cannot be packed.

    They are moved one by one, because both forms of all states would take too much memory.
    """
    problems = run.results.problems
    for state in _states(run):
        raw = attempt(partial(_pack, run.states.metrics[state.family], state, run.results.states))
        if isinstance(raw, Failure):
            problem = f"{state.tokenizer}: the raw sums of {state.family} are not kept: {raw.reason}"
            problems += [problem] if problem not in problems else []
        del run.states.states[state[:4]]
    run.states.states.clear()  # parts of groups, and failures, are in no file


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


def _corpora(plan: Plan, tokenizer: RunTokenizer) -> list[str]:
    return [corpus for corpus in plan.measured if tokenizer.name in plan.names_on(corpus)]


def _states(run: Run) -> Iterator[_State]:
    plan, states = run.plan, run.states
    for tokenizer in plan.tokenizers:
        for corpus in _corpora(plan, tokenizer):
            for group, documents in plan.groups(corpus).items():
                for family in plan.families_on(corpus):
                    place = (tokenizer.name, corpus, group, family.name)
                    state = states.state(place, documents)
                    if place in states.states and not isinstance(state, Failure):
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
    )


class _TrainedShares:
    """Finds the documents of corpora that tokenizers were trained on, once for each pair of texts."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._train_on = {tokenizer.name: tokenizer.train_on for tokenizer in plan.tokenizers}
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

    def __init__(self, plan: Plan, states: States) -> None:
        self._plan = plan
        self._states = states
        self._seen = _TrainedShares(plan)
        self.outcomes: dict[tuple[str, str], CorpusOutcome | Failure] = {}
        """By corpus and family, of corpus metrics."""
        self.failures: list[Failure] = []
        self.ratios: dict[str, tuple[str, ...]] = {}
        """By metric, the sums of which its cells are ratios."""
        for corpus in plan.measured:
            for name in (family.name for family in plan.families_on(corpus)):
                if metric := states.of_corpora.get(name):
                    finish_corpus = partial(_finished_corpus, metric, self._corpus_states(corpus, name))
                    self.outcomes[corpus, name] = attempt(finish_corpus, f"finishing {name}")

    def _corpus_states(self, corpus: str, family: str) -> CorpusStates:
        groups, design = self._plan.groups(corpus), self._plan.design(corpus)
        names = self._plan.names_on(corpus)
        every = {
            (name, group): self._states.state((name, corpus, group, family), documents)
            for name in names
            for group, documents in groups.items()
        }
        known = {place: state for place, state in every.items() if not isinstance(state, Failure)}
        measured = [name for name in names if any((name, group) in known for group in groups)]
        rules = self._plan.config.most_lost, self._plan.config.practical_margin
        return CorpusStates(corpus, design.parallel, design.reference, groups, measured, known, design.designed, *rules)

    def cells(self, tokenizer: RunTokenizer) -> Iterator[Cell]:
        for corpus in _corpora(self._plan, tokenizer):
            groups = self._plan.groups(corpus)
            for group in [*groups, WHOLE]:
                seen = self._seen.share(tokenizer.name, corpus, groups if group == WHOLE else [group])
                for family in _of_run(self._plan, corpus):
                    metrics = [metric for metric in family.values if group == WHOLE or not metric.whole]
                    values = self._values((tokenizer.name, corpus, group, family.name), groups)
                    yield from self._cells(tokenizer, (corpus, group), metrics, values, seen)
            yield from self._slices(tokenizer, corpus, seen)
            yield from self._by_script(tokenizer, corpus)

    def _cells(
        self,
        tokenizer: RunTokenizer,
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
        cells = (cell_of(tokenizer, place, metric, values, seen) for metric in metrics)
        return map(without_interval, cells) if self._plan.design(place[0]).designed else cells

    def _values(self, key: Key, groups: Mapping[str, int]) -> PlainValues | Failure:
        """Return the values of a family in a group, or in all these groups."""
        name, corpus, group, family = key
        state = self._states.group_state(key, groups)
        if isinstance(state, Failure):
            return state
        if family in self._states.of_corpora:
            outcome = self.outcomes[corpus, family]
            return outcome if isinstance(outcome, Failure) else outcome.values.get((name, group), {})
        finish = self._states.of_groups[family].finish
        return attempt(lambda: plain_values(finish(state)), f"finishing {family}")

    def _slices(self, tokenizer: RunTokenizer, corpus: str, seen: float | None) -> Iterator[Cell]:
        usual = {*self._plan.groups(corpus), WHOLE}
        for family in self._plan.families_on(corpus):
            outcome = self.outcomes.get((corpus, family.name))
            for (name, group), values in outcome.values.items() if isinstance(outcome, CorpusOutcome) else ():
                if name == tokenizer.name and group not in usual:
                    metrics = [metric for metric in family.values if metric.id in values]
                    yield from self._cells(tokenizer, (corpus, group), metrics, values, seen)

    def _by_script(self, tokenizer: RunTokenizer, corpus: str) -> Iterator[Cell]:
        documents = self._plan.groups(corpus)
        families = [family for family in self._plan.families_on(corpus) if family.by_script]
        scripts = [(part.value, part.groups) for part in slices(documents) if part.facet == "script" and part.value]
        for script, groups in scripts if families and len(scripts) > 1 else ():
            seen = self._seen.share(tokenizer.name, corpus, groups)
            counts = {group: documents[group] for group in groups}
            for family in families:
                values = self._values((tokenizer.name, corpus, WHOLE, family.name), counts)
                yield from self._cells(tokenizer, (corpus, f"script: {script}"), family.values, values, seen)


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
