"""``report.md``: the same numbers, to be read in a terminal, a pull request or the draft of a paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tokbench import plugin
from tokbench.formats.bits_markdown import bits_per_byte
from tokbench.formats.sizes_markdown import measured_sizes, without_tokenizer
from tokbench.formats.validity_markdown import validity
from tokbench.plugin import (
    ReporterSpec,
    byte_size,
    group_name,
    markdown_table,
    markdown_text,
    plain,
    section_markdown,
    visible,
)

if TYPE_CHECKING:
    from tokbench.plugin import Report, Results, SegmentationView

_MOST_TOKENS: Final = 24
"""The number of tokens of a probe's text that the report shows."""
_SIZES: Final = (
    "Bytes per token when each vocabulary is cut to a size: exact, from one encoding at its own size. "
    "Special tokens are not counted."
)
_PROBES: Final = (
    "Texts that the probes bring themselves, and how each tokenizer cuts them: number of tokens, then the tokens, "
    "set apart by ¦. Spaces are shown as ␣, line ends as ⏎, tabs as ⇥."
)


_MOST_EXCERPTS: Final = 24
"""The number of documents of which the report shows an excerpt."""
_TEXTS: Final = (
    "The same texts under several tokenizers: number of tokens, then the tokens, set apart by ¦. Spaces are shown as "
    "␣, line ends as ⏎, tabs as ⇥, bytes that are not whole characters as \\x and two digits."
)
_WORST: Final = (
    "Documents that are worst for each tokenizer, each of another group: by their size, those with the fewest bytes "
    "per token; beside the best, those of which it makes the most tokens by the side of the tokenizer that needs the "
    "fewest for the same text, at least a tenth more, of the documents that are worst by size in their group. The "
    "tokens of the text that is shown are a multiple of those of the tokenizer that needs the fewest."
)


def render(results: Results) -> str:
    """Return the report as one Markdown document."""
    report = plugin.Report(results)
    sections = [
        _answer(report),
        _document(report, "overview"),
        _document(report, "groups"),
        _document(report, "fairness"),
        _document(report, "pairs"),
        _document(report, "matrices"),
        bits_per_byte(report),
        validity(report),
        _vocabulary_size(report),
        _document(report, "speed"),
        _document(report, "same_ids"),
        _texts(report),
        _probes(report),
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


def _group(name: str) -> str:
    return markdown_text(group_name(name))


def _row(*texts: str) -> list[str]:
    return [markdown_text(text) for text in texts]


def _legends(lines: Sequence[str]) -> str:
    return "".join(f"\n{line}.\n" for line in lines)


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


def _texts(report: Report) -> str:
    """Return texts as tokens: the named ones under all tokenizers, excerpts under the first, and worst documents."""
    section = report.tokens
    if not section.texts:
        return ""
    parts = ["## Tokens\n", f"{_TEXTS}\n"]
    for view in (each for each in section.texts if not each.shown.corpus):
        rows = [[*_row(line.name), _listed(line)] for line in view.lines()]
        parts += [f"### {markdown_text(view.heading)}\n", markdown_table(["tokenizer", "tokens"], rows)]
    excerpts = [each for each in section.texts if each.shown.corpus]
    rows = [
        [*_row(view.kind, view.heading, line.name), _listed(line)]
        for view in excerpts[:_MOST_EXCERPTS]
        for line in view.lines(section.first_names)
    ]
    if rows:
        parts += ["### Excerpts of documents\n", markdown_table(["corpus", "document", "tokenizer", "tokens"], rows)]
    if len(excerpts) > _MOST_EXCERPTS:
        parts.append(f"{len(excerpts) - _MOST_EXCERPTS:,} more texts are in results.json and report.html.\n")
    head = ["tokenizer", "corpus", "document", "worst by", "bytes per token", "tokens of this text", "text"]
    rows = [
        [
            *_row(each.tokenizer, each.corpus, f"{each.group}: {each.document}", each.worst_by, each.bytes_per_token),
            *_row(each.other or "the fewest", each.text),
        ]
        for each in section.worst
    ]
    if rows:
        parts += ["### Worst documents\n", f"{_WORST}\n", markdown_table(head, rows, (4,))]
    return "\n".join(parts)


def _listed(line: SegmentationView) -> str:
    """Return the tokens of a text, and what a reader must know of them."""
    shown = _tokens([(each.id, each.text) for each in line.tokens], "") if line.tokens else ""
    return ". ".join(filter(None, [shown, *_row(*line.remarks)]))


def _probes(report: Report) -> str:
    parts = ["## Probes\n", f"{_PROBES}\n"]
    for probe in report.probes:
        parts += [f"### {markdown_text(probe.info.title)}\n", f"{markdown_text(probe.info.explanation)}\n"]
        parts += [": ".join(_row(label, visible(text, spaces=True))) + "\n" for label, text in probe.listings]
        blank = [""] * (len(probe.info.texts) - 1)
        rows = [
            [
                *_row(row.tokenizer),
                *([_tokens(text.tokens, text.mark) for text in row.texts] or [*_row(row.reason), *blank]),
            ]
            for row in probe.rows
        ]
        parts.append(markdown_table(["tokenizer", *_row(*(label for label, _ in probe.info.texts))], rows))
        own = [
            [*_row(row.tokenizer, text.label), _tokens(text.tokens, text.mark)]
            for row in probe.own
            for text in row.texts
        ]
        if own:
            parts.append(markdown_table(["tokenizer", "its own text", "tokens"], own))
        parts += [f"{legend}.\n" for legend in probe.legends]
    return "\n".join(parts) if report.probes else ""


def _tokens(tokens: Sequence[tuple[int, str]], mark: str) -> str:
    left = len(tokens) - _MOST_TOKENS
    shown = markdown_text(" ¦ ".join(text for _, text in tokens[:_MOST_TOKENS]))
    return f"{len(tokens):,}{mark}: {shown}" + (f" and {left:,} more" if left > 0 else "")


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
