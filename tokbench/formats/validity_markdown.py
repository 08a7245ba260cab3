"""The part of ``report.md`` on validity: which metrics rank tokenizers as bits per byte do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokbench.plugin import markdown_table, markdown_text

if TYPE_CHECKING:
    from tokbench.plugin import Report


def validity(report: Report) -> str:
    """Return sentences, hypotheses and a table for each class; an empty string if the run has no such study."""
    parts = []
    for view in report.validity:
        heading = f"## Which metric tells beforehand: {markdown_text(view.study.corpus)}, {view.study.family}\n"
        parts += [heading, f"{markdown_text(view.explanation)}\n"]
        said = [*view.sentences, *view.further]
        if said:
            parts.append("".join(f"- {markdown_text(sentence)}\n" for sentence in said))
        if view.hypotheses:
            rows = [[*map(markdown_text, row.fields)] for row in view.hypotheses]
            parts.append(markdown_table([*map(markdown_text, view.columns)], rows, (4, 5)))
        for each in view.classes:
            parts.append(f"### {markdown_text(each.name)}: {len(each.tokenizers)} tokenizers\n")
            head = ["metric", *map(markdown_text, view.models)]
            found = [
                [markdown_text(name), *(markdown_text(f"{cell.text} {cell.interval}".strip()) for cell in cells)]
                for name, cells in each.rows
            ]
            if found:
                parts.append(markdown_table(head, found, range(1, len(head))))
            if each.without:
                parts.append(f"{markdown_text(each.without)}.\n")
        parts.append(f"{markdown_text(view.limits)}\n")
    return "\n".join(parts)
