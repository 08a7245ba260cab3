"""The section on validity: hypotheses, sentences and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from tokbench.plugin.metrics import WHOLE
from tokbench.plugin.report import (
    Bullets,
    CellTables,
    Column,
    Details,
    Heading,
    Name,
    Node,
    Paragraph,
    Rich,
    Row,
    Section,
    SectionSpec,
    Table,
    TextCell,
)
from tokbench.report.charts.heat import LEVELS
from tokbench.report.charts.labels import Box
from tokbench.report.charts.svg import Axis, Drawing
from tokbench.report.document import Chooser, Multiples, Pane
from tokbench.report.section import Chart
from tokbench_models.language_models.section import TRAINED_IDS_COLUMNS, trained_ids_cells
from tokbench_models.language_models.verdicts import listed
from tokbench_models.validity.block import (
    VALIDITY,
    ExternalScore,
    ExternalScores,
    HypothesisOutcome,
    RankCorrelation,
    Validity,
    ValidityClass,
)
from tokbench_models.validity.findings import (
    ValidityNames,
    between,
    findings,
    lies_apart,
    signed,
    with_interval,
)

_CLAIMED: Final = "H"
_WIDTH, _HEIGHT, _FRAME = 290, 230, Box(54.0, 22.0, 280.0, 176.0)
_ROOM: Final = 0.06
_MOST_TICKS: Final = 4
_MOST_CHARTS: Final = 12
_HYPOTHESIS_COLUMNS: Final = (
    *(Column("class"), Column("claim")),
    *(Column("rho or difference", numeric=True), Column("p, Holm", numeric=True)),
    *(Column("outcome"), Column("source, or reason")),
)
_LIMITS: Final = (
    "What this does not show: a correlation over these tokenizers, this text and these small models is not a "
    "law. The tokenizers are not a random sample. A class that mixes sizes and algorithms may have a "
    "correlation that neither its sizes nor its algorithms have alone. The values of metrics are taken as "
    "exact, as they were measured on the whole evaluated text, of which the scored documents are a part. Noise "
    "in the bits lowers a correlation, and this is not corrected. A correlation that stands in no hypothesis "
    "is exploratory: by chance alone, one interval in twenty leaves 0 out. Models that learn longer may rank "
    "tokenizers otherwise, and so may tasks instead of bits."
)
_SCORES_LIMITS: Final = (
    "What this does not show: the scores were not measured here, and nothing here checks them. A correlation over "
    "these tokenizers is not a law, and they are not a random sample. If the models of two tokenizers differ in more "
    "than the tokenizer, such as in size or in training text, their scores differ for that reason, too. The metrics "
    "are those of this corpus, which the models of the table may never have seen. A correlation that stands in no "
    "hypothesis is exploratory: by chance alone, one interval in twenty leaves 0 out."
)


def validity_document(tables: CellTables) -> Section | None:
    """Return the section."""
    studies = enumerate(tables.results.studies.get(VALIDITY) or [])
    nodes = [node for number, study in studies for node in _study(tables, study, number)]
    return Section("validity", "Which metric tells beforehand", nodes) if nodes else None


def _study(tables: CellTables, study: Validity, number: int) -> list[Node]:
    names = ValidityNames.of(tables, study)
    sentences, further = findings(study, study.classes[:1], names), findings(study, study.classes[1:], names)
    more = f"The other classes, in {len(further)} sentences"
    panes = [_pane(study, members, names) for members in study.classes]
    return [
        Heading([f"{names.models[study.models[0]] if study.scores else study.family} on ", Name(study.corpus)]),
        Paragraph(_explanation(study)),
        *([Bullets(sentences)] if sentences else []),
        *([Details(more, [Bullets(further)])] if further else []),
        *([_hypotheses(study, names)] if study.hypotheses else []),
        *_left_out(study),
        *_charts(tables, study),
        Chooser("Class of tokenizers", f"validity-{number}", panes, key="class", packed=True),
        *(_scores_nodes(study.scores, study.corpus) if study.scores else []),
        Paragraph(_SCORES_LIMITS if study.scores else _LIMITS, "legend"),
    ]


def _explanation(study: Validity) -> str:
    if study.scores:
        return _scores_explanation(study.scores)
    drawn = "documents, training text" if study.trained else "documents"
    return (
        "Spearman's rho of a metric with the bits per byte of models, over tokenizers that may be compared. It is "
        "positive if the tokenizers that are better by the metric need fewer bits. For a metric of which neither "
        "direction is better, it is positive if larger numbers go with more bits. Intervals are of 95 %. They take "
        f"into account that other {drawn} ({study.draws:,} draws) and other tokenizers (Bonett and Wright "
        "2000) would give other numbers. The tooltip and validity.csv have the narrower interval for these "
        "tokenizers alone, and Kendall's tau. The p-values of hypotheses are corrected for their number (Holm); "
        "the intervals of sentences and tables are not."
    )


def _scores_explanation(scores: ExternalScores) -> str:
    source = f" Their source: {scores.source}." if scores.source else " The table names no source."
    drawn = "" if all(score.low is None for score in scores.scores.values()) else ", and of the scores,"
    return (
        f"Spearman's rho of a metric with the scores of {scores.model}, which {scores.file} gives for "
        f"{len(scores.scores)} tokenizers.{source} A {scores.better} score is better. Rho is positive if the "
        "tokenizers that are better by the metric have better scores. For a metric of which neither direction is "
        "better, it is positive if larger numbers go with worse scores. Intervals are of 95 %. They take into account "
        f"that other tokenizers{drawn} would give other numbers (Bonett and Wright 2000). The p-values of hypotheses "
        "are corrected for their number (Holm); the intervals of sentences and tables are not."
    )


def _scores_nodes(scores: ExternalScores, corpus: str) -> list[Node]:
    columns = [Column("tokenizer", sort="ascending"), Column("score", numeric=True), Column("interval", numeric=True)]
    rows = [
        Row([TextCell(line=name, title=name), f"{score.score:g}", _score_interval(score)])
        for name, score in scores.scores.items()
    ]
    rest = f" in {scores.file}; {scores.better} is better"
    label = f"Scores of {scores.model}, {corpus}"
    return [Table(["Scores of ", Name(scores.model), rest], columns, rows, label=label)]


def _score_interval(score: ExternalScore) -> str:
    return "" if score.low is None or score.high is None else f"[{score.low:g}, {score.high:g}]"


def _left_out(study: Validity) -> list[Node]:
    if not study.left_out:
        return []
    least = f"{study.least_tokens_per_id:g} training tokens an id"
    why = (
        f"{listed(study.left_out)} {'has' if len(study.left_out) == 1 else 'have'} fewer than {least}, and a model "
        "hardly learns ids that it meets so seldom, so that these bits per byte tell how little text there was and "
        "not how good the tokenizer is."
    )
    rows = [
        Row([TextCell(line=name, title=name), *trained_ids_cells(study.trained_ids[name])]) for name in study.left_out
    ]
    columns = [Column("tokenizer"), *(Column(head, numeric=True) for head in TRAINED_IDS_COLUMNS)]
    caption = f"Fewer than {least}: not in the correlation"
    return [Paragraph(why), Table(caption, columns, rows, label=f"Left out, {study.family} on {study.corpus}")]


def _hypotheses(study: Validity, names: ValidityNames) -> Table:
    return Table(
        "Hypotheses of the configuration, in its order; p is corrected for their number",
        [Column("metric"), Column("target" if study.scores else "bits of"), *_HYPOTHESIS_COLUMNS],
        [_hypothesis(hypothesis, names) for hypothesis in study.hypotheses],
        label=f"Hypotheses, {study.family} on {study.corpus}",
    )


def _hypothesis(outcome: HypothesisOutcome, names: ValidityNames) -> Row:
    claim = f"rho larger than that of {names.metric(outcome.other)}" if outcome.other else f"rho {outcome.claim}"
    value = "none" if outcome.value is None else f"{signed(outcome.value)} {between(outcome.ci_low, outcome.ci_high)}"
    p = "" if outcome.p_holm is None else f"{outcome.p_holm:.2g}"
    place = names.metric(outcome.metric), names.metric(outcome.model), outcome.tokenizer_class
    return Row([*place, claim, value, p, outcome.verdict, outcome.reason or outcome.source], named=False)


def _pane(study: Validity, members: ValidityClass, names: ValidityNames) -> Pane:
    claimed = {(claim.metric, claim.model) for claim in study.hypotheses if claim.tokenizer_class == members.name}
    known = {(correlation.metric, correlation.model): correlation for correlation in members.correlations}
    rows: list[Row] = []
    absent: dict[str, list[str]] = {}
    for metric in study.metrics:
        name, pairs = names.metric(metric), [(metric, model) for model in study.models]
        reasons = {known[pair].reason for pair in pairs if pair in known}
        if len(reasons) == 1 and "" not in reasons:
            absent.setdefault(reasons.pop(), []).append(name)
        elif reasons:
            cells = [_correlation(known.get(pair), claimed=pair in claimed) for pair in pairs]
            rows.append(Row([TextCell(line=name, title=name), *cells]))
    without = "; ".join(f"{', '.join(metrics)}: {reason}" for reason, metrics in absent.items())
    reason = members.reason or (without and f"No correlation of {without}")
    nodes: list[Node] = [
        Rich([], plain=[Heading(f"{members.name}: {len(members.tokenizers)} tokenizers", level=4)]),
        *([_correlations(study, members, names, rows)] if rows else []),
        *([Paragraph([Name(members.name), f": {reason}."], "legend")] if reason else []),
    ]
    return Pane(members.name, nodes)


def _correlations(study: Validity, members: ValidityClass, names: ValidityNames, rows: list[Row]) -> Table:
    rest = (
        "): metrics down, models across. H: in a hypothesis; all others are exploratory. No colour: chance explains it"
    )
    return Table(
        [f"Spearman’s rho over {len(members.tokenizers)} tokenizers (", Name(members.name), rest],
        [Column("metric"), *(Column(names.models[model], numeric=True) for model in study.models)],
        rows,
        label=f"Rank correlations of {members.name}, {study.family} on {study.corpus}",
        look="heat neutral",
        tall=True,
    )


def _correlation(rank: RankCorrelation | None, *, claimed: bool) -> TextCell:
    if rank is None:
        return TextCell(look="none", title="the same model")
    if rank.rho is None:
        return TextCell(line="–", look="none", title=rank.reason)
    alone = between(rank.fixed_low, rank.fixed_high)
    title = (
        f"{'in a hypothesis' if claimed else 'exploratory'}; {rank.tokenizers} tokenizers; "
        f"{alone and f'for these tokenizers alone {alone}; '}tau {signed(rank.tau or 0.0)} "
        f"{between(rank.tau_low, rank.tau_high)}"
    )
    interval = between(rank.ci_low, rank.ci_high)
    return TextCell(
        line=signed(rank.rho) + f" {_CLAIMED}" * claimed,
        small=[interval] if interval else [],
        look=f"h{min(int(abs(rank.rho) * LEVELS), LEVELS - 1)}" if lies_apart(rank) else "pale",
        title=title,
    )


def _charts(tables: CellTables, study: Validity) -> list[Node]:
    charts = validity_charts(tables, study)
    upwards = "the score" if study.scores else "bits per byte"
    legend = (
        f"A point for each tokenizer: the metric across, {upwards} upwards. Shown are the hypotheses, and of the "
        "first class the strongest and the weakest correlation besides; validity.csv has all."
    )
    return [Rich([Multiples(charts, look="wide"), Paragraph(legend, "legend")])] if charts else []


class _Place(NamedTuple):
    members: str
    metric: str
    model: str


def validity_charts(tables: CellTables, study: Validity) -> list[Drawing]:
    """Return the charts."""
    drawings = (_chart(tables, study, place) for place in _places(study))
    return [drawing for drawing in drawings if drawing]


def _places(study: Validity) -> Iterable[_Place]:
    claims = (claim for claim in study.hypotheses if claim.value is not None)
    places = [_Place(claim.tokenizer_class, claim.metric, claim.model) for claim in claims]
    for members in study.classes[:1]:
        others = [
            correlation
            for correlation in members.correlations
            if correlation.rho is not None
            and correlation.model in study.deciding
            and correlation.metric not in study.models
        ]
        others.sort(key=lambda correlation: -abs(correlation.rho or 0.0))
        ends = [others[0], others[-1]] if others else []
        places = [
            *places[: _MOST_CHARTS - 2],
            *(_Place(members.name, correlation.metric, correlation.model) for correlation in ends),
        ]
    return dict.fromkeys(places)


def _chart(tables: CellTables, study: Validity, place: _Place) -> Drawing | None:
    [members] = [members for members in study.classes if members.name == place.members]
    [correlation] = [
        correlation
        for correlation in members.correlations
        if (correlation.metric, correlation.model) == (place.metric, place.model)
    ]
    points = []
    for name in members.tokenizers:
        x, y = _value(tables, study, place.metric, name), _target(tables, study, place.model, name)
        if x is not None and y is not None:
            points.append(RankPoint(name, x, y))
    if not points:
        return None
    names = ValidityNames.of(tables, study)
    heading = f"{names.metric(place.model)}: rho {with_interval(correlation)}"
    below = f"{names.metric(place.metric)}, {place.members}"
    against = "" if study.scores else "bits per byte of "
    title = f"{below}, against {against}{heading}; the numbers are in the tables"
    return rank_scatter(title, heading, points, below, "(score)" if study.scores else "bits per byte")


def _value(tables: CellTables, study: Validity, metric: str, name: str) -> float | None:
    cell = tables.cell(metric, study.corpus, WHOLE, name)
    return cell.value if cell else None


def _target(tables: CellTables, study: Validity, model: str, name: str) -> float | None:
    if study.scores is None:
        return _value(tables, study, model, name)
    score = study.scores.scores.get(name)
    return score.score if score else None


class RankPoint(NamedTuple):
    """A tokenizer; y is bits per byte or the score."""

    name: str
    x: float
    y: float


def rank_scatter(
    title: str, heading: str, points: Sequence[RankPoint], x_title: str, unit: str = "bits per byte"
) -> Drawing:
    """Return the chart of one or more tokenizers.

    >>> drawing = rank_scatter("t", "order 3", [RankPoint("a", 1.0, 3.0), RankPoint("b", 2.0, 2.5)], "bytes per token")
    >>> [line for line in drawing.lines if "circle" in line]
    ['<circle class="mark" cx="66.1" cy="30.2" r="3"/>', '<circle class="mark" cx="267.9" cy="167.8" r="3"/>']
    """
    x_axis = _axis([point.x for point in points], _FRAME.left, _FRAME.right)
    y_axis = _axis([point.y for point in points], _FRAME.bottom, _FRAME.top)
    drawing = Drawing(_WIDTH, _HEIGHT, title)
    ticks = x_axis.ticks()
    ticks = ticks[:: 1 + (len(ticks) - 1) // _MOST_TICKS]
    drawing.grid(_FRAME, ticks, y_axis.ticks(), titles=(x_title, ""), heading=heading)
    for point in points:
        with drawing.group("p0", f"{point.name}: {point.x:.4g}, {point.y:.3f} {unit}"):
            drawing.draw("circle", css="mark", cx=x_axis.at(point.x), cy=y_axis.at(point.y), r=3)
    return drawing


def _axis(values: Sequence[float], start: float, end: float) -> Axis:
    room = (max(values) - min(values)) * _ROOM or 0.5
    return Axis(min(values) - room, max(values) + room, start, end)


def rank_charts(tables: CellTables) -> Iterator[Chart]:
    """Yield the charts."""
    for study in tables.results.studies.get(VALIDITY) or []:
        for drawing in validity_charts(tables, study):
            yield Chart(f"validity-{study.corpus}-{study.family}", drawing)


SECTION: Final = SectionSpec(name="validity", place=70, build=validity_document, charts=rank_charts)
