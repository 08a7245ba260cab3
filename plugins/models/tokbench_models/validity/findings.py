"""Sentences on validity, each with its interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tokbench.plugin.report import CellTables
from tokbench_models.language_models.block import BITS_PER_BYTE
from tokbench_models.language_models.verdicts import listed, words
from tokbench_models.validity.block import RankCorrelation, Validity, ValidityClass

_EXPLORATORY: Final = " (exploratory)"
_AS: Final = "ranks tokenizers as"


@dataclass(frozen=True, slots=True)
class ValidityNames:
    """The names of metrics and models in a study."""

    tables: CellTables
    models: dict[str, str]
    whose: str = ""
    """The model, where ``models`` names its budgets."""

    @classmethod
    def of(cls, tables: CellTables, study: Validity) -> ValidityNames:
        if study.scores is not None:
            return cls(tables, {model: f"the score of {model}" for model in study.models})
        for bits in tables.results.studies.get(BITS_PER_BYTE) or []:
            if (bits.corpus, bits.family) == (study.corpus, study.family):
                models = dict(zip(bits.metrics, bits.models, strict=True))
                return cls(tables, models, words(bits).model if bits.trainings else "")
        return cls(tables, {model: tables.label(model) for model in study.models})

    def model(self, name: str) -> str:
        return f"{self.whose} at {self.models[name]}" if self.whose else self.models[name]

    def with_intervals(self, correlations: Sequence[RankCorrelation], *, do: bool) -> str:
        """Return the models of one metric's correlations with intervals; ``do`` says "order 3 does"."""
        numbers = listed(
            [f"{self.models[correlation.model]} ({with_interval(correlation)})" for correlation in correlations]
        )
        if self.whose:
            return f"{self.whose}{' does' * do} at {numbers}"
        return numbers + (" does" if len(correlations) == 1 else " do") * do

    def metric(self, name: str) -> str:
        return self.models.get(name) or self.tables.label(name)


def signed(value: float) -> str:
    """Return two digits.

    >>> signed(0.934), signed(-0.5), signed(1.0), signed(-0.001)
    ('.93', '-.50', '1.00', '.00')
    """
    text = f"{abs(value):.2f}"
    return ("-" if value < 0 and text != "0.00" else "") + text.removeprefix("0")


def between(low: float | None, high: float | None) -> str:
    """Return an interval in brackets.

    >>> between(0.1, 0.934), between(None, None)
    ('[.10, .93]', '')
    """
    return "" if low is None or high is None else f"[{signed(low)}, {signed(high)}]"


def with_interval(number: RankCorrelation) -> str:
    """Return a number with its interval."""
    return f"{signed(number.rho or 0.0)} {between(number.ci_low, number.ci_high)}"


def lies_apart(number: RankCorrelation) -> bool:
    """Return whether the interval excludes 0."""
    return (number.ci_low or 0.0) > 0 or (number.ci_high or 0.0) < 0


def findings(study: Validity, classes: Sequence[ValidityClass], names: ValidityNames) -> list[str]:
    """Return sentences."""
    return [
        sentence
        for members in classes
        if not members.reason
        for sentence in _Findings(study, members, names).sentences()
    ]


@dataclass(frozen=True, slots=True)
class _Findings:
    study: Validity
    members: ValidityClass
    names: ValidityNames

    @property
    def over(self) -> str:
        return f"Over {len(self.members.tokenizers)} tokenizers ({self.members.name})"

    def sentences(self) -> Iterator[str]:
        for metric in dict.fromkeys(hypothesis.metric for hypothesis in self.study.hypotheses):
            yield from self._on_metric(metric)

    def _known(self) -> list[RankCorrelation]:
        return [correlation for correlation in self.members.correlations if correlation.model in self.study.deciding]

    def _on_metric(self, metric: str) -> Iterator[str]:
        known = [
            correlation for correlation in self._known() if correlation.metric == metric and correlation.rho is not None
        ]
        claims = {(hypothesis.tokenizer_class, hypothesis.metric) for hypothesis in self.study.hypotheses}
        if known:
            mark = _EXPLORATORY * ((self.members.name, metric) not in claims)
            yield f"{self.over}, {self.names.metric(metric)} {_summary_sentence(known, self.names)}{mark}."


def _summary_sentence(correlations: Sequence[RankCorrelation], names: ValidityNames) -> str:
    """Say how one metric ranks tokenizers by each model.

    >>> c = RankCorrelation(metric="m", model="b", tokenizers=9, rho=0.1, ci_low=-0.5, ci_high=0.6)
    >>> from tokbench.results.model import Results
    >>> tables = CellTables(Results(name="r"))
    >>> _summary_sentence([c], ValidityNames(tables, {"b": "order 3"}))
    'shows no relation beyond chance with order 3 (.10 [-.50, .60])'
    >>> from dataclasses import replace
    >>> some = [replace(c, model=model, ci_low=0.05) for model in "bc"]
    >>> _summary_sentence(some, ValidityNames(tables, {"b": "order 3", "c": "order 4"}))
    'ranks tokenizers as order 3 (.10 [.05, .60]) and order 4 (.10 [.05, .60]) do'
    >>> _summary_sentence(some, ValidityNames(tables, {"b": "equal text", "c": "equal computing"}, "a transformer"))
    'ranks tokenizers as a transformer does at equal text (.10 [.05, .60]) and equal computing (.10 [.05, .60])'
    """
    kinds: dict[str, list[RankCorrelation]] = {}
    for correlation in correlations:
        kind = "shows no relation beyond chance with"
        if lies_apart(correlation):
            kind = _AS if (correlation.rho or 0.0) > 0 else "ranks tokenizers contrary to"
        kinds.setdefault(kind, []).append(correlation)
    return "; it ".join(f"{kind} {names.with_intervals(some, do=kind == _AS)}" for kind, some in kinds.items())
