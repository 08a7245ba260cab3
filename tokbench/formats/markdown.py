"""``report.md``: for a terminal, a pull request or the draft of a paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokbench import plugin
from tokbench.plugin import ReporterSpec, markdown_text, nodes_markdown, section_markdown

if TYPE_CHECKING:
    from tokbench.plugin import Results


def render(results: Results) -> str:
    """Return the report as one Markdown document."""
    report = plugin.report_of(results)
    stopped = f"{nodes_markdown([report.partial])}\n" if report.partial else ""
    head = f"# {markdown_text(results.name)}\n\n{stopped}tokbench report: {markdown_text(report.subtitle)}.\n"
    head += "".join(f"\n**{markdown_text(line)}**\n" for line in report.overrides)
    notes = "".join(f"- {markdown_text(note)}\n" for note in results.notes)
    sections = [*([report.answer] if report.answer else []), *report.plain_sections]
    return "\n".join([head, *([notes] if notes else []), *map(section_markdown, sections)])


SPEC = ReporterSpec(
    name="md",
    summary="the main tables in Markdown",
    filename="report.md",
    render=render,
)
