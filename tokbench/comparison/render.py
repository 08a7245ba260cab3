"""A comparison as Markdown for a pull request, as a page, and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final, NamedTuple

from tokbench.comparison.compare import CellChange, Comparison
from tokbench.comparison.gate import Failed
from tokbench.measuring.round_trip import RoundTrip
from tokbench.report.document import (
    Bullets,
    Column,
    Name,
    Node,
    Paragraph,
    Rich,
    Row,
    Section,
    State,
    Table,
    TextCell,
)
from tokbench.report.escaping import markdown_text
from tokbench.report.markdown_nodes import section_markdown
from tokbench.report.number_format import exact
from tokbench.results.cells import WHOLE, group_name

_ROUNDING: Final = 1e-6
"""The tolerance for share times documents being a whole number."""

_MOST_ROWS: Final = 40

_SENTENCES: Final = {
    "worse": "significantly worse",
    "better": "significantly better",
    "other": "significantly different, where neither direction is better or text is lost",
    "open": "different, but not more than chance may explain, or without an interval",
    "gone": "gone",
    "new": "new",
    "same": "the same",
}
HEAD: Final = ("tokenizer", "corpus", "group", "metric", "before", "after", "change", "95 % interval", "")

_NUMERIC: Final = ("before", "after", "change", "95 % interval")
_COLUMNS: Final = [Column(head, numeric=head in _NUMERIC) for head in HEAD]


@dataclass(frozen=True)
class ChangeRow:
    """One change as text, by the columns :data:`HEAD`."""

    tokenizer: str
    corpus: str
    group: str
    metric: str
    before: str
    after: str
    change: str
    interval: str
    verdict: str

    @classmethod
    def of(cls, change: CellChange) -> ChangeRow:
        """Format a change; a share of documents becomes documents."""
        return cls(
            change.tokenizer,
            change.corpus,
            group_name(change.group),
            change.metric,
            _value(change.before, change.unit),
            _value(change.after, change.unit),
            _counts(change) or _difference(change),
            _interval(change),
            _verdict(change),
        )

    @property
    def texts(self) -> list[str]:
        return [getattr(self, field.name) for field in fields(self)]


class Facts(NamedTuple):
    """Sentences under a heading."""

    heading: str
    sentences: Sequence[str]


class ChangeTable(NamedTuple):
    """Changes under a heading, and the number of those left out."""

    heading: str
    rows: Sequence[ChangeRow]
    more: int


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
    def lead(self) -> str:
        return f"{self.verdict} {self.summary}".lstrip()

    @property
    def summary(self) -> str:
        counts = Counter[str](change.verdict for change in self.comparison.changes)
        parts = [f"{counts[verdict]:,} {text}" for verdict, text in _SENTENCES.items() if counts[verdict]]
        return f"Of {len(self.comparison.changes):,} numbers, {', '.join(parts)}." if parts else "Nothing to compare."

    @property
    def verdict(self) -> str:
        """The outcome of the rules; empty without rules."""
        if not self.rules:
            return ""
        broken = len({failed.rule.text for failed in self.failed})
        return f"{broken} of {self.rules} rules are broken." if broken else f"All {self.rules} rules hold."

    @property
    def facts(self) -> list[Facts]:
        of_tokenizers = [
            f"{name}: {sentence}" for name, sentences in self.comparison.tokenizers.items() for sentence in sentences
        ]
        parts = [
            Facts("Cannot be compared", self.comparison.refused),
            Facts("Tokenizers that are not what they were", of_tokenizers),
            Facts("Only in the baseline", self.comparison.vanished),
            Facts("New", self.comparison.appeared),
            Facts("Notes", self.comparison.notes),
        ]
        return [facts for facts in parts if facts.sentences]

    @property
    def tables(self) -> list[ChangeTable]:
        """Tables of changes, the largest first."""
        changed = [change for change in self.comparison.changes if change.verdict != "same"]
        whole = [change for change in changed if change.group == WHOLE]
        groups = [change for change in changed if change.group != WHOLE and change.verdict != "open"]
        named = (("Whole corpora", whole), ("Groups, significant changes", groups))
        return [
            ChangeTable(
                heading,
                [ChangeRow.of(change) for change in sorted(changes, key=_order)[:_MOST_ROWS]],
                max(len(changes) - _MOST_ROWS, 0),
            )
            for heading, changes in named
            if changes
        ]

    @property
    def sections(self) -> list[Section]:
        return [
            *([_broken(self.failed)] if self.failed else []),
            *(Section("", facts.heading, [Bullets(facts.sentences)]) for facts in self.facts),
            *(_changes(table) for table in self.tables),
        ]


def _broken(failed: Sequence[Failed]) -> Section:
    caption = "The rules that are broken, each with a change that breaks it"
    rows = [
        Row(
            [TextCell(line=broken.rule.text, head="rule"), *_cells(ChangeRow.of(broken.change))],
            named=False,
        )
        for broken in failed[:_MOST_ROWS]
    ]
    return Section("rules", "Broken rules", [Table(caption, [Column("rule"), *_COLUMNS], rows, look="changes")])


def _changes(table: ChangeTable) -> Section:
    more = f"; and {table.more} more" if table.more else ""
    caption = f"{table.heading}: worse ones first, then by size{more}"
    nodes: list[Node] = [Table(caption, _COLUMNS, [Row(_cells(row)) for row in table.rows], look="changes")]
    if table.more:
        nodes.append(Rich([], plain=[Paragraph(f"And {table.more:,} more.")]))
    return Section("", table.heading, nodes)


def _cells(row: ChangeRow) -> list[TextCell]:
    tokenizer, *texts = row.texts
    lines = [Name(text) if head in {"corpus", "group"} else text for head, text in zip(HEAD[1:], texts, strict=True)]
    *cells, _ = (TextCell(line=line, head=head) for head, line in zip(HEAD[1:], lines, strict=True))
    verdict = TextCell(line=State(row.verdict, bad=row.verdict == "worse"), look="prose")
    return [TextCell(line=Name(tokenizer), names=True), *cells, verdict]


def _verdict(change: CellChange) -> str:
    if change.verdict == "other" and change.round_trip == RoundTrip.LOSSY:
        return "lossy, so that a better number is not counted"
    if change.verdict in {"gone", "new"}:
        return f"{change.verdict}: {change.reason}"
    return change.reason if change.verdict == "open" and change.reason else change.verdict


def _order(change: CellChange) -> tuple[int, float]:
    rank = ("worse", "gone", "better", "other", "new", "open").index(change.verdict)
    size = change.ratio if change.ratio is not None else change.difference or 0.0
    return rank, -abs(size)


def _value(value: float | None, unit: str) -> str:
    return "none" if value is None else exact(value, unit)


def _signed(value: float) -> str:
    return f"{100 * value:+.3g} %"


def _difference(change: CellChange) -> str:
    if change.difference is None:
        return ""
    share = change.unit.startswith("share")
    return f"{change.difference * 100:+.3g} points" if share or change.ratio is None else _signed(change.ratio)


def _counts(change: CellChange) -> str:
    """Return a change of a share of documents in documents; empty for other numbers.

    >>> place = {"tokenizer": "t", "corpus": "c", "group": "*", "metric": "roundtrip_exact"}
    >>> _counts(CellChange(**place, unit="share of documents", before=0.0, after=1.0, difference=1.0, documents=4))
    '0 of 4 → 4 of 4 documents'
    """
    if change.unit != "share of documents" or not change.documents or None in {change.before, change.after}:
        return ""
    counts = [(share or 0.0) * change.documents for share in (change.before, change.after)]
    if any(abs(count - round(count)) > _ROUNDING for count in counts):
        return ""
    before, after = (f"{count:,.0f} of {change.documents:,}" for count in counts)
    return f"{before} → {after} documents"


def _interval(change: CellChange) -> str:
    share = change.unit.startswith("share")
    if share and change.low is not None and change.high is not None:
        return f"{change.low * 100:+.3g} to {change.high * 100:+.3g} points"
    if change.ratio_low is None or change.ratio_high is None:
        return ""
    return f"{_signed(change.ratio_low)} to {_signed(change.ratio_high)}"


def markdown(page: ComparisonPage) -> str:
    """Return a comparison as Markdown."""
    head = f"## {markdown_text(page.title)}\n\n{page.lead}\n"
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
