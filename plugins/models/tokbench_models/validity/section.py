"""The section on validity: hypotheses, sentences and tables."""

from __future__ import annotations

from typing import Final

from tokbench.plugin.report import (
    Bullets,
    CellTables,
    Column,
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
from tokbench.report.document import Chooser, Details, Pane
from tokbench_models.language_models.verdicts import listed
from tokbench_models.validity.block import (
    VALIDITY,
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
)

_CLAIMED: Final = "H"
_HYPOTHESIS_COLUMNS: Final = (
    *(Column("class"), Column("claim")),
    *(Column("rho or difference", numeric=True), Column("p, Holm", numeric=True)),
    *(Column("outcome"), Column("source, or reason")),
)
_LIMITS: Final = (
    "What this does not show: a correlation over these tokenizers, this text and these small models is not a law. The "
    "tokenizers are not a random sample. A class that mixes sizes and algorithms may have a correlation that neither "
    "its sizes nor its algorithms have alone. The values of metrics are taken as exact, as they were measured on the "
    "whole evaluated text, of which the scored documents are a part. Noise in the bits lowers a correlation, and this "
    "is not corrected. A correlation outside the hypotheses is exploratory: by chance alone, one interval in twenty "
    "leaves 0 out. Models that learn longer may rank tokenizers otherwise, and so may tasks instead of bits."
)
_SCORES_LIMITS: Final = (
    "What this does not show: the scores were not measured here, and nothing here checks them. A correlation over "
    "these tokenizers is not a law, and they are not a random sample. If the models of two tokenizers differ in more "
    "than the tokenizer, such as in size or in training text, their scores differ for that reason, too. The metrics "
    "come from this corpus, which the models of the table may never have seen. A correlation outside the "
    "hypotheses is exploratory: by chance alone, one interval in twenty leaves 0 out."
)


def validity_document(tables: CellTables) -> Section | None:
    """Return the section."""
    studies = enumerate(tables.results.studies.get(VALIDITY) or [])
    nodes = [node for number, study in studies for node in _study(tables, study, number)]
    return Section("validity", "Which metrics predict model quality", nodes) if nodes else None


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
        Chooser("Class of tokenizers", f"validity-{number}", panes, key="class", packed=True),
        Paragraph(_SCORES_LIMITS if study.scores else _LIMITS, "legend"),
    ]


def _explanation(study: Validity) -> str:
    scores = study.scores
    if scores:
        source = f"Their source: {scores.source}." if scores.source else "The table names no source."
        with_what = (
            f"the scores of {scores.model}, which {scores.file} gives for {len(scores.scores)} tokenizers. {source} A "
            f"{scores.better} score is better. Rho is positive if the tokenizers that are better by the metric have "
            "better scores"
        )
        exact = all(score.low is None for score in scores.scores.values())
        drawn = "other tokenizers" if exact else "other tokenizers, and of the scores,"
    else:
        with_what = (
            "the bits per byte of models, over tokenizers that may be compared. It is positive if the tokenizers that "
            "are better by the metric need fewer bits"
        )
        text = "documents, training text" if study.trained else "documents"
        drawn = f"other {text} ({study.draws:,} draws) and other tokenizers"
    return (
        f"Spearman's rho of a metric with {with_what}; for a metric of which neither direction is better, if larger "
        f"numbers go with worse ones. Intervals are of 95%. They take into account that {drawn} would give other "
        "numbers (Bonett and Wright 2000). The p-values of hypotheses are corrected for their number (Holm); the "
        "intervals of sentences and tables are not."
    )


def _left_out(study: Validity) -> list[Node]:
    if not study.left_out:
        return []
    why = (
        f"{listed(study.left_out)} {'has' if len(study.left_out) == 1 else 'have'} fewer than "
        f"{study.least_tokens_per_id:g} training tokens an id, and a model hardly learns ids that it meets so seldom: "
        "these bits per byte reflect how little text there was, not how good the tokenizer is."
    )
    return [Paragraph(why)]


def _hypotheses(study: Validity, names: ValidityNames) -> Table:
    return Table(
        "Hypotheses of the configuration, in its order; p is corrected for their number",
        [Column("metric"), Column("target" if study.scores else "bits of"), *_HYPOTHESIS_COLUMNS],
        [_hypothesis(hypothesis, names) for hypothesis in study.hypotheses],
        label=f"Hypotheses, {study.family} on {study.corpus}",
    )


def _hypothesis(outcome: HypothesisOutcome, names: ValidityNames) -> Row:
    claim = f"rho larger than for {names.metric(outcome.other)}" if outcome.other else f"rho {outcome.claim}"
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
    )


def _correlation(rank: RankCorrelation | None, *, claimed: bool) -> TextCell:
    if rank is None:
        return TextCell(look="none", title="the same model")
    if rank.rho is None:
        return TextCell(line="–", look="none", title=rank.reason)
    title = f"{'in a hypothesis' if claimed else 'exploratory'}; {rank.tokenizers} tokenizers"
    interval = between(rank.ci_low, rank.ci_high)
    return TextCell(
        line=signed(rank.rho) + f" {_CLAIMED}" * claimed,
        small=[interval] if interval else [],
        look=f"h{min(int(abs(rank.rho) * LEVELS), LEVELS - 1)}" if lies_apart(rank) else "pale",
        title=title,
    )


SECTION: Final = SectionSpec(name="validity", place=70, build=validity_document)
