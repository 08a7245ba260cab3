"""The table of the study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tokbench.plugin.report import ReporterSpec, csv_text
from tokbench_models.validity.block import VALIDITY, Validity, ValidityClass

if TYPE_CHECKING:
    from tokbench.plugin.report import Results

VALIDITY_COLUMNS = (
    "corpus", "family", "class", "metric", "model", "tokenizers", "rho", "ci_low", "ci_high",
    "reason", "hypothesis", "tokens_per_id", "left_out", "source",
)  # fmt: skip
_OF_CORRELATION: Final = VALIDITY_COLUMNS[3:10]


def validity_csv(results: Results) -> str:
    """Return every rank correlation."""
    rows = (
        [
            *(study.corpus, study.family, group.name),
            *(getattr(correlation, name) for name in _OF_CORRELATION),
            str((group.name, correlation.metric, correlation.model) in claimed).lower(),
            *(_fewest_tokens(study, group), " ".join(group.left_out), study.scores.source if study.scores else ""),
        ]
        for study in (results.studies.get(VALIDITY) or [])
        for claimed in [
            {(hypothesis.tokenizer_class, hypothesis.metric, hypothesis.model) for hypothesis in study.hypotheses}
        ]
        for group in study.classes
        for correlation in group.correlations
    )
    return csv_text(VALIDITY_COLUMNS, rows)


def _fewest_tokens(study: Validity, group: ValidityClass) -> float | None:
    known = [study.trained_ids[name].tokens_per_id for name in group.tokenizers if name in study.trained_ids]
    return min(known, default=None)


SPEC: Final = ReporterSpec(
    name="validity",
    filename="validity.csv",
    render=validity_csv,
    needs="validity",
    summary="rank correlations of metrics with bits per byte, in one tidy table",
)
