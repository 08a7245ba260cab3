"""The section on same ids: tokenizers that should give the ids of another, and where they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tokbench.foundation.visible_text import visible
from tokbench.measuring.metric import Role
from tokbench.report.document import Bullets, Column, Name, Node, Paragraph, Row, Section, Table, TextCell
from tokbench.report.tables import CellTables
from tokbench.results.blocks import Difference
from tokbench.results.cells import WHOLE


@dataclass(frozen=True, slots=True)
class OtherIds:
    """The first document of a group that has other ids, made visible."""

    entry: Difference
    position: int | None
    text: str
    """The text around it, or why it could not be shown."""
    expected: str
    got: str


@dataclass(frozen=True, slots=True)
class SameIdsSection:
    """The whole section; empty if no tokenizer declares ``same_as``."""

    sentences: Sequence[str]
    differences: Sequence[OtherIds]


def same_ids(tables: CellTables) -> SameIdsSection:
    """Return the section."""
    return SameIdsSection(_sentences(tables), [_other_ids(entry) for entry in tables.results.differences])


_COLUMNS = (
    *(Column(name) for name in ("tokenizer", "same as", "corpus", "group")),
    *(Column("documents", numeric=True), Column("of", numeric=True), Column("first"), Column("position", numeric=True)),
    *(Column(name) for name in ("text", "expected", "got")),
)


def same_ids_document(tables: CellTables) -> Section | None:
    """Return the section as a document; ``None`` without ``same_as``."""
    section = same_ids(tables)
    if not section.sentences and not section.differences:
        return None
    nodes: list[Node] = [
        Paragraph("Tokenizers that are declared to share a vocabulary, compared id by id on every document."),
        Bullets(section.sentences),
    ]
    if section.differences:
        nodes += [
            Paragraph(
                "Of each group the first document that differs: its text from just before the difference on, and how "
                "either tokenizer cuts it, each token with its id. Spaces are shown as ␣, line ends as ⏎, tabs as ⇥."
            ),
            Table(
                "First document with other ids, by tokenizer, corpus and group",
                _COLUMNS,
                [_row(other) for other in section.differences],
                label="Documents with other ids",
                tall=True,
            ),
        ]
    return Section("same-ids", "Same ids", nodes)


def _row(other: OtherIds) -> Row:
    entry = other.entry
    position = "unknown" if other.position is None else f"{other.position:,}"
    counts = f"{entry.documents:,}", f"{entry.compared:,}"
    excerpts = (TextCell(line=Name(text), look="text") for text in (other.text, other.expected, other.got))
    first = TextCell(line=entry.origin, look="prose")
    return Row([entry.tokenizer, entry.same_as, entry.corpus, entry.group, *counts, first, position, *excerpts])


def _other_ids(entry: Difference) -> OtherIds:
    first = entry.first
    return OtherIds(
        entry=entry,
        position=first.position if first else None,
        text=visible(first.text, spaces=True) if first else visible(entry.reason or "not shown"),
        expected=_tokens(first.expected if first else ()),
        got=_tokens(first.got if first else ()),
    )


def _tokens(tokens: Sequence[tuple[int, str]]) -> str:
    return " ".join(f"{visible(text, spaces=True)}·{number}" for number, text in tokens) or "no token"


def _sentences(tables: CellTables) -> list[str]:
    results, lines = tables.results, []
    for name, info in results.tokenizers.items():
        if not (other := info.same_as):
            continue
        counts = info.returns == "counts"
        metric, what = tables.with_role(Role.SAME_COUNTS if counts else Role.SAME_IDS), "counts" if counts else "ids"
        cells = [cell for corpus in tables.corpora if (cell := tables.cell(metric, corpus, WHOLE, name))]
        compared = sum(cell.n for cell in cells)
        differing = sum(entry.documents for entry in results.differences if entry.tokenizer == name)
        if differing:
            share = f"{differing:,} of {compared:,} documents"
            lines.append(f"{name}: other {what} than {other} in {share}; not ranked on speed")
        elif compared:
            lines.append(f"{name}: the {what} of {other} in all {compared:,} documents that were compared")
        lines += [f"{name}: not verified on {cell.corpus}: {cell.reason}" for cell in cells if cell.value is None]
    return lines
