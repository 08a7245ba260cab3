"""``report.md``: the same numbers, to be read in a terminal, a pull request or the draft of a paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tokbench import plugin
from tokbench.plugin import (
    ReporterSpec,
    Role,
    group_name,
    markdown_table,
    markdown_text,
    nodes_markdown,
    section_markdown,
)

if TYPE_CHECKING:
    from tokbench.plugin import DisplayCell, Report, Results


def render(results: Results) -> str:
    """Return the report as one Markdown document."""
    report = plugin.Report(results)
    sections = [
        _document(report, "answer"),
        _overview(report),
        *_compression(report),
        *_fairness(report),
        _document(report, "pairs"),
        _document(report, "matrices"),
        _document(report, "bits_per_byte"),
        _document(report, "validity"),
        _document(report, "vocabulary_size"),
        *_speed(report),
        _document(report, "same_ids"),
        _document(report, "tokens"),
        _document(report, "probes"),
        _document(report, "losses"),
        _document(report, "problems"),
        _document(report, "definitions"),
        _document(report, "provenance"),
    ]
    stopped = f"{nodes_markdown([report.partial])}\n" if report.partial else ""
    head = f"# {markdown_text(results.name)}\n\n{stopped}tokbench report: {markdown_text(report.subtitle)}.\n"
    head += "".join(f"\n**{markdown_text(line)}**\n" for line in report.overrides)
    notes = "".join(f"- {markdown_text(note)}\n" for note in results.notes)
    return "\n".join([head, *filter(None, [notes, *sections])])


def _document(report: Report, name: str) -> str:
    section = report.documents[name]
    return section_markdown(section) if section else ""


def _cell(cell: DisplayCell) -> str:
    return (f"**{cell.text}**" if cell.best else cell.text) + cell.marks + (f" {cell.share}" if cell.share else "")


def _cell_with_interval(cell: DisplayCell) -> str:
    return _cell(cell) + (f" [{cell.interval}]" if cell.interval else "")


def _group(name: str) -> str:
    return markdown_text(group_name(name))


def _count(number: int | None) -> str:
    return "unknown" if number is None else f"{number:,}"


def _row(*texts: str) -> list[str]:
    return [markdown_text(text) for text in texts]


def _legends(lines: Sequence[str]) -> str:
    return "".join(f"\n{line}.\n" for line in lines)


def _overview(report: Report) -> str:
    view = report.overview
    timed = any(report.tables.metric(column.metric).timed for column in view.columns)
    described = ["tokenizer", "state", *(["engine"] if timed else []), "vocabulary"]
    head = [*described]
    head += [f"{c.label}, {markdown_text(c.corpus)} ({markdown_text(c.unit_label or c.unit)})" for c in view.columns]
    rows = [
        [
            *_row(row.name, row.state, *([row.engine or "unknown"] if timed else [])),
            _count(row.vocab_size),
            *(_cell(column.cells[row.name]) for column in view.columns),
        ]
        for row in view.rows
    ]
    best = report.best_legend[0].upper() + report.best_legend[1:]
    legend = " ".join(f"{line}." for line in [best, *view.legends])
    small = "; ".join(_row(*report.short_vocabularies))
    legend += f"\n\nSmaller than asked for: {small}." if small else ""
    return f"## Whole corpora\n\n{markdown_table(head, rows, range(len(described) - 1, len(head)))}\n{legend}\n"


def _compression(report: Report) -> Iterator[str]:
    metric = report.tables.with_role(Role.TEXT_PER_TOKEN)
    for corpus in report.tables.corpora:
        found = report.heat_map(metric, corpus)
        if not found:
            continue
        head = ["group", *_row(*found.tokenizers)]
        rows = [[_group(row.group), *(_cell(cell) for cell, _ in row.cells)] for row in found.rows]
        text = f"## Compression by group: {markdown_text(corpus)}\n\nBytes per token, best tokenizer first.\n\n"
        text += markdown_table(head, rows, range(1, len(head)))
        if found.absent:
            absent = ", ".join(f"{markdown_text(name)} ({word})" for name, word in found.absent)
            text += f"\nWithout a number here: {absent}.\n"
        text += f"\n{found.left_out}\n" if found.left_out else ""
        yield text + _legends(found.legends)


def _fairness(report: Report) -> Iterator[str]:
    for view in report.fairness:
        text = f"## Fairness: {markdown_text(view.corpus)}\n\nTokens for the same text, "
        text += f"{markdown_text(view.reference)} being 1: what it costs and how long it takes, relatively; "
        text += "the context is what is left of a window.\n\n"
        head = ["tokenizer", *(f"{c.label} ({markdown_text(c.unit_label)})" for c in view.columns), "dearest languages"]
        rows = [
            [*_row(name), *(_cell_with_interval(c.cells[name]) for c in view.columns), *_row(view.dearest[name])]
            for name in view.tokenizers
        ]
        text += markdown_table(head, rows, range(1, len(head) - 1))
        text += "\nPremium by language, and by script, family and class:\n\n"
        head = ["group", *_row(*view.tokenizers)]
        rows = [
            [*_row(series.group), *(_cell_with_interval(series.cells[name]) for name in view.tokenizers)]
            for series in view.groups
        ]
        left_out = f"\n{view.left_out}\n" if view.left_out else ""
        yield text + markdown_table(head, rows, range(1, len(head))) + left_out + _legends(view.legends)


def _speed(report: Report) -> Iterator[str]:
    """Yield the tables of what was timed, those of one vocabulary together."""
    for table in report.speeds:
        columns = [table.head(column) for column in table.columns]
        head = ["tokenizer", "engine", "vocabulary of"]
        head += [f"{markdown_text(c.label)} ({markdown_text(c.unit_label or c.unit)})" for c in columns]
        rows = [
            [
                *_row(name, engine or "unknown", table.vocabularies.get(name, "its own")),
                *(_cell_with_interval(column.cells[name]) for column in columns),
            ]
            for name, _, _, engine in table.rows
        ]
        text = f"## Timed: {markdown_text(table.title)}\n\n{markdown_table(head, rows, range(3, len(head)))}"
        yield text + _legends(table.legends)


SPEC = ReporterSpec(
    name="md",
    summary="the main tables in Markdown",
    filename="report.md",
    render=render,
)
