"""The section on validity: which metrics rank tokenizers as bits per byte do, in hypotheses, sentences and a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from tokbench.report.charts.heat import LEVELS
from tokbench.report.charts.rank_scatter import RankPoint, rank_scatter
from tokbench.report.charts.svg import Drawing
from tokbench.report.sections.bits_per_byte import listed
from tokbench.report.tables import CellTables
from tokbench.results.bits_per_byte import BITS_PER_BYTE
from tokbench.results.cells import WHOLE
from tokbench.results.validity import HypothesisOutcome, RankCorrelation, RankDifference, Validity, ValidityClass

CLAIMED: Final = "H"
"""The mark of a correlation that stands in a hypothesis."""

_EXPLORATORY: Final = " (exploratory)"
_AS: Final = "ranks tokenizers as"
_MOST_CHARTS: Final = 12


@dataclass(frozen=True, slots=True)
class CorrelationView:
    """A correlation as a table shows it.

    Attributes:
        text: rho in two digits, or a dash.
        interval: its 95 % interval, or an empty string.
        title: everything behind it, or the reason why there is none.
        level: the strength of its colour; ``None`` for no colour, because chance explains it.
        value: rho; ``None`` without one.
    """

    text: str
    interval: str
    title: str
    level: int | None
    value: float | None


@dataclass(frozen=True, slots=True)
class HypothesisView:
    """A hypothesis as a row of text: metric, model, class, claim, value, corrected p, outcome, source or reason."""

    fields: Sequence[str]


@dataclass(frozen=True, slots=True)
class ClassView:
    """A class of tokenizers.

    Attributes:
        name: the class.
        tokenizers: its tokenizers.
        rows: metrics with their correlations by model.
        without: a sentence on the metrics that have no correlation, or on the class that has none.
    """

    name: str
    tokenizers: Sequence[str]
    rows: Sequence[tuple[str, Sequence[CorrelationView]]]
    without: str


@dataclass(frozen=True, slots=True)
class ValiditySection:
    """The study of one corpus and family of models.

    Attributes:
        study: the study.
        models: the names of the models, simplest first.
        sentences: the findings of the first class, each with its interval.
        further: those of the other classes.
        hypotheses: the hypotheses with their outcomes.
        classes: the correlations by class.
        charts: a metric against bits per byte, those of the hypotheses first.
    """

    study: Validity
    models: Sequence[str]
    sentences: Sequence[str]
    further: Sequence[str]
    hypotheses: Sequence[HypothesisView]
    classes: Sequence[ClassView]
    charts: Sequence[Drawing]

    @property
    def columns(self) -> Sequence[str]:
        """The heads of the table of hypotheses."""
        return ("metric", "bits of", "class", "claim", "rho or difference", "p, Holm", "outcome", "source, or reason")

    @property
    def explanation(self) -> str:
        """The text before the tables."""
        drawn = "documents, training text" if self.study.trained else "documents"
        return (
            "Spearman's rho of a metric with the bits per byte of models, over tokenizers that may be compared. It is "
            "positive if the tokenizers that are better by the metric need fewer bits. For a metric of which neither "
            "direction is better, it is positive if larger numbers go with more bits. Intervals are of 95 %. They take "
            f"into account that other {drawn} ({self.study.draws:,} draws) and other tokenizers (Bonett and Wright "
            "2000) would give other numbers. The tooltip and validity.csv have the narrower interval for these "
            "tokenizers alone, and Kendall's tau. The p-values of hypotheses are corrected for their number (Holm); "
            "the intervals of sentences and tables are not."
        )

    @property
    def limits(self) -> str:
        """The text about what the numbers do not show."""
        return (
            "What this does not show: a correlation over these tokenizers, this text and these small models is not a "
            "law. The tokenizers are not a random sample. A class that mixes sizes and algorithms may have a "
            "correlation that neither its sizes nor its algorithms have alone. The values of metrics are taken as "
            "exact, as they were measured on the whole evaluated text, of which the scored documents are a part. Noise "
            "in the bits lowers a correlation, and this is not corrected. A correlation that stands in no hypothesis "
            "is exploratory: by chance alone, one interval in twenty leaves 0 out. Models that learn longer may rank "
            "tokenizers otherwise, and so may tasks instead of bits."
        )


def validity(tables: CellTables, study: Validity) -> ValiditySection:
    """Return the section of one study."""
    names = {model: tables.label(model) for model in study.models}
    whose = ""
    for bits in tables.results.studies.get(BITS_PER_BYTE) or []:
        if (bits.corpus, bits.family) == (study.corpus, study.family):
            names = dict(zip(bits.metrics, bits.models, strict=True))
            whose = bits.words.model if bits.words else ""
    claimed = {(each.tokenizer_class, each.metric, each.model) for each in study.hypotheses}
    words = _Words(tables, names, whose)
    return ValiditySection(
        study=study,
        models=[names[model] for model in study.models],
        sentences=list(_sentences(study, study.classes[:1], words)),
        further=list(_sentences(study, study.classes[1:], words)),
        hypotheses=[_hypothesis(each, words) for each in study.hypotheses],
        classes=[_class_view(study, each, words, claimed) for each in study.classes],
        charts=list(_charts(tables, study, words)),
    )


@dataclass(frozen=True, slots=True)
class _Words:
    """The names of metrics and of models.

    Attributes:
        tables: has the names of metrics.
        models: by metric of bits per byte, the name of its model.
        whose: the model whose bits are meant, where ``models`` names its budgets; empty where each is another model.
    """

    tables: CellTables
    models: dict[str, str]
    whose: str = ""

    def model(self, name: str) -> str:
        """Return a model in a sentence, such as "order 3", or "a small transformer at equal text"."""
        return f"{self.whose} at {self.models[name]}" if self.whose else self.models[name]

    def each(self, found: Sequence[RankCorrelation], *, do: bool) -> str:
        """Return the models of some correlations in a sentence, each with its interval.

        Args:
            found: the correlations of one metric.
            do: ``True`` for "order 3 does", where the sentence compares what it does.
        """
        numbers = listed([f"{self.models[each.model]} ({_with_interval(each)})" for each in found])
        if self.whose:
            return f"{self.whose}{' does' * do} at {numbers}"
        return numbers + (" does" if len(found) == 1 else " do") * do

    def metric(self, name: str) -> str:
        return self.models.get(name) or self.tables.label(name)


def signed(value: float) -> str:
    """Return a correlation in two digits, without the zero before the point.

    >>> signed(0.934), signed(-0.5), signed(1.0), signed(-0.001)
    ('.93', '-.50', '1.00', '.00')
    """
    text = f"{abs(value):.2f}"
    return ("-" if value < 0 and text != "0.00" else "") + text.removeprefix("0")


def _between(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"[{signed(low)}, {signed(high)}]"


def _with_interval(each: RankCorrelation | RankDifference) -> str:
    value = each.rho if isinstance(each, RankCorrelation) else each.difference
    return f"{signed(value or 0.0)} {_between(each.ci_low, each.ci_high)}"


def _hypothesis(each: HypothesisOutcome, words: _Words) -> HypothesisView:
    value = "none" if each.value is None else f"{signed(each.value)} {_between(each.ci_low, each.ci_high)}"
    p = "" if each.p_holm is None else f"{each.p_holm:.2g}"
    claim = f"rho larger than that of {words.metric(each.other)}" if each.other else f"rho {each.claim}"
    fields = (words.metric(each.metric), words.metric(each.model), each.tokenizer_class, claim, value, p)
    return HypothesisView((*fields, each.verdict, each.reason or each.source))


def _class_view(study: Validity, each: ValidityClass, words: _Words, claimed: set[tuple[str, str, str]]) -> ClassView:
    found = {(c.metric, c.model): c for c in each.correlations}
    rows = []
    absent: dict[str, list[str]] = {}
    for metric in study.metrics:
        cells = [found.get((metric, model)) for model in study.models]
        reasons = {cell.reason for cell in cells if cell}
        if len(reasons) == 1 and "" not in reasons:
            absent.setdefault(reasons.pop(), []).append(words.metric(metric))
        elif cells and any(cells):
            marks = [(each.name, metric, model) in claimed for model in study.models]
            views = [_correlation(cell, claim=mark) for cell, mark in zip(cells, marks, strict=True)]
            rows.append((words.metric(metric), views))
    without = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in absent.items())
    return ClassView(each.name, each.tokenizers, rows, each.reason or (without and f"No correlation of {without}"))


def _correlation(each: RankCorrelation | None, *, claim: bool) -> CorrelationView:
    if each is None:
        return CorrelationView("", "", "the same model", None, None)
    if each.rho is None:
        return CorrelationView("–", "", each.reason, None, None)
    title = (
        f"{'in a hypothesis' if claim else 'exploratory'}; {each.tokenizers} tokenizers; for these tokenizers alone "
        f"{_between(each.fixed_low, each.fixed_high)}; tau {signed(each.tau or 0.0)} "
        f"{_between(each.tau_low, each.tau_high)}"
    )
    level = min(int(abs(each.rho) * LEVELS), LEVELS - 1) if _apart(each) else None
    text = signed(each.rho) + f" {CLAIMED}" * claim
    return CorrelationView(text, _between(each.ci_low, each.ci_high), title, level, each.rho)


def _apart(each: RankCorrelation | RankDifference) -> bool:
    """Tell whether the interval does not hold 0."""
    return (each.ci_low or 0.0) > 0 or (each.ci_high or 0.0) < 0


def _sentences(study: Validity, classes: Sequence[ValidityClass], words: _Words) -> Iterable[str]:
    """Yield the findings on the metrics of the hypotheses, then the strongest that was found besides."""
    named = list(dict.fromkeys(each.metric for each in study.hypotheses))
    claimed = {(each.tokenizer_class, each.metric) for each in study.hypotheses}
    for each in classes:
        if each.reason:
            continue
        over = f"Over {len(each.tokenizers)} tokenizers ({each.name})"
        for metric in named:
            found = [c for c in each.correlations if c.metric == metric and c.model in study.deciding]
            if said := _said([c for c in found if c.rho is not None], words):
                yield f"{over}, {words.metric(metric)} {said}{_EXPLORATORY * ((each.name, metric) not in claimed)}."
        others = [c for c in each.correlations if c.metric not in {*named, *study.models} and c.model in study.deciding]
        strongest = max((c for c in others if c.rho is not None), key=lambda c: abs(c.rho or 0.0), default=None)
        if strongest and named and _apart(strongest):
            yield (
                f"{over}, the strongest of {len({c.metric for c in others})} other metrics is "
                f"{words.metric(strongest.metric)} with {words.model(strongest.model)}: rho = "
                f"{_with_interval(strongest)} (exploratory: picked because it is the strongest)."
            )
        yield from _compared(study, each, over, words)


def _said(found: Sequence[RankCorrelation], words: _Words) -> str:
    """Return what one metric says about each model.

    >>> c = RankCorrelation(metric="m", model="b", tokenizers=9, rho=0.1, ci_low=-0.5, ci_high=0.6)
    >>> from tokbench.results.model import Results
    >>> _said([c], _Words(CellTables(Results(name="r")), {"b": "order 3"}))
    'shows no relation beyond chance with order 3 (.10 [-.50, .60])'
    >>> from dataclasses import replace
    >>> some = [replace(c, model=model, ci_low=0.05) for model in "bc"]
    >>> _said(some, _Words(CellTables(Results(name="r")), {"b": "order 3", "c": "order 4"}))
    'ranks tokenizers as order 3 (.10 [.05, .60]) and order 4 (.10 [.05, .60]) do'
    >>> _said(some, _Words(CellTables(Results(name="r")), {"b": "equal text", "c": "equal computing"}, "a transformer"))
    'ranks tokenizers as a transformer does at equal text (.10 [.05, .60]) and equal computing (.10 [.05, .60])'
    """
    kinds: dict[str, list[RankCorrelation]] = {}
    for each in found:
        kind = "shows no relation beyond chance with"
        if _apart(each):
            kind = _AS if (each.rho or 0.0) > 0 else "ranks tokenizers contrary to"
        kinds.setdefault(kind, []).append(each)
    return "; it ".join(f"{kind} {words.each(some, do=kind == _AS)}" for kind, some in kinds.items())


def _compared(study: Validity, each: ValidityClass, over: str, words: _Words) -> Iterable[str]:
    """Yield the comparisons of two metrics that chance does not explain, and how many there are of the others.

    One model's bits nearly always agree with those of another more than a metric does, so models count as metrics only
    in hypotheses.
    """
    claims = {(h.tokenizer_class, frozenset((h.metric, h.other)), h.model) for h in study.hypotheses}

    def claimed(found: RankDifference) -> bool:
        return (each.name, frozenset((found.metric, found.other)), found.model) in claims

    shown = [found for found in each.differences if claimed(found) or not {found.metric, found.other} & {*study.models}]
    apart = [found for found in shown if _apart(found)]
    for found in apart:
        one, other = (found.metric, found.other) if found.difference > 0 else (found.other, found.metric)
        ends = sorted((abs(found.ci_low), abs(found.ci_high)))
        yield (
            f"{over}, {words.metric(one)} agrees with {words.model(found.model)} more than {words.metric(other)} "
            f"does: by {signed(abs(found.difference))} [{signed(ends[0])}, {signed(ends[1])}]"
            f"{_EXPLORATORY * (not claimed(found))}."
        )
    if len(apart) < len(shown):
        yield f"{over}, chance explains {len(shown) - len(apart)} of {len(shown)} comparisons of two metrics."


def _charts(tables: CellTables, study: Validity, words: _Words) -> Iterable[Drawing]:
    """Yield the charts of the hypotheses, then the strongest and the weakest correlation that was found besides."""
    chosen = [(each.tokenizer_class, each.metric, each.model) for each in study.hypotheses if each.value is not None]
    for each in study.classes[:1]:
        known = [c for c in each.correlations if c.rho is not None and c.model in study.deciding]
        others = sorted((c for c in known if c.metric not in study.models), key=lambda c: -abs(c.rho or 0.0))
        ends = [others[0], others[-1]] if others else []
        chosen = [*chosen[: _MOST_CHARTS - 2], *((each.name, c.metric, c.model) for c in ends)]
    by_class = {each.name: each for each in study.classes}
    for name, metric, model in dict.fromkeys(chosen):
        members = by_class[name].tokenizers
        points = []
        for one in members:
            x, y = (tables.cell(each, study.corpus, WHOLE, one) for each in (metric, model))
            if x and y and x.value is not None and y.value is not None:
                points.append(RankPoint(one, x.value, y.value))
        [found] = [c for c in by_class[name].correlations if (c.metric, c.model) == (metric, model)]
        if points:
            heading = f"{words.metric(model)}: rho {_with_interval(found)}"
            below = f"{words.metric(metric)}, {name}"
            title = f"{below}, against bits per byte of {heading}; the numbers are in the tables"
            yield rank_scatter(title, heading, points, below)
