"""``pairs.csv``: a row for every two tokenizers, corpus and group; who needs fewer tokens, and how sure that is."""

from __future__ import annotations

import csv
import io

from tokbench.contracts.reporter import ReporterSpec
from tokbench.report.formats.csv import field
from tokbench.results.model import Results

__all__ = ["COLUMNS", "SPEC", "render"]

COLUMNS = (
    "corpus", "group", "tokenizer", "other", "tokens", "tokens_other", "difference", "ci_low", "ci_high", "n", "p",
    "p_holm", "differ",
)  # fmt: skip


def render(results: Results) -> str:
    """The pairs as :class:`~tokbench.results.model.Results` has them; the tokenizer is the one with fewer tokens."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for pair in results.pairs:
        tokens, tokens_other = pair["tokens"]
        row = {**pair, "tokens": tokens, "tokens_other": tokens_other, "differ": str(pair["differ"]).lower()}
        writer.writerow([field(row[name]) for name in COLUMNS])
    return file.getvalue()


SPEC = ReporterSpec(
    name="pairs",
    summary="differences between every two tokenizers, in one tidy table",
    filename="pairs.csv",
    render=render,
)
