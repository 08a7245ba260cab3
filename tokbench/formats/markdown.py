"""``report.md``: the same numbers, to be read in a terminal, a pull request or the draft of a paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from tokbench import plugin
from tokbench.formats.bits_markdown import bits_per_byte
from tokbench.formats.sizes_markdown import measured_sizes, without_tokenizer
from tokbench.formats.validity_markdown import validity
from tokbench.plugin import (
    ReporterSpec,
    Role,
    byte_size,
    group_name,
    markdown_table,
    markdown_text,
    plain,
    section_markdown,
)

if TYPE_CHECKING:
    from tokbench.plugin import DisplayCell, Report, Results

_SIZES: Final = (
    "Bytes per token when each vocabulary is cut to a size: exact, from one encoding at its own size. "
    "Special tokens are not counted."
)


def render(results: Results) -> str:
    """Return the report as one Markdown document."""
    report = plugin.Report(results)
    sections = [
        _answer(report),
        _overview(report),
        *_compression(report),
        *_fairness(report),
        _document(report, "pairs"),
        _document(report, "matrices"),
        bits_per_byte(report),
        validity(report),
        _vocabulary_size(report),
        *_speed(report),
        _document(report, "same_ids"),
        _document(report, "tokens"),
        _document(report, "probes"),
        _document(report, "losses"),
        _document(report, "problems"),
        _shares(report),
        _document(report, "definitions"),
        _provenance(report),
    ]
    head = f"# {markdown_text(results.name)}\n\n{_partial(report)}tokbench report: {markdown_text(report.subtitle)}.\n"
    head += "".join(f"\n**{markdown_text(line)}**\n" for line in report.overrides)
    notes = "".join(f"- {markdown_text(note)}\n" for note in results.notes)
    return "\n".join([head, *filter(None, [notes, *sections])])


def _document(report: Report, name: str) -> str:
    section = report.documents[name]
    return section_markdown(section) if section else ""


def _answer(report: Report) -> str:
    """Return who is best on each corpus, what the others cost, and what to distrust."""
    size, lines = report.answer.size, []
    if size:
        lines.append(f"**Vocabulary size**: {markdown_text(' '.join(size.sentences))}\n")
    if size and size.options:
        head = [
            "line",
            "size",
            "chosen by",
            "bytes/token",
            "tokens",
            "FLOPs/byte",
            "share of the model",
            "ids too rare",
        ]
        rows = [
            [
                *(markdown_text(row.line), f"{row.size:,}", row.basis, f"{row.ratio:.3f}"),
                *(row.tokens, row.cost, row.share, row.rare),
            ]
            for row in size.options
        ]
        lines.append(markdown_table(head, rows, (1, 3, 4, 5, 6, 7)))
    for each in report.answer.corpora:
        lines.append(f"**{markdown_text(each.corpus)}**: {markdown_text(' '.join(each.sentences))}\n")
        costs = [f"{markdown_text(cost.tokenizer)} {markdown_text(cost.text)}" for cost in each.costs]
        if costs:
            lines.append(f"Tokens beyond those of the best: {'; '.join(costs)}{' …' if each.more else ''}.\n")
    distrust = "".join(f"- {markdown_text(sentence)}\n" for sentence in report.answer.distrust)
    lines += [f"What to distrust:\n\n{distrust}"] if distrust else []
    return "\n".join(["## The answer\n", *lines]) if lines else ""


def _partial(report: Report) -> str:
    """Return the mark of a run that was stopped, which stands above everything else."""
    if not report.partial:
        return ""
    lines = [f"**{markdown_text(report.partial.sentence)}**", "Measured:"]
    return "> " + " ".join([*lines, "; ".join(_row(*report.partial.corpora)) or "nothing"]) + ".\n\n"


def _shares(report: Report) -> str:
    if not report.partial or not report.partial.groups:
        return ""
    rows = [[*_row(corpus), _group(group), share] for corpus, group, share in report.partial.groups]
    more = f"\nAnd {report.partial.left_out:,} more groups.\n" if report.partial.left_out else ""
    text = "## Share measured\n\nOf the documents of each group, over all tokenizers, until the run was stopped.\n\n"
    return text + markdown_table(["corpus", "group", "share"], rows, (2,)) + more


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


def _vocabulary_size(report: Report) -> str:
    section = report.vocabulary_size
    if not section:
        return ""
    parts = [f"## Vocabulary size\n\n{_SIZES}\n"]
    for corpus in section.corpora:
        head = ["line", *(f"{size:,}" for size in corpus.columns), "own size"]
        rows = [
            [
                markdown_text(row.line) + corpus.marks[row.line],
                *("none" if value is None else f"{value:.3f}" for value in [*row.values, row.own]),
            ]
            for row in corpus.table
        ]
        text = f"### {markdown_text(corpus.name)}\n\n{markdown_table(head, rows, range(1, len(head)))}"
        text += f"\n{markdown_text(corpus.recommendation)}\n" if corpus.recommendation else ""
        text += _legends([corpus.in_sample] if corpus.in_sample else [])
        lost = "; ".join(f"{line} ({words})" for line, words in corpus.lost.items())
        text += f"\n‡ losing text, and never recommended: {markdown_text(lost)}.\n" if lost else ""
        parts.append(text)
    reasons = [": ".join(_row(line.line, line.reason)) for line, _ in section.keys if line.reason]
    if reasons:
        parts.append("Known only at sizes of their own:\n\n" + "".join(f"- {each}\n" for each in reasons))
    parts += [*measured_sizes(report), *without_tokenizer(report)]
    return "\n".join(parts)


def _documents(documents: int | None, limit: int | None) -> str:
    limited = "" if limit is None else f" (at most {limit:,} a group measured)"
    return "unknown" if documents is None else f"{documents}{limited}"


def _provenance(report: Report) -> str:
    results = report.results
    corpora = [
        [
            *_row(name, corpus.source, corpus.licence or "not stated"),
            _documents(corpus.documents, corpus.limit),
            "unknown" if corpus.bytes is None else byte_size(corpus.bytes),
            *_row(corpus.sha256 or "unknown"),
        ]
        for name, corpus in results.corpora.items()
    ]
    tokenizers = [
        _row(
            *(
                name,
                info.backend,
                info.engine or "unknown",
                plain(info.options or "none"),
                plain(info.train or "none here"),
            ),
            plain(info.sha256 or "unknown"),
        )
        for name, info in results.tokenizers.items()
    ]
    facts = [f"- {': '.join(_row(name, plain(value)))}\n" for name, value in report.environment.items()]
    if results.config.sha256:
        facts.append(f"- configuration: sha256 {markdown_text(results.config.sha256)}\n")
    facts += [
        f"- it extends {markdown_text(base.file)}: sha256 {markdown_text(base.sha256)}\n"
        for base in results.config.bases
    ]
    return "\n".join([
        "## Provenance\n",
        markdown_table(["corpus", "source", "licence", "documents", "size", "sha256"], corpora, (3, 4)),
        markdown_table(["tokenizer", "backend", "engine", "options", "training", "sha256"], tokenizers),
        "".join(facts),
        *(["Time\n", markdown_table(["phase", "time"], [_row(*each) for each in report.durations], (1,))]
          if report.durations else []),
    ])  # fmt: skip


SPEC = ReporterSpec(
    name="md",
    summary="the main tables in Markdown",
    filename="report.md",
    render=render,
)
