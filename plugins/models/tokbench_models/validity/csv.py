"""The tables of the study."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tokbench.plugin.metrics import WHOLE
from tokbench.plugin.report import ReporterSpec, csv_text
from tokbench_models.validity.block import VALIDITY, Validity, ValidityClass

if TYPE_CHECKING:
    from tokbench.plugin.report import Results

VALIDITY_COLUMNS = (
    "corpus", "family", "class", "metric", "model", "tokenizers", "rho", "ci_low", "ci_high", "fixed_low", "fixed_high",
    "tau", "tau_low", "tau_high", "reason", "hypothesis", "tokens_per_id", "left_out", "source",
)  # fmt: skip
_OF_CORRELATION: Final = VALIDITY_COLUMNS[3:15]

TOKENIZER_COLUMNS = (
    "corpus", "family", "tokenizer", "model", "value", "ids", "training_tokens", "tokens_per_id", "never_trained",
    "training_bytes_per_token", "scored_bytes_per_token", "left_out",
)  # fmt: skip
_OF_IDS: Final = TOKENIZER_COLUMNS[5:11]


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


def validity_tokenizers_csv(results: Results) -> str:
    """Return bits per byte or scores, and training tokens."""
    return csv_text(TOKENIZER_COLUMNS, _tokenizer_rows(results))


def _tokenizer_rows(results: Results) -> Iterator[list[object]]:
    values = {(cell.corpus, cell.metric, cell.tokenizer): cell.value for cell in results.cells if cell.group == WHOLE}
    for study in results.studies.get(VALIDITY) or []:
        for name in dict.fromkeys(
            [*study.trained_ids, *(name for group in study.classes for name in group.tokenizers)]
        ):
            trained = study.trained_ids.get(name)
            ids = [getattr(trained, field) if trained else None for field in _OF_IDS]
            for model in study.models:
                score = study.scores.scores.get(name) if study.scores else None
                value = score.score if score else values.get((study.corpus, model, name))
                left_out = str(name in study.left_out).lower()
                yield [study.corpus, study.family, name, model, value, *ids, left_out]


SPEC: Final = ReporterSpec(
    name="validity",
    filename="validity.csv",
    render=validity_csv,
    summary="rank correlations of metrics with bits per byte, in one tidy table",
)
TOKENIZERS_SPEC: Final = ReporterSpec(
    name="validity_tokenizers",
    filename="validity_tokenizers.csv",
    render=validity_tokenizers_csv,
    summary="bits per byte of every tokenizer and model, with the training tokens that its ids have",
)
