"""``validity.csv``: the rank correlation of every metric with every model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tokbench.plugin import ReporterSpec, csv_text
from tokbench.studies.validity.block import VALIDITY

if TYPE_CHECKING:
    from tokbench.plugin import Results

VALIDITY_COLUMNS = (
    "corpus", "family", "class", "metric", "model", "tokenizers", "rho", "ci_low", "ci_high", "fixed_low", "fixed_high",
    "tau", "tau_low", "tau_high", "reason", "hypothesis",
)  # fmt: skip


def validity_csv(results: Results) -> str:
    """Return the rank correlation of every metric with every model, by class of tokenizers."""
    rows = (
        [
            *(study.corpus, study.family, group.name),
            *(getattr(correlation, name) for name in VALIDITY_COLUMNS[3:-1]),
            str((group.name, correlation.metric, correlation.model) in claimed).lower(),
        ]
        for study in (results.studies.get(VALIDITY) or [])
        for claimed in [
            {(hypothesis.tokenizer_class, hypothesis.metric, hypothesis.model) for hypothesis in study.hypotheses}
        ]
        for group in study.classes
        for correlation in group.correlations
    )
    return csv_text(VALIDITY_COLUMNS, rows)


SPEC: Final = ReporterSpec(
    name="validity",
    filename="validity.csv",
    render=validity_csv,
    summary="rank correlations of metrics with bits per byte, in one tidy table",
)
