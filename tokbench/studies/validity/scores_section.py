"""The section on validity: parts on scores."""

from __future__ import annotations

from typing import Final

from tokbench.plugin import Column, Name, Node, Row, Table, TextCell
from tokbench.studies.validity.block import ExternalScore, ExternalScores

SCORES_LIMITS: Final = (
    "What this does not show: the scores were not measured here, and nothing here checks them. A correlation over "
    "these tokenizers is not a law, and they are not a random sample. If the models of two tokenizers differ in more "
    "than the tokenizer, such as in size or in training text, their scores differ for that reason, too. The metrics "
    "are those of this corpus, which the models of the table may never have seen. A correlation that stands in no "
    "hypothesis is exploratory: by chance alone, one interval in twenty leaves 0 out."
)


def scores_explanation(scores: ExternalScores) -> str:
    """Return the text before the correlations."""
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


def scores_nodes(scores: ExternalScores, corpus: str) -> list[Node]:
    """Return the table of the scores."""
    columns = [Column("tokenizer", sort="ascending"), Column("score", numeric=True), Column("interval", numeric=True)]
    rows = [
        Row([TextCell(line=name, title=name), f"{score.score:g}", _interval(score)])
        for name, score in scores.scores.items()
    ]
    rest = f" in {scores.file}; {scores.better} is better"
    label = f"Scores of {scores.model}, {corpus}"
    return [Table(["Scores of ", Name(scores.model), rest], columns, rows, label=label)]


def _interval(score: ExternalScore) -> str:
    """Return the interval of a score; empty if it has none.

    >>> _interval(ExternalScore(score=2.0, low=1.5, high=2.5)), _interval(ExternalScore(score=2.0))
    ('[1.5, 2.5]', '')
    """
    return "" if score.low is None or score.high is None else f"[{score.low:g}, {score.high:g}]"
