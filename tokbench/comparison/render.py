"""A comparison as Markdown for a pull request, as a page, and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tokbench.comparison.compare import CellChange, Comparison
from tokbench.comparison.gate import Failed
from tokbench.measuring.round_trip import RoundTrip
from tokbench.report import document as doc
from tokbench.report.answer.words import join
from tokbench.report.escaping import markdown_text
from tokbench.report.markdown_nodes import section_markdown
from tokbench.report.number_format import exact
from tokbench.results.cells import WHOLE, group_name

_MOST_ROWS: Final = 40

_SENTENCES: Final = {
    "worse": "significantly worse",
    "better": "significantly better",
    "other": "significantly different, where neither direction is better or text is lost",
    "tie": "different by less than the practical margin",
    "open": "different, but not more than chance may explain, or without an interval",
    "gone": "gone",
    "new": "new",
    "same": "the same",
}
HEAD: Final = ("tokenizer", "corpus", "group", "metric", "before", "after", "change", "95% interval", "")

_NUMERIC: Final = ("before", "after", "change", "95% interval")
_COLUMNS: Final = [doc.Column(head, numeric=head in _NUMERIC) for head in HEAD]


def texts_of(change: CellChange) -> list[str]:
    """Return a change as texts, by the columns :data:`HEAD`."""
    return [
        change.tokenizer,
        change.corpus,
        group_name(change.group),
        change.metric,
        _value(change.before, change.unit),
        _value(change.after, change.unit),
        _difference(change),
        _interval(change),
        _verdict(change),
    ]


@dataclass(frozen=True)
class ComparisonPage:
    """The parts of a rendered comparison."""

    comparison: Comparison
    failed: Sequence[Failed]
    rules: int

    @property
    def title(self) -> str:
        return f"{self.comparison.other} against {self.comparison.baseline}"

    @property
    def summary(self) -> str:
        counts = Counter[str](change.verdict for change in self.comparison.facts)
        parts = [f"{counts[verdict]:,} {text}" for verdict, text in _SENTENCES.items() if counts[verdict]]
        return f"Of {counts.total():,} numbers, {', '.join(parts)}." if parts else "Nothing to compare."

    @property
    def verdict(self) -> str:
        """The outcome of the rules; empty without rules."""
        if not self.rules:
            return ""
        broken = len({failed.rule.text for failed in self.failed})
        return f"{broken} of {self.rules} rules are broken." if broken else f"All {self.rules} rules hold."

    @property
    def facts(self) -> dict[str, Sequence[str]]:
        """Sentences by heading."""
        of_tokenizers = [
            f"{name}: {sentence}" for name, sentences in self.comparison.tokenizers.items() for sentence in sentences
        ]
        parts: dict[str, Sequence[str]] = {
            "Cannot be compared": self.comparison.refused,
            "Tokenizers that changed": of_tokenizers,
            "Only in the baseline": self.comparison.vanished,
            "New": self.comparison.appeared,
            "Notes": [*self.comparison.notes, *self._counted_once],
        }
        return {heading: sentences for heading, sentences in parts.items() if sentences}

    @property
    def _counted_once(self) -> Iterator[str]:
        follow: dict[str, dict[str, None]] = {}
        for change in self.comparison.changes:
            follow.setdefault(change.follows, {})[change.metric] = None
        for lead in filter(None, follow):
            yield f"{join([*follow[lead]])} changed by the same factor as {lead}: one change, counted once"

    @property
    def changes(self) -> dict[str, list[CellChange]]:
        """Changes by heading, worse ones first, then by size."""
        rows = sorted((change for change in self.comparison.facts if change.verdict != "same"), key=_order)
        parts = {
            "Whole corpora": [change for change in rows if change.group == WHOLE],
            "Groups, significant changes": [c for c in rows if c.group != WHOLE and c.verdict not in {"tie", "open"}],
        }
        return {heading: changes for heading, changes in parts.items() if changes}

    @property
    def sections(self) -> list[doc.Section]:
        return [
            *([_broken(self.failed)] if self.failed else []),
            *(doc.Section("", heading, [doc.Bullets(sentences)]) for heading, sentences in self.facts.items()),
            *(_changes(heading, changes) for heading, changes in self.changes.items()),
        ]


def _broken(failed: Sequence[Failed]) -> doc.Section:
    caption = "The rules that are broken, each with a change that breaks it"
    rows = [
        doc.Row([doc.TextCell(line=broken.rule.text, head="rule"), *_cells(broken.change)], named=False)
        for broken in failed[:_MOST_ROWS]
    ]
    return doc.Section(
        "rules", "Broken rules", [doc.Table(caption, [doc.Column("rule"), *_COLUMNS], rows, look="changes")]
    )


def _changes(heading: str, changes: Sequence[CellChange]) -> doc.Section:
    more = len(changes) - _MOST_ROWS
    caption = f"{heading}: worse ones first, then by size" + (f"; and {more} more" if more > 0 else "")
    rows = [doc.Row(_cells(change)) for change in changes[:_MOST_ROWS]]
    nodes: list[doc.Node] = [doc.Table(caption, _COLUMNS, rows, look="changes")]
    if more > 0:
        nodes.append(doc.Rich([], plain=[doc.Paragraph(f"And {more:,} more.")]))
    return doc.Section("", heading, nodes)


def _cells(change: CellChange) -> list[doc.TextCell]:
    tokenizer, *texts, verdict = texts_of(change)
    cells = [
        doc.TextCell(line=doc.Name(text) if head in {"corpus", "group"} else text, head=head)
        for head, text in zip(HEAD[1:-1], texts, strict=True)
    ]
    shown = doc.TextCell(line=doc.StateWord(verdict, bad=verdict == "worse"), look="prose")
    return [doc.TextCell(line=doc.Name(tokenizer), names=True), *cells, shown]


def _verdict(change: CellChange) -> str:
    if change.verdict == "other" and change.round_trip == RoundTrip.LOSSY:
        return "lossy, so that a better number is not counted"
    if change.verdict in {"gone", "new"}:
        return f"{change.verdict}: {change.reason}"
    return change.reason if change.verdict == "open" and change.reason else change.verdict


def _order(change: CellChange) -> tuple[int, float]:
    rank = ("worse", "gone", "better", "other", "new", "tie", "open").index(change.verdict)
    size = change.ratio if change.ratio is not None else change.difference or 0.0
    return rank, -abs(size)


def _value(value: float | None, unit: str) -> str:
    return "none" if value is None else exact(value, unit)


def _signed(value: float) -> str:
    return f"{100 * value:+.3g}%"


def _difference(change: CellChange) -> str:
    if change.difference is None:
        return ""
    share = change.unit.startswith("share")
    return f"{change.difference * 100:+.3g} points" if share or change.ratio is None else _signed(change.ratio)


def _interval(change: CellChange) -> str:
    share = change.unit.startswith("share")
    if share and change.low is not None and change.high is not None:
        return f"{change.low * 100:+.3g} to {change.high * 100:+.3g} points"
    if change.ratio_low is None or change.ratio_high is None:
        return ""
    return f"{_signed(change.ratio_low)} to {_signed(change.ratio_high)}"


def markdown(page: ComparisonPage) -> str:
    """Return a comparison as Markdown."""
    head = f"## {markdown_text(page.title)}\n\n{f'{page.verdict} {page.summary}'.lstrip()}\n"
    return "\n".join([head, *(section_markdown(section, level=3) for section in page.sections)])


def html(page: ComparisonPage) -> str:
    """Return a comparison as one self-contained HTML page."""
    from tokbench.report.html_nodes import page as html_page

    subtitle = f"tokbench comparison. {page.verdict} {page.summary}"
    return html_page(page.title, subtitle, page.sections, "tokbench comparison")


def as_mapping(page: ComparisonPage) -> dict[str, object]:
    """Return a comparison as a tree for JSON: every change, and the broken rules."""
    comparison = page.comparison
    return {
        "schema": "tokbench-comparison/1",
        "baseline": comparison.baseline,
        "other": comparison.other,
        "failed": [{"rule": failed.rule.text, **failed.change.row} for failed in page.failed],
        "tokenizers": comparison.tokenizers,
        "appeared": comparison.appeared,
        "vanished": comparison.vanished,
        "refused": comparison.refused,
        "notes": comparison.notes,
        "changes": [change.row for change in comparison.changes],
    }


def as_json(page: ComparisonPage) -> str:
    """Return a comparison as JSON text."""
    return json.dumps(as_mapping(page), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
