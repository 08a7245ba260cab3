"""Correlates metrics with bits per byte."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin.metrics import WHOLE, Outcome, StudyContext
from tokbench.statistics.jackknife import holm
from tokbench.statistics.standings import LEVEL
from tokbench_models.language_models.block import BitsPerByte
from tokbench_models.validity.block import HypothesisOutcome, RankCorrelation, Validity, ValidityClass
from tokbench_models.validity.options import ALL_TOKENIZERS, Hypothesis, ValidityStudy
from tokbench_models.validity.rank_correlation import (
    DRAWS,
    LEAST_TOKENIZERS,
    Numbers,
    RankInterval,
    difference,
    draw_tokenizers,
    drawn_correlations,
    rho_interval,
)
from tokbench_models.validity.scores import ReadScores, scores_target
from tokbench_models.validity.targets import Target, bits_target


def correlate(context: StudyContext, study: ValidityStudy, scores: ReadScores) -> Outcome:
    """Run the study of every family of models and corpus, and of every table of scores.

    Values must be of the whole corpus and all documents. Speeds do not count.
    """
    models = context.outcome("language_models")
    if models is None and not scores.tables:
        return Outcome(failures=scores.problems or ["no bits per byte"])
    values = _metric_values(context)
    targets = [scores_target(table, corpus) for corpus in values for table in scores.tables]
    if models is not None:
        studied: list[BitsPerByte] = models.block or []
        pairs = zip(studied, models.detail or [], strict=True)
        targets = [*(bits_target(bits, scored) for bits, scored in pairs if scored), *targets]
    block = [_Study(study, target, values.get(target.corpus, {})).outcome() for target in targets]
    return Outcome(block=block, failures=scores.problems)


def _metric_values(context: StudyContext) -> dict[str, dict[str, dict[str, float]]]:
    directions = {
        metric.id: metric.direction
        for family, _ in context.plan.metrics
        if not context.plan.is_timed(family)
        for metric in family.values
    }
    values: dict[str, dict[str, dict[str, float]]] = {}
    for cell in context.cells:
        if cell.group == WHOLE and cell.value is not None and cell.metric in directions:
            sign = -1.0 if directions[cell.metric] == "higher" else 1.0
            values.setdefault(cell.corpus, {}).setdefault(cell.metric, {})[cell.tokenizer] = sign * cell.value
    return values


class _Correlations(NamedTuple):
    rows: list[RankCorrelation]

    rho: Mapping[tuple[str, str], RankInterval]

    drawn: Mapping[tuple[str, str], NDArray[np.float64]]


class _Study:
    def __init__(self, study: ValidityStudy, target: Target, values: Mapping[str, Mapping[str, float]]) -> None:
        self._study = study
        self._target = target
        self._values = values
        own = target.models if target.scores is None else []  # a model of bits is a metric of the others, too
        self._metrics = [*(metric for metric in values if metric not in target.models), *own]
        self._undertrained = target.undertrained(study.least_tokens_per_id)
        self._classes: dict[str, _Correlations] = {}

    def outcome(self) -> Validity:
        classes = [self._class(name, members) for name, members in self._sets()]
        target = self._target
        return Validity(
            corpus=target.corpus,
            family=target.family,
            models=target.models,
            deciding=target.deciding,
            metrics=self._metrics,
            draws=DRAWS,
            trained=target.trained,
            classes=classes,
            hypotheses=self._hypotheses(classes),
            least_tokens_per_id=self._study.least_tokens_per_id,
            trained_ids={name: target.trained_ids[name] for name in target.names if name in target.trained_ids},
            left_out=self._undertrained,
            scores=target.scores,
        )

    def _sets(self) -> Iterator[tuple[str, list[str]]]:
        kinds = self._target.kinds
        for name, globs in {ALL_TOKENIZERS: ("*",), **self._study.classes}.items():
            chosen = [
                tokenizer
                for tokenizer in self._target.names
                if any(fnmatch.fnmatchcase(tokenizer, glob) for glob in globs)
            ]
            split = {
                kind: some
                for kind, of in kinds.items()
                if (some := [tokenizer for tokenizer in chosen if tokenizer in of])
            }
            # Baselines may be compared with several kinds, and do not form a kind.
            split = {k: own for k, own in split.items() if not any(set(own) < set(other) for other in split.values())}
            once = {tuple(own): kind for kind, own in split.items()}  # a kind with only baselines belongs to another
            ordered = sorted(once, key=lambda own: -len(own))
            for own in ordered:
                yield name if own == ordered[0] else f"{name} ({once[own]})", list(own)
            if not once:
                yield name, []

    def _class(self, name: str, chosen: list[str]) -> ValidityClass:
        members = [tokenizer for tokenizer in chosen if tokenizer not in self._undertrained]
        left_out = [tokenizer for tokenizer in chosen if tokenizer in self._undertrained]
        if len(members) < LEAST_TOKENIZERS:
            fed = f" and have {self._study.least_tokens_per_id:g} training tokens an id" if left_out else ""
            having = "bits per byte that may be compared" if self._target.scores is None else "a score"
            reason = f"too few: {len(members)} tokenizers with {having}{fed}, and it needs"
            return ValidityClass(
                name=name, tokenizers=members, left_out=left_out, reason=f"{reason} {LEAST_TOKENIZERS}"
            )
        self._classes[name] = correlations = self._correlations(members)
        return ValidityClass(
            name=name,
            tokenizers=members,
            left_out=left_out,
            correlations=correlations.rows,
        )

    def _correlations(self, members: Sequence[str]) -> _Correlations:
        rows, rho, drawn = [], {}, {}
        having: dict[tuple[str, ...], list[str]] = {}
        for metric in self._metrics:
            having.setdefault(tuple(member for member in members if member in self._values[metric]), []).append(metric)
        for names, metrics in having.items():
            if len(names) < LEAST_TOKENIZERS:
                reason = f"too few tokenizers have a number: {len(names)}, and it needs {LEAST_TOKENIZERS}"
                rows += [
                    RankCorrelation(metric=metric, model=model, tokenizers=len(names), reason=reason)
                    for metric in metrics
                    for model in self._models
                ]
                continue
            ordered, fixed, moved = self._drawn(names, metrics)
            for i, metric in enumerate(ordered):
                for j, model in enumerate(self._models):
                    if metric == model:
                        continue
                    if math.isnan(fixed[0, i, j]):
                        reason = "the same for all of these tokenizers"
                        rows.append(RankCorrelation(metric=metric, model=model, tokenizers=len(names), reason=reason))
                        continue
                    rho[metric, model] = value = rho_interval(_sound(fixed[:, i, j]), len(names))
                    drawn[metric, model] = moved[:, i, j]
                    rows.append(_correlation(metric, model, len(names), value))
        places = {metric: k for k, metric in enumerate(self._metrics)}
        rows.sort(key=lambda row: (places[row.metric], self._models.index(row.model)))
        return _Correlations(rows, rho, drawn)

    @property
    def _models(self) -> list[str]:
        return self._target.models

    def _drawn(self, names: Sequence[str], metrics: Sequence[str]) -> tuple[list[str], Numbers, Numbers]:
        places = [self._target.names.index(name) for name in names]
        bits = self._target.draws[:, :, places]
        own = [metric for metric in metrics if metric in self._models]
        others = [metric for metric in metrics if metric not in self._models]
        fixed = np.array([[self._values[metric][name] for name in names] for metric in others])
        fixed = fixed.reshape(len(others), len(names))
        moving = bits[:, [self._models.index(metric) for metric in own]]
        each_once = np.ones((len(bits), len(names)))
        still = drawn_correlations(fixed, moving, bits, each_once)
        return [*others, *own], still, drawn_correlations(fixed, moving, bits, draw_tokenizers(len(names)))

    def _hypotheses(self, classes: Sequence[ValidityClass]) -> list[HypothesisOutcome]:
        outcomes = []
        for claim in self._study.hypotheses:
            models = self._target.deciding if claim.predicts == self._target.family else [claim.predicts]
            asked = [model for model in models if model in self._models and model != claim.metric]
            outcomes += [self._tested(claim, model, classes) for model in asked]
        tested = [k for k, outcome in enumerate(outcomes) if outcome[0].p is not None]
        corrected = dict(zip(tested, holm([outcomes[k][0].p or 0.0 for k in tested]), strict=True))
        return [_decided(outcome, corrected.get(k), side) for k, (outcome, side) in enumerate(outcomes)]

    def _tested(
        self, claimed: Hypothesis, model: str, classes: Sequence[ValidityClass]
    ) -> tuple[HypothesisOutcome, float]:
        [tokenizers] = [group for group in classes if group.name == claimed.class_]
        correlations = self._classes.get(claimed.class_)
        bound = claimed.at_least if claimed.at_most is None else claimed.at_most
        claim = f"larger than that of {claimed.better_than}" if bound is None else ""
        claim = claim or f"{'>' if claimed.at_most is None else '<'} {bound:g}"
        outcome = HypothesisOutcome(
            metric=claimed.metric,
            model=model,
            tokenizer_class=claimed.class_,
            other=claimed.better_than,
            claim=claim,
            source=claimed.source,
        )
        value = correlations.rho.get((claimed.metric, model)) if correlations else None
        other = correlations.rho.get((claimed.better_than, model)) if correlations else None
        if correlations is None or value is None or (bound is None and other is None):
            reason = tokenizers.reason or "no correlation: see the table of the class"
            return replace(outcome, reason=reason), 0.0
        if bound is None:
            one, two = (claimed.metric, model), (claimed.better_than, model)
            draws = np.stack([correlations.drawn[one], correlations.drawn[two]], axis=1)
            apart, low, high = difference(correlations.rho[one], correlations.rho[two], draws)
            return replace(outcome, value=apart, ci_low=low, ci_high=high, p=_p_of(apart, low, high)), apart
        side = (value.value - bound) * (1 if claimed.at_most is None else -1)
        low, high, p = value.low, value.high, value.p_value(bound)
        return replace(outcome, value=value.value, ci_low=low, ci_high=high, p=p), side


def _sound(draws: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(draws[~np.isnan(draws)])


def _correlation(metric: str, model: str, tokenizers: int, rho: RankInterval) -> RankCorrelation:
    return RankCorrelation(
        metric=metric,
        model=model,
        tokenizers=tokenizers,
        rho=rho.value,
        ci_low=rho.low,
        ci_high=rho.high,
    )


def _p_of(apart: float, low: float, high: float) -> float:
    """Return the p-value of no difference from the half of the interval towards 0.

    >>> round(_p_of(0.4, 0.0, 1.0), 3)
    0.05
    """
    towards = apart - low if apart > 0 else high - apart
    if not towards:
        return 1.0 if not apart else 0.0
    return math.erfc(abs(apart) / towards * 1.959963984540054 / math.sqrt(2))


def _decided(outcome: HypothesisOutcome, p_holm: float | None, side: float) -> HypothesisOutcome:
    if p_holm is None:
        return outcome
    decided = p_holm <= LEVEL and side
    return replace(outcome, p_holm=p_holm, verdict="undecided" if not decided else "held" if side > 0 else "not held")
