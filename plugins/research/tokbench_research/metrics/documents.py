"""The family ``documents``: a row for each document, in ``documents.csv``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.measuring.word_units import WordOptions
from tokbench.plugin import metrics

if TYPE_CHECKING:
    from tokbench.plugin.report import ReporterSpec, Results

COLUMNS: Final = (
    "tokenizer", "corpus", "group", "document", "key", "bytes", "characters", "words", "tokens", "exact",
    "word_unit",
)  # fmt: skip


class Columns(NamedTuple):
    """Numbers of documents, in order."""

    keys: list[str]
    bytes: NDArray[np.int64]
    characters: NDArray[np.int64]
    words: NDArray[np.int64]
    """0 if not counted."""
    tokens: NDArray[np.int64]
    exact: NDArray[np.int64]
    """1 for a round trip, else 0."""


class DocumentRows(NamedTuple):
    """The state of a group."""

    word_unit: str
    """Empty if not counted."""
    parts: tuple[tuple[int, Columns], ...]
    """By shard, after the number of the first document."""

    def __add__(self, other: DocumentRows) -> DocumentRows:  # type: ignore[override]
        parts = sorted(self.parts + other.parts, key=lambda part: part[0])
        return DocumentRows(self.word_unit if self.word_unit == other.word_unit else "", tuple(parts))

    def columns(self) -> Columns:
        keys = [key for _, part in self.parts for key in part.keys]
        numbers = (np.concatenate(column) for column in zip(*(part[1:] for _, part in self.parts), strict=True))
        return Columns(keys, *numbers)

    def raw(self) -> dict[str, object]:
        columns = self.columns()._asdict()
        return {"documents": len(columns["keys"]), "word_unit": self.word_unit, "rows": columns}


class DocumentTable(metrics.SummedMetric):
    """The text metric."""

    _options: WordOptions

    def map(self, encoded: metrics.EncodedShard) -> DocumentRows:
        shard = encoded.shard
        unit, words, lacking = metrics.word_counts_of(self._options, shard)
        back = encoded.exact.astype(np.int64)
        columns = Columns(shard.keys, shard.n_bytes, shard.n_chars, words, encoded.tokens, back)
        return DocumentRows("" if lacking else unit, ((shard.first, columns),))

    def finish(self, state: DocumentRows) -> Mapping[str, metrics.Measured | metrics.NotApplicable]:
        columns = state.columns()
        some = columns.tokens > 0
        if not some.any():
            return {"median_compression": metrics.NotApplicable("no document has tokens")}
        ratios = columns.bytes[some] / columns.tokens[some]
        ends = metrics.quantile_interval(ratios, 0.5)
        return {
            "median_compression": metrics.Measured(
                float(np.median(ratios)), len(ratios), ends.low, ends.high, no_interval=ends.reason
            )
        }


SPEC: Final = metrics.MetricFamily(
    name="documents",
    summary="bytes, characters, words and tokens of each document and whether it round-trips, in documents.csv",
    text=DocumentTable,
    options=WordOptions,
    values=(
        metrics.Metric("median_compression", "bytes/token", "higher", label="median document").means(
            "median over documents x of bytes of x / tokens of x",
            "Compression of the median document: long documents count no more than short ones. The interval comes "
            "from the sign test. documents.csv has every document.",
        ),
    ),
)


def _rows(results: Results) -> Iterator[list[Any]]:
    """Number the documents of a group from 1; raise a ResultsError if the run's raw states are missing or damaged."""
    for state in results.states:
        if state.family == SPEC.name:
            columns = (state.state["rows"][name] for name in Columns._fields)
            for number, (key, *numbers, back) in enumerate(zip(*columns, strict=True), 1):
                place = (state.tokenizer, state.corpus, state.group, number, key)
                yield [*place, *numbers, str(bool(back)).lower(), state.state["word_unit"]]


def documents_csv(results: Results) -> str:
    """Return a tidy table with the columns :data:`COLUMNS`."""
    from tokbench.plugin.report import csv_text

    return csv_text(COLUMNS, _rows(results))


def late_specs() -> tuple[ReporterSpec, ...]:
    """Return the table, whose module workers do not import."""
    from tokbench.plugin.report import ReporterSpec

    name, summary = SPEC.name, "a row for each tokenizer and document, in one tidy table"
    return (ReporterSpec(name=name, filename="documents.csv", render=documents_csv, summary=summary, needs=name),)
