"""States -> cells: every tokenizer x corpus x group x metric has one, with a value or with a reason."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Mapping
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.contracts.metric import (
    CorpusMetric,
    FindsLosses,
    Measured,
    Metric,
    MetricFamily,
    NotApplicable,
    TextMetric,
)
from tokbench.corpus.corpus import Survey
from tokbench.corpus.languages import slices
from tokbench.failures import Failure, attempt
from tokbench.results.cells import WHOLE, Cell, Status, TokenizerState
from tokbench.runner import same_ids
from tokbench.runner.across import CorpusMetrics
from tokbench.runner.evaluate import Evaluation
from tokbench.runner.plan import Plan
from tokbench.runner.prepare import PreparedTokenizer

__all__ = ["CellMaker", "make_cell"]

Fingerprints = NDArray[np.uint64]


class CellMaker:
    """Makes the cells of the text metrics, and the raw states that go with them."""

    def __init__(self, plan: Plan, evaluation: Evaluation) -> None:
        self._plan = plan
        self._evaluation = evaluation
        self._specs = [spec for spec, _ in plan.metrics if spec.text]
        self._across = CorpusMetrics(plan, evaluation)
        self.states: list[dict[str, Any]] = []
        self.losses: list[dict[str, Any]] = []
        self.failures: list[Failure] = []

    @property
    def pairs(self) -> list[dict[str, Any]]:
        """What was found of pairs of tokenizers."""
        return self._across.pairs

    def cells(self, prepared: PreparedTokenizer) -> Iterator[Cell]:
        """All cells of one tokenizer: by corpus, by group, then the whole and its slices, by metric."""
        trained = self._trained_on(prepared)
        for corpus in self._plan.measured:
            survey = self._plan.surveys[corpus]
            for group in [*survey.groups, WHOLE]:
                seen = _seen(trained, survey, survey.groups if group == WHOLE else [group])
                for spec in self._specs:
                    yield from self._family(prepared, corpus, group, spec, seen)
                if self._evaluation.same_ids.declared:
                    yield self._same_ids(prepared, corpus, group, seen)
            yield from self._slices(prepared, corpus, seen)
            yield from self._by_script(prepared, corpus, trained)

    def _trained_on(self, prepared: PreparedTokenizer) -> Fingerprints | None:
        """Fingerprints of the training text; ``None`` where nobody knows it."""
        names = prepared.planned.train_on
        return np.concatenate([self._plan.surveys[name].trained for name in names]) if names else None

    def _family(
        self, prepared: PreparedTokenizer, corpus: str, group: str, spec: MetricFamily, seen: float | None
    ) -> Iterator[Cell]:
        values = self._values(prepared, corpus, group, spec)
        if isinstance(values, Failure):
            self.failures.append(values)
        for value in spec.values:
            if group == WHOLE or not value.whole:
                yield make_cell(prepared, corpus, group, value, values, seen)

    def _values(
        self, prepared: PreparedTokenizer, corpus: str, group: str, spec: MetricFamily
    ) -> Mapping[str, Measured | NotApplicable] | Failure:
        metric = self._evaluation.metrics[spec.name]
        place = (prepared.name, corpus, group, spec.name)
        state = self._evaluation.group_state(place, self._plan.surveys[corpus].groups)
        if isinstance(state, Failure):
            return state
        self._keep(prepared.name, corpus, group, spec.name, metric, state)
        if isinstance(metric, CorpusMetric):
            outcome = self._across.outcome(corpus, spec.name, metric)
            return outcome if isinstance(outcome, Failure) else outcome.values.get((prepared.name, group), {})
        return attempt(lambda: metric.finish(state), f"finishing {spec.name}")

    def _slices(self, prepared: PreparedTokenizer, corpus: str, seen: float | None) -> Iterator[Cell]:
        """What across metrics say of several groups together; ``seen`` is of the whole corpus."""
        usual = {*self._plan.surveys[corpus].groups, WHOLE}
        for spec in self._specs:
            for (name, group), found in self._across.known(corpus, spec.name).items():
                if name != prepared.name or group in usual:
                    continue
                for value in spec.values:
                    if value.id in found:
                        yield _cell((name, corpus, group, value.id), value, found[value.id], seen)

    def _by_script(self, prepared: PreparedTokenizer, corpus: str, trained: Fingerprints | None) -> Iterator[Cell]:
        """Of families that want it, the groups of each script put together."""
        survey = self._plan.surveys[corpus]
        scripts = [(each.value, each.groups) for each in slices(survey.groups) if each.facet == "script" and each.value]
        for script, groups in scripts if len(scripts) > 1 else ():
            counts = {group: survey.groups[group] for group in groups}
            for spec in (spec for spec in self._specs if spec.by_script):
                state = self._evaluation.group_state((prepared.name, corpus, WHOLE, spec.name), counts)
                metric = self._evaluation.metrics[spec.name]
                assert not isinstance(metric, CorpusMetric)
                values = state if isinstance(state, Failure) else attempt(partial(metric.finish, state))
                for value in spec.values:
                    seen = _seen(trained, survey, groups)
                    yield make_cell(prepared, corpus, f"script: {script}", value, values, seen)

    def _keep(
        self, name: str, corpus: str, group: str, family: str, metric: TextMetric | CorpusMetric, state: Any
    ) -> None:
        place = {"tokenizer": name, "corpus": corpus, "group": group}
        if group == WHOLE:
            return  # it is the merge of the groups, which are kept
        raw = attempt(lambda: metric.raw(state))
        if not isinstance(raw, Failure):
            self.states.append({**place, "family": family, "state": raw})
        if isinstance(metric, FindsLosses):
            loss = attempt(lambda: metric.loss(state))
            if loss and not isinstance(loss, Failure):
                self.losses.append({**place, **loss})

    def _same_ids(self, prepared: PreparedTokenizer, corpus: str, group: str, seen: float | None) -> Cell:
        """Whether a tokenizer does what the one does that it is declared the same as."""
        place = (prepared.name, corpus, group, same_ids.VALUE.id)
        known, other, unit = self._evaluation.same_ids, prepared.planned.same_as, same_ids.VALUE.unit
        if prepared.state != TokenizerState.READY:
            return Cell(*place, unit=unit, status=Status(prepared.state.value), reason=prepared.reason)
        if not other:
            value: Measured | NotApplicable = NotApplicable("not declared the same as another tokenizer")
        elif prepared.name not in known.references:
            value = NotApplicable(f"{other} is not there to be compared with")
        else:
            groups = self._plan.surveys[corpus].groups if group == WHOLE else [group]
            parts = [known.sums(prepared.name, corpus, each) for each in groups]
            documents = sum(self._plan.surveys[corpus].groups[each] for each in groups)
            found = [part for part in parts if part]
            if sum(part.documents for part in found) == documents:
                value = reduce(operator.add, found).share("same", "documents")
            else:
                value = NotApplicable(f"not every document has ids both of {other} and of the tokenizer itself")
        return _cell(place, same_ids.VALUE, value, seen)


def make_cell(
    prepared: PreparedTokenizer,
    corpus: str,
    group: str,
    spec: Metric,
    values: Mapping[str, Measured | NotApplicable] | Failure,
    seen: float | None = None,
) -> Cell:
    """The cell of a value, or of the reason why there is none.

    Args:
        prepared: the tokenizer.
        corpus: where it was measured.
        group: of which group, or ``*``.
        spec: what was to be measured.
        values: what was, by id.
        seen: the share of the documents that the tokenizer was trained on, if that is known.
    """
    place = (prepared.name, corpus, group, spec.id)
    if prepared.state != TokenizerState.READY:
        return Cell(*place, unit=spec.unit, status=Status(prepared.state.value), reason=prepared.reason)
    lacking = _lacking(prepared, spec)
    if lacking:
        return Cell(*place, unit=spec.unit, status=Status.NOT_APPLICABLE, reason=lacking)
    if isinstance(values, Failure):
        status = Status.TIMEOUT if values.timed_out else Status.FAILED
        return Cell(*place, unit=spec.unit, status=status, reason=values.reason)
    return _cell(place, spec, values.get(spec.id), seen)


def _seen(trained: Fingerprints | None, survey: Survey, groups: Iterable[str]) -> float | None:
    """The share of the documents of some groups that were trained on; ``None`` where nobody knows."""
    if trained is None:
        return None
    return float(np.isin(np.concatenate([survey.evaluated[group] for group in groups]), trained).mean())


def _lacking(prepared: PreparedTokenizer, value: Metric) -> str:
    """Why a tokenizer cannot have a value; ``""`` if it can."""
    if not prepared.facts or value.id not in prepared.facts.lacks:
        return ""
    names = " or ".join(need.__name__ for need in value.needs)
    return f"backend {prepared.planned.spec.name} lacks the capability {names}"


def _cell(
    place: tuple[str, str, str, str], spec: Metric, value: Measured | NotApplicable | None, seen: float | None
) -> Cell:
    if value is None:
        return Cell(*place, unit=spec.unit, status=Status.FAILED, reason="the metric gave no value and no reason")
    if isinstance(value, NotApplicable):
        return Cell(*place, unit=spec.unit, status=Status.NOT_APPLICABLE, reason=value.reason, in_sample=seen)
    if not math.isfinite(value.value):
        return Cell(*place, unit=spec.unit, status=Status.FAILED, reason=f"the metric gave {value.value}")
    return Cell(
        *place,
        value=float(value.value),
        unit=value.unit or spec.unit,
        ci_low=value.ci_low,
        ci_high=value.ci_high,
        n=value.n,
        in_sample=seen,
    )
