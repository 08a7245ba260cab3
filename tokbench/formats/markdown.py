"""``report.md``: for a terminal, a pull request or the draft of a paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokbench.engine.reports import report_of
from tokbench.report.escaping import markdown_text
from tokbench.report.markdown_nodes import section_markdown
from tokbench.results.reporter import ReporterSpec

if TYPE_CHECKING:
    from tokbench.results.model import Results


def render(results: Results) -> str:
    """Return the report as one Markdown document."""
    report = report_of(results)
    stopped = f"> {markdown_text(report.partial)}\n\n" if report.partial else ""
    overrides = "".join(f"**{markdown_text(line)}**\n\n" for line in report.overrides)
    head = f"# {markdown_text(results.name)}\n\n{stopped}{overrides}".rstrip("\n") + "\n"
    about = f"tokbench report: {markdown_text(report.subtitle)}.\n"
    notes = "".join(f"- {markdown_text(note)}\n" for note in results.notes)
    answer = [section_markdown(report.answer_section)] if report.answer_section else []
    return "\n".join([head, *answer, about, *([notes] if notes else []), *map(section_markdown, report.plain_sections)])


SPEC = ReporterSpec(
    name="md",
    summary="the main tables in Markdown",
    filename="report.md",
    render=render,
)
