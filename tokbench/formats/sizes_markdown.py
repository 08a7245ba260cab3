"""The tables in ``report.md`` of what a model costs without a tokenizer, and of measured sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokbench.plugin import byte_size, markdown_table, markdown_text

if TYPE_CHECKING:
    from tokbench.plugin import Report

_HEAD = ("it reads", "bytes/step", "parameters", "FLOPs/byte", "local", "cache/byte", "context")


def without_tokenizer(report: Report) -> list[str]:
    """Return the part on bytes and patches; no part if the run has no model."""
    section = report.vocabulary_size
    if not section:
        return []
    rows = [
        [
            reads,
            f"{row.patch:.0f}" if row.threshold is None else f"{row.patch:.2f}",
            *(f"{row.parameters:,.0f}", f"{row.flops_per_byte:,.0f}", f"{row.local_share:.1%}"),
            *(f"{row.cache_per_byte:,.0f}", byte_size(row.context_bytes)),
        ]
        for reads, row in section.without_tokenizer
    ]
    if not rows:
        return []
    caption = markdown_text(section.without_tokenizer_caption)
    return [f"### Without a tokenizer\n\n{caption}\n\n{markdown_table(_HEAD, rows, range(1, len(_HEAD)))}"]


def measured_sizes(report: Report) -> list[str]:
    """Return the part on bits per byte at several sizes; no part if none were measured."""
    section = report.vocabulary_size
    found = section.measured if section else None
    if not found:
        return []
    rows = [[markdown_text(text) for text in row] for row in found.rows]
    sentences = "".join(f"- {markdown_text(each)}\n" for each in found.sentences)
    table = markdown_table(found.head, rows, range(3, len(found.head)))
    chosen = [[markdown_text(text) for text, _ in row] for row in found.rate_rows]
    rates = markdown_table(found.rate_head, chosen, range(2, len(found.rate_head)))
    note = f" {markdown_text(found.rate_note)}" if found.rate_note else ""
    parts = (
        *(f"{markdown_text(found.explanation)}\n", table),
        *(f"Learning rates, chosen on a tenth of the text where several were tried.{note}\n", rates),
        *(sentences, f"{markdown_text(found.limits)}\n"),
    )
    return ["### Bits per byte, measured here\n\n" + "\n".join(parts)]
