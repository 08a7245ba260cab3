"""``report.md``: the same numbers, to be read in a terminal, a pull request or a paper's draft."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokbench.contracts.reporter import ReporterSpec
from tokbench.report.cells import BEST_LEGEND, DisplayCell, legends
from tokbench.report.charts.heat import FIRST, HeatMap, heat_map
from tokbench.report.escaping import markdown, plain, table
from tokbench.report.number_format import size, unit_label
from tokbench.report.sections import key_numbers, pairs, probes
from tokbench.report.sections import same_ids as differences
from tokbench.report.sections.fairness import fairness
from tokbench.report.sections.losses import loss_counts, losses, no_losses, some_groups
from tokbench.report.sections.overview import Row, verdict
from tokbench.report.sections.problems import broken_plugins, cells_without_value, missing_tokenizers
from tokbench.report.sections.vocabulary_size_markdown import study_section
from tokbench.report.tables import Tables
from tokbench.results.cells import WHOLE
from tokbench.results.model import Results

__all__ = ["SPEC", "render"]

_MOST_NAMES = 6
_LOSSES = (
    "Texts that did not come back. Each counts once, for the cause of its first difference, so that a row adds up; "
    "in brackets, where it is more, in how many texts a cause takes part."
)


def render(results: Results) -> str:
    """The report as one Markdown document."""
    tables = Tables(results)
    parts = [
        _verdict(tables),
        *_compression(tables),
        *_fairness(tables),
        *filter(
            None,
            [
                pairs.markdown_section(tables),
                study_section(results),
                differences.markdown_section(results),
                probes.markdown_section(results),
            ],
        ),
        _losses(results),
        _troubles(results),
        _definitions(tables),
        _provenance(results),
    ]
    head = f"# {markdown(results.name)}\n\ntokbench report: {markdown(key_numbers.subtitle(tables))}.\n"
    notes = "".join(f"\n- {markdown(note)}" for note in results.notes)
    return "\n".join([head, *([notes.strip() + "\n"] if notes else []), *parts])


def _shown(cell: DisplayCell) -> str:
    return f"**{cell.text}**" if cell.best else cell.text + cell.marks


def _verdict(tables: Tables) -> str:
    view = verdict(tables)
    head = ["tokenizer", "state", "vocabulary"]
    head += [f"{c.label}, {markdown(c.corpus)} ({markdown(c.unit_label or c.unit)})" for c in view.columns]
    rows = [[*_who(row), *(_shown(column.cells[row.name]) for column in view.columns)] for row in view.rows]
    legend = [BEST_LEGEND[0].upper() + BEST_LEGEND[1:] + "."]
    legend += [f"{line}." for line in legends(view.cells)]
    return "## Whole corpora\n\n" + table(head, rows, range(2, len(head))) + "\n" + " ".join(legend) + "\n"


def _who(row: Row) -> list[str]:
    size_ = "unknown" if row.vocab_size is None else f"{row.vocab_size:,}"
    return [markdown(row.name), markdown(row.state), size_]


def _compression(tables: Tables) -> Iterator[str]:
    for corpus in tables.corpora:
        found = heat_map(tables, corpus, FIRST)
        if found:
            yield _by_group(corpus, found)


def _by_group(corpus: str, found: HeatMap) -> str:
    head = ["group", *(markdown(name) for name in found.tokenizers)]
    rows = [
        ["whole corpus" if row.group == WHOLE else markdown(row.group), *(_shown(cell) for cell, _ in row.cells)]
        for row in found.rows
    ]
    text = f"## Compression by group: {markdown(corpus)}\n\nBytes per token, best tokenizer first.\n\n"
    text += table(head, rows, range(1, len(head)))
    if found.absent:
        absent = ", ".join(f"{markdown(name)} ({word})" for name, word in found.absent)
        text += f"\nWithout a number here: {absent}.\n"
    return text + "".join(f"\n{line}.\n" for line in found.legends)


def _fairness(tables: Tables) -> Iterator[str]:
    for corpus in tables.corpora:
        view = fairness(tables, corpus)
        if not view:
            continue
        text = f"## Fairness: {markdown(corpus)}\n\nTokens for the same text, {markdown(view.reference)} being 1: what "
        text += "it costs and how long it takes, relatively; the context is what is left of a window.\n\n"
        head = ["tokenizer", *(f"{c.label} ({markdown(c.unit_label)})" for c in view.columns), "dearest languages"]
        rows = [
            [
                markdown(name),
                *(_with_interval(column.cells[name]) for column in view.columns),
                markdown(view.dearest[name]),
            ]
            for name in view.tokenizers
        ]
        text += (
            table(head, rows, range(1, len(head) - 1)) + "\nPremium by language, and by script, family and class:\n\n"
        )
        head = ["group", *(markdown(name) for name in view.tokenizers)]
        rows = [
            [markdown(series.group), *(_with_interval(series.cells[name]) for name in view.tokenizers)]
            for series in view.groups
        ]
        yield text + table(head, rows, range(1, len(head))) + "".join(f"\n{line}.\n" for line in view.legends)


def _with_interval(cell: DisplayCell) -> str:
    return _shown(cell) + (f" [{cell.interval}]" if cell.interval else "")


def _losses(results: Results) -> str:
    found = losses(results)
    if not found:
        return f"## Losses\n\n{no_losses(results)}\n"
    rows = [
        [
            markdown(loss.tokenizer),
            markdown(loss.corpus),
            markdown(loss.cause),
            f"{loss.documents:,}",
            markdown(some_groups(loss.groups)),
            markdown(loss.origin),
            "unknown" if loss.position is None else f"{loss.position:,}",
            loss.change,
            markdown(loss.context + loss.expected) or "end of text",
            markdown(loss.context + loss.got) or "end of text",
        ]
        for loss in found
    ]
    head = ["tokenizer", "corpus", "cause", "texts", "groups", "first", "position", "difference", "expected", "got"]
    return "\n".join([
        "## Losses\n",
        f"{_LOSSES}\n",
        _loss_counts(results),
        "The first text of each cause, from just before the first difference on.\n",
        table(head, rows, (3, 6)),
    ])  # fmt: skip


def _loss_counts(results: Results) -> str:
    counts = loss_counts(results)
    rows = [
        [
            markdown(row.tokenizer),
            markdown(row.corpus),
            f"{row.documents:,}",
            "unknown" if row.tested is None else f"{row.tested:,}",
            *(f"{first:,} ({part:,})" if part > first else f"{first:,}" for first, part in row.counts),
        ]
        for row in counts.rows
    ]
    head = ["tokenizer", "corpus", "texts lost", "of", *(markdown(cause) for cause in counts.causes)]
    return table(head, rows, range(2, len(head)))


def _troubles(results: Results) -> str:
    lines = [
        f"- {markdown(name)}: {markdown(state)}: {markdown(why)}" for name, state, why in missing_tokenizers(results)
    ]
    for trouble in cells_without_value(results):
        where = f"{_some(trouble.metrics)}; {_some(trouble.tokenizers)}; {_some(trouble.corpora)}"
        cells = f"{trouble.cells:,} cell{'s' if trouble.cells > 1 else ''}"
        lines.append(f"- {cells}: {trouble.status}: {markdown(trouble.reason)} ({where})")
    lines += [
        f"- plugin {markdown(plugin.get('name', ''))}: {markdown(plugin['reason'])}"
        for plugin in broken_plugins(results)
    ]
    return "## What did not run, and why\n\n" + "\n".join(lines or ["Everything ran."]) + "\n"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(markdown(name) for name in names[:_MOST_NAMES]) + more


def _definitions(tables: Tables) -> str:
    rows = []
    for name in tables.metrics:
        metric = tables.results.metrics.get(name, {})
        known = [metric.get(key, "not told") for key in ("family", "formula", "unit", "direction", "definition")]
        known[2] = unit_label(known[2])
        rows.append([markdown(name), *(markdown(text) for text in known)])
    head = ["metric", "family", "formula", "unit", "better", "definition"]
    return "## Definitions\n\n" + table(head, rows)


def _provenance(results: Results) -> str:
    corpora = [
        [
            markdown(name),
            markdown(plain(corpus.get("source", ""))),
            markdown(corpus.get("licence") or "not told"),
            markdown(plain(corpus.get("documents", "unknown"))),
            size(corpus["bytes"]) if corpus.get("bytes") is not None else "unknown",
            markdown(plain(corpus.get("sha256", "unknown"))),
        ]
        for name, corpus in results.corpora.items()
    ]
    tokenizers = [
        [
            markdown(name),
            markdown(plain(entry.get("backend", ""))),
            markdown(plain(entry.get("options") or "none")),
            markdown(plain(entry.get("train") or "none here")),
            markdown(plain(entry.get("sha256") or "unknown")),
        ]
        for name, entry in results.tokenizers.items()
    ]
    facts_ = [f"- {markdown(name)}: {markdown(plain(value))}" for name, value in results.environment.items()]
    if results.config.get("sha256"):
        facts_.append(f"- configuration: sha256 {markdown(plain(results.config['sha256']))}")
    return "\n".join([
        "## Provenance\n",
        table(["corpus", "source", "licence", "documents", "size", "sha256"], corpora, (3, 4)),
        table(["tokenizer", "backend", "options", "training", "sha256"], tokenizers),
        "\n".join(facts_) + "\n",
    ])  # fmt: skip


SPEC = ReporterSpec(
    name="md",
    summary="the main tables in Markdown",
    filename="report.md",
    render=render,
)
