"""The part of ``report.md`` on bits per byte of small models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokbench.plugin import markdown_table, markdown_text

if TYPE_CHECKING:
    from tokbench.plugin import Report


def bits_per_byte(report: Report) -> str:
    """Return a table by model, the verdicts, and what they do not show; an empty string if the run has none."""
    parts = []
    for view in report.bits_per_byte:
        model = f", {view.study.words.model}" if view.study.words else ""
        parts += [
            f"## Bits per byte: {markdown_text(view.study.corpus)}{model}\n",
            f"{markdown_text(view.explanation)}\n",
        ]
        parts.append(f"**{markdown_text(view.sentence)}**\n")
        head = ["tokenizer", "learned from", *map(markdown_text, view.study.models)]
        rows = [
            [
                *map(markdown_text, (name, block)),
                *(markdown_text(f"{cell.text}{cell.marks} {cell.interval}".strip()) for cell in cells),
            ]
            for block, names in view.rows
            for name in names
            for cells in [[column.cells[name] for column in view.columns]]
        ]
        parts += [markdown_table(head, rows, range(2, len(head))), *(f"{legend}.\n" for legend in view.legends)]
        words = [
            [markdown_text(name), *(each.text if each else "" for each in row)]
            for name, row in zip(view.names, view.matrix, strict=True)
        ]
        if words:
            parts.append("The tokenizer of the row beside that of the column; = no difference.\n")
            parts.append(markdown_table(["", *map(markdown_text, view.names)], words))
        if view.trainings:
            rows = [[markdown_text(row.name), *row.cells, row.rates] for row in view.trainings]
            head = ["tokenizer", *view.training_columns, "tried"]
            parts.append(markdown_table(head, rows, range(1, len(head) - 1)))
        parts.append(f"{markdown_text(view.limits)}\n")
    return "\n".join(parts)
