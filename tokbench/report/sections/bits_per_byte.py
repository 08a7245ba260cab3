"""The section on bits per byte: small models by tokenizer, as a chart, a table, and verdicts on every two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tokbench.report.cells import Series, legends
from tokbench.report.charts.line_profile import ProfileLine, line_profile
from tokbench.report.charts.size_curve import size_key
from tokbench.report.charts.svg import Drawing
from tokbench.report.tables import CellTables
from tokbench.results.bits_per_byte import BitsComparison, BitsPerByte, ModelTraining

_WORDS: Final = {"level": "=", "depends": "depends", "unknown": "unknown"}
_BETTER: Final = "less is better"
BEST_AT_END: Final = "the best one lies at an end of those that were tried, so a better one may lie beyond"
_MOST_SENTENCES: Final = 5
"""Of more tokenizers that are worse than others, only those are named that no other beats; the table has the rest."""

_DRAWN: Final = 2
"""Models that a line needs."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on two tokenizers, seen from the first.

    Attributes:
        text: a word for a table.
        title: the sentence with all differences.
        decided: ``True`` if one of the two is better.
    """

    text: str
    title: str
    decided: bool


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """A row of the table that tells how the models of each tokenizer were trained.

    Attributes:
        name: the tokenizer.
        cells: the texts below :data:`TRAINING_COLUMNS`.
        rates: bits per byte by learning rate on a tenth of the text, in a sentence; empty if the rate was given.
    """

    name: str
    cells: Sequence[str]
    rates: str


TRAINING_COLUMNS: Final = (
    *("learning rate", "parameters", "tokens of a window", "10⁹ operations", "bits per byte of each seed"),
    *("seconds of all seeds", "memory, MB"),
)

NGRAM_COLUMN: Final = "n-grams of the same text, best order"


@dataclass(frozen=True, slots=True)
class BitsSection:
    """The bits per byte of one corpus.

    Attributes:
        study: the texts and the comparisons.
        charts: bits per byte under all models, and of those that decide what each tokenizer needs beyond the mean of
            all, without baselines; none without a tokenizer that has numbers.
        keys: the names of the lines, each with its stroke.
        columns: the metrics, simplest model first.
        rows: block and tokenizers, those that may be compared together.
        sentence: the verdicts in short.
        names: the tokenizers that stand in a comparison, in the order of the blocks.
        matrix: by row and column, the tokenizer of the row beside that of the column; ``None`` where they are not
            compared.
        legends: the meaning of the marks.
        trainings: how the models of each tokenizer were trained; empty for n-grams.
        training_columns: the heads of that table.
    """

    study: BitsPerByte
    charts: Sequence[Drawing]
    keys: Sequence[tuple[str, Drawing]]
    columns: Sequence[Series]
    rows: Sequence[tuple[str, Sequence[str]]]
    sentence: str
    names: Sequence[str]
    matrix: Sequence[Sequence[Judgement | None]]
    legends: Sequence[str]
    trainings: Sequence[TrainingRow]
    training_columns: Sequence[str]

    @property
    def depends(self) -> str:
        """The words for a verdict on which the models disagree."""
        return depends(self.study)

    @property
    def explanation(self) -> str:
        """The text before the chart."""
        study = self.study
        source = "the same corpus" if study.train == study.corpus else study.train
        words = study.words
        model = words.model if words else "a small language model"
        errors = words.errors if words else "take documents and training text into account together"
        return (
            f"Bits that a byte costs {model}, which learned from {study.training_documents:,} documents "
            f"of {source} ({study.training_bytes / 1e6:.2f} MB) as each tokenizer cuts them, and predicts "
            f"{study.scored_documents:,} others ({study.scored_bytes / 1e6:.2f} MB). Left out as near-duplicates: "
            f"{study.training_duplicates:,} and {study.scored_duplicates:,} documents. One tokenizer is called better "
            f"than another only if {listed(self._deciding)} all say so, by {study.least:g} bits or more and beyond "
            f"two standard errors (more, by Student's t, where an error rests on few numbers). The errors {errors}."
        )

    @property
    def _deciding(self) -> list[str]:
        names = dict(zip(self.study.metrics, self.study.models, strict=True))
        return [names[metric] for metric in self.study.deciding]

    @property
    def limits(self) -> str:
        """The text about what the numbers do not show."""
        if self.study.words:
            return self.study.words.limits
        return (
            "What this does not show: no order is neutral about the size of a vocabulary. A model of low order sees "
            "more text through large tokens. A model of high order finds large tokens too rare. So the best size moves "
            "with the order. These models have no weights and learn from little text; a neural model may rank "
            "tokenizers otherwise. "
            "The text on which a published vocabulary was trained is unknown and may hold what is scored here, so "
            "published vocabularies are compared with one another alone."
        )


def bits_per_byte(tables: CellTables, study: BitsPerByte, others: Sequence[BitsPerByte] = ()) -> BitsSection:
    """Return the section of one corpus.

    Args:
        tables: the cells of the run.
        study: the texts and the comparisons.
        others: all studies of the run; trained models stand beside n-grams of the same text.
    """
    columns = [tables.series(metric, study.corpus) for metric in study.metrics]
    blocks: dict[str, list[str]] = {}
    for name, block in study.blocks.items():
        blocks.setdefault(block, []).append(name)
    shown = [name for names in blocks.values() for name in names]
    absent = [name for name, cell in columns[0].cells.items() if name not in study.blocks and not cell.unbound]
    rows = [*blocks.items(), *([("no number", absent)] if absent else [])]
    found = {frozenset((each.tokenizer, each.other)): each for each in study.comparisons}
    compared = [name for name in shown if any(name in pair for pair in found)]
    styles, charts = _amounts(study, shown) if study.trainings else _charts(tables, study, columns, shown)
    trainings = [_training(name, study.trainings[name]) for name in shown if name in study.trainings]
    beside = next((each for each in others if not each.trainings and _same_text(each, study)), None)
    if beside is not None:
        best = _best_models(tables, beside, [row.name for row in trainings])
        trainings = [replace(row, cells=[*row.cells, best[row.name]]) for row in trainings]
    return BitsSection(
        study=study,
        charts=charts,
        keys=[(name, size_key(number)) for name, number in styles.items()],
        columns=columns,
        rows=rows,
        sentence=summary(study),
        names=compared,
        matrix=[[_judgement(study, found.get(frozenset((one, two))), one) for two in compared] for one in compared],
        legends=legends(column.cells[name] for column in columns for name in [*shown, *absent]),
        trainings=trainings,
        training_columns=[*TRAINING_COLUMNS, *([NGRAM_COLUMN] if beside is not None else [])],
    )


def _same_text(one: BitsPerByte, other: BitsPerByte) -> bool:
    """Tell whether two studies learned from the same bytes and scored the same documents."""
    texts = [
        (each.corpus, each.train, each.training_bytes, each.scored_documents, each.scored_bytes)
        for each in (one, other)
    ]
    return texts[0] == texts[1]


def _best_models(tables: CellTables, study: BitsPerByte, names: Sequence[str]) -> dict[str, str]:
    """Return by tokenizer the fewest bits per byte of the models of a study, and the model that needs them."""
    columns = [tables.series(metric, study.corpus) for metric in study.metrics]
    found = {}
    for name in names:
        values = [column.cells[name].value for column in columns]
        known = [(value, model) for value, model in zip(values, study.models, strict=True) if value is not None]
        found[name] = "{:.3f}, {}".format(*min(known)) if known else ""
    return found


def _training(name: str, training: ModelTraining) -> TrainingRow:
    return TrainingRow(
        name,
        [
            f"{training.learning_rate:g}",
            f"{training.parameters:,}",
            f"{training.window:,}",
            f"{training.amounts[-1].flops / 1e9:,.0f}",
            ", ".join(f"{bits:.3f}" for bits in training.seeds),
            f"{training.seconds:,.0f}",
            f"{training.memory / 1e6:,.0f}",
        ],
        tried_rates(training.learning_rate, training.rates),
    )


def lies_at_end(chosen: float, tried: Mapping[str, float]) -> bool:
    """Tell whether a learning rate is the lowest or the highest of those that were tried.

    >>> lies_at_end(0.01, {"0.01": 2.1, "0.02": 2.2}), lies_at_end(0.01, {})
    (True, False)
    """
    rates = [float(rate) for rate in tried]
    return bool(rates) and chosen in (min(rates), max(rates))


def tried_rates(chosen: float, tried: Mapping[str, float]) -> str:
    """Return the search for a learning rate in words; empty if one was given.

    Args:
        chosen: the learning rate that was taken.
        tried: by learning rate, bits per byte on a tenth of the text.

    >>> print(tried_rates(0.02, {"0.01": 2.1, "0.02": 2.0, "0.04": 2.2}))
    bits per byte by learning rate, on a tenth of the text: 0.01: 2.100, 0.02: 2.000, 0.04: 2.200
    >>> tried_rates(0.01, {"0.01": 2.1, "0.02": 2.2}).partition("; ")[2]
    'the best one lies at an end of those that were tried, so a better one may lie beyond'
    """
    if not tried:
        return ""
    found = ", ".join(f"{rate}: {bits:.3f}" for rate, bits in tried.items())
    beyond = f"; {BEST_AT_END}" if lies_at_end(chosen, tried) else ""
    return f"bits per byte by learning rate, on a tenth of the text: {found}{beyond}"


def _amounts(study: BitsPerByte, names: Sequence[str]) -> tuple[dict[str, int], list[Drawing]]:
    """Return by tokenizer the number of its colour and dashes, and the chart of bits per byte over amounts of text."""
    most = max(len(each.amounts) for each in study.trainings.values())
    lines = {name: study.trainings[name].amounts for name in names if len(study.trainings[name].amounts) == most}
    styles = {name: number for number, name in enumerate(lines)}
    if most < _DRAWN:
        return {}, []
    places = [f"{each.n_bytes / 1e6:.2g} MB" for each in next(iter(lines.values()))]
    drawn = [
        ProfileLine(
            name,
            styles[name],
            [each.bits_per_byte for each in line],
            [f"{each.bits_per_byte:.3f}" + (f" ± {each.error:.3f}" if each.error else "") for each in line],
        )
        for name, line in lines.items()
    ]
    title = f"Bits per byte on {study.corpus} by amount of training text"
    return styles, [line_profile(title, places, drawn, upright=f"bits per byte; {_BETTER}")]


def _charts(
    tables: CellTables, study: BitsPerByte, columns: Sequence[Series], names: Sequence[str]
) -> tuple[dict[str, int], list[Drawing]]:
    """Return by tokenizer the number of its colour and dashes, and the charts."""
    values = {name: [column.cells[name].value for column in columns] for name in names}
    lines = {
        name: known for name, line in values.items() if len(known := [x for x in line if x is not None]) == len(line)
    }
    styles = {name: number for number, name in enumerate(lines)}
    if not lines or len(columns) < _DRAWN:
        return {}, []
    title = f"Bits per byte on {study.corpus}"
    drawn = [
        ProfileLine(name, styles[name], line, [_with_interval(column, name) for column in columns])
        for name, line in lines.items()
    ]
    charts = [line_profile(title, study.models, drawn, upright=f"bits per byte; {_BETTER}")]
    near = [study.metrics.index(metric) for metric in study.deciding]
    learned = [name for name in lines if not tables.tokenizer(name).baseline]
    if len(near) >= _DRAWN and len(learned) > 1:
        means = [sum(lines[name][k] for name in learned) / len(learned) for k in near]
        beyond = {name: [lines[name][k] - mean for k, mean in zip(near, means, strict=True)] for name in learned}
        drawn = [
            ProfileLine(name, styles[name], line, [f"{value:+.3f}" for value in line]) for name, line in beyond.items()
        ]
        models = [study.models[k] for k in near]
        upright = f"bits per byte beyond the mean; {_BETTER}"
        charts.append(line_profile(f"{title} beyond the mean", models, drawn, upright=upright))
    return styles, charts


def _with_interval(column: Series, name: str) -> str:
    cell = column.cells[name]
    return f"{cell.text}{cell.marks}" + (f" ({cell.interval})" if cell.interval else "")


def depends(study: BitsPerByte) -> str:
    """Return the words for a verdict on which the models disagree."""
    return f"depends on the {study.words.depends if study.words else 'order'}"


def summary(study: BitsPerByte) -> str:
    """Return in a few sentences what the comparisons say.

    >>> def pair(one, other, verdict):
    ...     return BitsComparison(tokenizer=one, other=other, differences=[], errors=[], verdict=verdict)
    >>> study = BitsPerByte(corpus="c", train="c", family="f", metrics=[], models=[], deciding=[], least=0.02,
    ...     comparisons=[pair("a", "b", "better"), pair("d", "b", "better"), pair("a", "d", "depends")])
    >>> summary(study)
    'a and d are better than b. Of 3 comparisons, 2 name the better one, 0 find no difference, 1 depends on the order.'
    >>> summary(replace(study, comparisons=[pair("a", "b", "unknown")])).rpartition(". ")[2]
    '1 rests on too few or too uneven documents to say anything.'

    Of many, only those are named that no other beats:

    >>> names = "abcdefg"
    >>> study = replace(study, blocks=dict.fromkeys(names, "one"), comparisons=[
    ...     pair(one, other, "better") for k, one in enumerate(names) for other in names[k + 1 :]])
    >>> summary(study).partition(". ")[0]
    'No tokenizer is found better than this one: a'
    """
    counts = Counter(each.verdict for each in study.comparisons)
    if not study.comparisons:
        return "No two tokenizers may be compared: they were trained on different texts, or on the text that is scored."
    better: dict[str, list[str]] = {}
    for each in study.comparisons:
        if each.verdict == "better":
            better.setdefault(each.other, []).append(each.tokenizer)
    sentences = [
        f"{listed(names)} {'is' if len(names) == 1 else 'are'} better than {other}." for other, names in better.items()
    ]
    if len(sentences) > _MOST_SENTENCES:
        compared = dict.fromkeys(name for each in study.comparisons for name in (each.tokenizer, each.other))
        unbeaten = [name for name in study.blocks if name in compared and name not in better]
        others = "any of these" if len(unbeaten) > 1 else "this one"
        sentences = [f"No tokenizer is found better than {others}: {listed(unbeaten)}."] if unbeaten else []
    sentences.append(
        f"Of {len(study.comparisons):,} comparisons, {counts['better']:,} name the better one, "
        f"{counts['level']:,} find no difference, {counts['depends']:,} "
        f"{depends(study) if counts['depends'] == 1 else depends(study).replace('depends', 'depend', 1)}."
    )
    if counts["unknown"]:
        rest = "rests" if counts["unknown"] == 1 else "rest"
        sentences.append(f"{counts['unknown']:,} {rest} on too few or too uneven documents to say anything.")
    return " ".join(sentences)


def listed(names: Sequence[str]) -> str:
    """Return one name or more as a sentence has them.

    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b and c', 'a')
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _judgement(study: BitsPerByte, pair: BitsComparison | None, one: str) -> Judgement | None:
    if pair is None:
        return None
    text = _WORDS.get(pair.verdict) or ("better" if pair.tokenizer == one else "worse")
    return Judgement(text, f"{sentence(study, pair)}: {_differences(study, pair)}", pair.verdict == "better")


def sentence(study: BitsPerByte, pair: BitsComparison) -> str:
    """Return a verdict in words.

    >>> study = BitsPerByte(corpus="c", train="c", family="f", metrics=[], models=[], deciding=[], least=0.02)
    >>> pair = BitsComparison(tokenizer="a", other="b", differences=[-0.1], errors=[0.01], verdict="depends")
    >>> sentence(study, pair)
    'a or b: which is better depends on the order'
    """
    one, other = pair.tokenizer, pair.other
    if pair.verdict == "better":
        return f"{one} is better than {other}"
    if pair.verdict == "level":
        return f"{one} and {other} cannot be told apart"
    if pair.verdict == "unknown":
        return f"{one} and {other}: too few or too uneven documents"
    return f"{one} or {other}: which is better {depends(study)}"


def _differences(study: BitsPerByte, pair: BitsComparison) -> str:
    """Return bits per byte of the first tokenizer less those of the second, by model."""
    found = zip(study.models, pair.differences, pair.errors, strict=True)
    return "; ".join(
        f"{model} {difference:+.3f}" + (f" ± {error:.3f}" if error is not None else "")
        for model, difference, error in found
    )
