"""A comparison as Markdown for a pull request, as a page, and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from tokbench.comparison.compare import CellChange, Comparison
from tokbench.comparison.gate import Failed
from tokbench.report.escaping import markdown_table, markdown_text
from tokbench.report.number_format import exact
from tokbench.results.cells import WHOLE, group_name

_MOST_ROWS: Final = 40
"""Rows of a table; the JSON has all of them."""

"""Rows and sentences in the cell of a notebook, and the characters of a sentence and of a field."""

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
"""The heads of the columns of a :class:`ChangeRow`."""


@dataclass(frozen=True)
class ChangeRow:
    """One change as text, with the columns of :data:`HEAD`."""

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
        """Format a change."""
        return cls(
            change.tokenizer,
            change.corpus,
            group_name(change.group),
            change.metric,
            _value(change.before, change.unit),
            _value(change.after, change.unit),
            _difference(change),
            _interval(change),
            _verdict(change),
        )


@dataclass(frozen=True)
class ComparisonPage:
    """The parts of a rendered comparison.

    Attributes:
        comparison: what is shown.
        failed: the rules that were broken, and by which changes.
        rules: how many rules there were.
    """

    comparison: Comparison
    failed: Sequence[Failed]
    rules: int

    @property
    def title(self) -> str:
        """The heading."""
        return f"{self.comparison.other} against {self.comparison.baseline}"

    @property
    def summary(self) -> str:
        """The number of changes of each sort, as a sentence."""
        counts = Counter[str](change.verdict for change in self.comparison.changes)
        parts = [f"{counts[verdict]:,} {text}" for verdict, text in _SENTENCES.items() if counts[verdict]]
        return f"Of {len(self.comparison.changes):,} numbers, {', '.join(parts)}." if parts else "Nothing to compare."

    @property
    def verdict(self) -> str:
        """The outcome of the rules, as a sentence; empty if there are none."""
        if not self.rules:
            return ""
        broken = len({failed.rule.text for failed in self.failed})
        return f"{broken} of {self.rules} rules are broken." if broken else f"All {self.rules} rules hold."

    @property
    def broken(self) -> list[tuple[str, ChangeRow]]:
        """The rules that are broken, each with a change that breaks it."""
        return [(failed.rule.text, ChangeRow.of(failed.change)) for failed in self.failed[:_MOST_ROWS]]

    @property
    def facts(self) -> list[tuple[str, list[str]]]:
        """Lists of sentences under their headings; empty ones are left out."""
        of_tokenizers = [f"{name}: {each}" for name, some in self.comparison.tokenizers.items() for each in some]
        found = [
            ("Cannot be compared", self.comparison.refused),
            ("Tokenizers that are not what they were", of_tokenizers),
            ("Only in the baseline", self.comparison.vanished),
            ("New", self.comparison.appeared),
            ("Notes", self.comparison.notes),
        ]
        return [(heading, sentences) for heading, sentences in found if sentences]

    @property
    def tables(self) -> list[tuple[str, list[ChangeRow], int]]:
        """Tables of changes: the heading, the rows, and how many more there are. The largest changes come first."""
        changed = [each for each in self.comparison.changes if each.verdict != "same"]
        whole = [each for each in changed if each.group == WHOLE]
        groups = [each for each in changed if each.group != WHOLE and each.verdict != "open"]
        named = (("Whole corpora", whole), ("Groups, significant changes", groups))
        return [
            (heading, [ChangeRow.of(each) for each in sorted(some, key=_order)[:_MOST_ROWS]], len(some) - _MOST_ROWS)
            for heading, some in named
            if some
        ]


def _verdict(change: CellChange) -> str:
    if change.verdict == "other" and change.lossy:
        return "loses text, so that a better number is no merit"
    if change.verdict in {"gone", "new"}:
        return f"{change.verdict}: {change.reason}"
    return change.reason if change.verdict == "open" and change.reason else change.verdict


def _order(change: CellChange) -> tuple[int, float]:
    """Return what changes are sorted by: worse ones first, and the larger of two first."""
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


def _interval(change: CellChange) -> str:
    share = change.unit.startswith("share")
    if share and change.low is not None and change.high is not None:
        return f"{change.low * 100:+.3g} to {change.high * 100:+.3g} points"
    if change.ratio_low is None or change.ratio_high is None:
        return ""
    return f"{_signed(change.ratio_low)} to {_signed(change.ratio_high)}"


def markdown(page: ComparisonPage) -> str:
    """Return a comparison as Markdown."""
    return "\n".join(_markdown(page))


def _markdown(page: ComparisonPage) -> Iterator[str]:
    yield f"## {markdown_text(page.title)}\n"
    yield f"{page.verdict} {page.summary}\n".lstrip()
    if page.broken:
        rows = [[markdown_text(rule), *_cells(row)] for rule, row in page.broken]
        yield markdown_table(["broken rule", *HEAD], rows)
    for heading, sentences in page.facts:
        yield f"**{heading}**\n\n" + "".join(f"- {markdown_text(each)}\n" for each in sentences)
    for heading, some, more in page.tables:
        yield f"### {heading}\n\n" + markdown_table(HEAD, [_cells(row) for row in some])
        if more > 0:
            yield f"And {more:,} more.\n"


def _cells(row: ChangeRow) -> list[str]:
    return [markdown_text(text) for text in asdict(row).values()]


def html(page: ComparisonPage) -> str:
    """Return a comparison as one HTML page, which needs nothing but itself."""
    from tokbench.report.pages import html_environment

    return html_environment().get_template("comparison.html.j2").render(page=page, head=HEAD)


def as_json(page: ComparisonPage) -> str:
    """Return a comparison as JSON: every change, and the rules that are broken."""
    comparison = page.comparison
    body = {
        "schema": "tokbench-comparison/1",
        "baseline": comparison.baseline,
        "other": comparison.other,
        "failed": [{"rule": failed.rule.text, **failed.change.row} for failed in page.failed],
        "tokenizers": comparison.tokenizers,
        "appeared": comparison.appeared,
        "vanished": comparison.vanished,
        "refused": comparison.refused,
        "notes": comparison.notes,
        "changes": [each.row for each in comparison.changes],
    }
    return json.dumps(body, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
