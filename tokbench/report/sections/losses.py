"""The section on losses: documents that do not round-trip, by cause, with examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tokbench.foundation.visible_text import visible
from tokbench.measuring.metric import Role
from tokbench.report.document import Column, Line, Marked, Name, Node, Paragraph, Row, Section, Table, TextCell
from tokbench.report.tables import CellTables
from tokbench.results.blocks import LossCause, LossExample
from tokbench.results.cells import WHOLE, Status

_CAUSES: Final = {
    "decoder": "decoder",
    "unknown": "unknown token",
    "nfc": "NFC",
    "nfd": "NFD",
    "whitespace": "white space",
    "control": "control characters",
    "nfkc": "NFKC",
    "nfkd": "NFKD",
    "accents": "accents",
    "casing": "casing",
    "invalid_bytes": "invalid bytes",
    "special_token": "special-token text",
    "other": "other",
}
_MOST_GROUPS: Final = 4


@dataclass(slots=True, kw_only=True)
class Loss:
    """The texts of a tokenizer and corpus that were lost for one cause."""

    tokenizer: str
    corpus: str
    cause: str
    repair: str = ""
    documents: int = 0
    """The number of texts whose first difference has this cause."""
    taking_part: int = 0
    """The number of texts in which the cause takes part."""
    by_group: dict[str, int] = field(default_factory=dict)
    origin: str = ""
    position: int = 0
    context: str = ""
    expected: str = ""
    got: str = ""
    change: str = ""

    @property
    def groups(self) -> str:
        """The groups with the most of them, in words.

        >>> Loss(tokenizer="t", corpus="c", cause="other", by_group={"de": 3, "ja": 66, "zh": 67}).groups
        'zh 67, ja 66, de 3'
        """
        ranked = sorted(self.by_group.items(), key=lambda item: -item[1])
        shown = ", ".join(f"{name} {count:,}" for name, count in ranked[:_MOST_GROUPS])
        return shown + (f" and {len(ranked) - _MOST_GROUPS} more" if len(ranked) > _MOST_GROUPS else "")


@dataclass(frozen=True, slots=True)
class LossRow:
    """The losses of one tokenizer and corpus."""

    tokenizer: str
    corpus: str
    documents: int
    tested: int | None
    counts: Sequence[tuple[int, int]]
    """For each cause: texts whose first difference it explains, and texts in which it takes part."""


@dataclass(frozen=True, slots=True)
class LossSection:
    """The whole section."""

    examples: Sequence[Loss]
    causes: list[str]
    rows: Sequence[LossRow]
    without_loss: str


_EXAMPLE_COLUMNS: Final = (
    *(Column("tokenizer"), Column("corpus"), Column("cause"), Column("texts", numeric=True), Column("groups")),
    *(Column("first"), Column("position", numeric=True), Column("difference"), Column("expected"), Column("got")),
)


def losses_document(tables: CellTables) -> Section:
    """Return the section as a document."""
    section = losses(tables)
    if not section.examples:
        return Section("losses", "Losses", [Paragraph(section.without_loss)])
    counted = [Column("texts lost", numeric=True), Column("of", numeric=True)]
    causes = [Column(cause, numeric=True) for cause in section.causes]
    nodes: list[Node] = [
        Paragraph(
            "Texts that did not round-trip. Each counts once, for the cause of its first difference, so that a "
            "row adds up; in brackets, where it is more, in how many texts a cause takes part."
        ),
        Table(
            "Texts that did not round-trip, by cause",
            [Column("tokenizer"), Column("corpus"), *counted, *causes],
            [_count_row(row) for row in section.rows],
            label="Losses by cause",
        ),
        Paragraph(
            "The first text of each cause, from just before the first difference on. Spaces are shown as ␣, line ends "
            "as ⏎, tabs as ⇥, and what cannot be seen as its code point."
        ),
        Table(
            "First difference for every tokenizer, corpus and cause",
            _EXAMPLE_COLUMNS,
            [_example_row(loss) for loss in section.examples],
            label="Losses",
            tall=True,
        ),
    ]
    return Section("losses", "Losses", nodes)


def _count_row(row: LossRow) -> Row:
    tested = TextCell(line="unknown" if row.tested is None else f"{row.tested:,}", look="soft")
    counts = (
        TextCell(line=f"{first:,}", small=[f"({part:,})"] if part > first else [], look="" if part else "none")
        for first, part in row.counts
    )
    return Row([row.tokenizer, row.corpus, f"{row.documents:,}", tested, *counts])


def _example_row(loss: Loss) -> Row:
    def excerpt(text: str) -> TextCell:
        line: Line = [Name(loss.context), Marked(text)] if text else [Name(loss.context), "end of text"]
        return TextCell(line=line, look="text")

    repair = [f"train with {loss.repair}"] if loss.repair else []
    where = TextCell(line=loss.groups, look="prose"), TextCell(line=loss.origin, look="prose")
    change = f"{loss.position:,}", TextCell(line=loss.change, look="change")
    cause = TextCell(line=loss.cause, small=repair)
    excerpts = excerpt(loss.expected), excerpt(loss.got)
    return Row([loss.tokenizer, loss.corpus, cause, f"{loss.documents:,}", *where, *change, *excerpts])


def losses(tables: CellTables) -> LossSection:
    """Return the section. It claims that nothing was lost only if every round trip says so."""
    merged = _by_cause(tables)
    known = [*_CAUSES.values(), *(loss.cause for loss in merged)]
    causes = [cause for cause in dict.fromkeys(known) if any(loss.cause == cause for loss in merged)]
    rows: dict[tuple[str, str], dict[str, Loss]] = {}
    for loss in merged:
        rows.setdefault((loss.tokenizer, loss.corpus), {})[loss.cause] = loss
    return LossSection(
        [loss for loss in merged if loss.documents],
        causes,
        [_row(tables, place, row, causes) for place, row in rows.items()],
        _without_loss(tables),
    )


def _row(tables: CellTables, place: tuple[str, str], row: Mapping[str, Loss], causes: Sequence[str]) -> LossRow:
    cell = tables.cell(tables.with_role(Role.ROUND_TRIP), place[1], WHOLE, place[0])
    return LossRow(
        *place,
        documents=sum(loss.documents for loss in row.values()),
        tested=(cell and cell.n) or None,
        counts=[(row[cause].documents, row[cause].taking_part) if cause in row else (0, 0) for cause in causes],
    )


def _without_loss(tables: CellTables) -> str:
    metric = tables.with_role(Role.ROUND_TRIP)
    tested = [cell for cell in tables.results.cells if cell.metric == metric and cell.status == Status.OK]
    if not tested:
        return "No round trip was made."
    if any(cell.value != 1 for cell in tested):
        return "Some texts did not round-trip, but the run kept none of them."
    return "Every tested text round-tripped exactly."


def _by_cause(tables: CellTables) -> list[Loss]:
    merged: dict[tuple[str, str, str], Loss] = {}
    for entry in tables.results.losses:
        # A metric of a plugin may name no causes.
        whole = LossCause(cause="not given", documents=entry.documents, taking_part=entry.documents, first=entry.first)
        for given in entry.causes or [whole]:
            cause = _CAUSES.get(given.cause, given.cause)
            key = entry.tokenizer, entry.corpus, cause
            repair = tables.tokenizer(entry.tokenizer).repairs.get(given.cause, "")
            fresh = Loss(tokenizer=entry.tokenizer, corpus=entry.corpus, cause=cause, repair=visible(repair))
            loss = merged.setdefault(key, fresh)
            if given.first and not loss.documents:
                _show(loss, given.first)
            if given.documents:
                loss.by_group[entry.group] = loss.by_group.get(entry.group, 0) + given.documents
            loss.documents += given.documents
            loss.taking_part += given.taking_part
    return list(merged.values())


def _show(loss: Loss, first: LossExample) -> None:
    expected, got = first.expected, first.got
    shared = 0
    for one, other in zip(expected, got, strict=False):
        if one != other:
            break
        shared += 1
    loss.origin, loss.position = first.origin, first.position
    loss.context = visible(expected[:shared], spaces=True)
    loss.expected = visible(expected[shared:], spaces=True)
    loss.got = visible(got[shared:], spaces=True)
    loss.change = f"{_code_point(expected[shared:])} → {_code_point(got[shared:])}"


def _code_point(text: str) -> str:
    return f"U+{ord(text[0]):04X}" if text else "end"
