"""``pairs.csv``: one row for every two tokenizers, corpus and group, with the difference and how sure it is."""

from __future__ import annotations

from tokbench.plugin import ReporterSpec, Results
from tokbench.report.formats.csv import table_text

COLUMNS = (
    "corpus", "group", "tokenizer", "other", "tokens", "tokens_other", "difference", "ci_low", "ci_high", "n", "p",
    "p_holm", "differ",
)  # fmt: skip


def render(results: Results) -> str:
    """Return the pairs of the results; the tokenizer with fewer tokens comes first."""
    rows = (
        [
            *(pair.corpus, pair.group, pair.tokenizer, pair.other, *pair.tokens),
            *(pair.difference, pair.ci_low, pair.ci_high, pair.n, pair.p, pair.p_holm, str(pair.differ).lower()),
        ]
        for pair in results.pairs
    )
    return table_text(COLUMNS, rows)


SPEC = ReporterSpec(
    name="pairs",
    summary="differences between every two tokenizers, in one tidy table",
    filename="pairs.csv",
    render=render,
)
