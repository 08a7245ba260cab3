"""The section on losses: documents that do not round-trip, by cause, with examples."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from tokbench.foundation.visible_text import visible
from tokbench.measuring.metric import Role
from tokbench.report.document import Column, Line, Name, Paragraph, Row, Section, Strong, Table, TextCell
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
LOSES_NOTHING: Final = frozenset({"NFC", "NFD"})
"""The causes, in words, that leave a canonically equivalent text."""

_MOST_GROUPS: Final = 4


@dataclass(slots=True, kw_only=True)
class ShownLoss:
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

        >>> ShownLoss(tokenizer="t", corpus="c", cause="other", by_group={"de": 3, "ja": 66, "zh": 67}).groups
        'zh 67, ja 66, de 3'
        """
        ranked = sorted(self.by_group.items(), key=lambda item: -item[1])
        shown = ", ".join(f"{name} {count:,}" for name, count in ranked[:_MOST_GROUPS])
        return shown + (f" and {len(ranked) - _MOST_GROUPS} more" if len(ranked) > _MOST_GROUPS else "")


_COLUMNS: Final = (
    *(Column("tokenizer"), Column("corpus"), Column("cause"), Column("texts", numeric=True), Column("groups")),
    *(Column("first"), Column("position", numeric=True), Column("difference"), Column("expected"), Column("got")),
)
_EXPLANATION: Final = (
    "Texts that did not round-trip, each counted for the cause of its first difference; below it, in how many "
    "texts a cause takes part, where it is more. The first text of a cause is shown from just before the difference. "
    "Spaces are shown as ␣, line ends as ⏎, tabs as ⇥, and what cannot be seen as its code point."
)


def losses_document(tables: CellTables) -> Section:
    """Return the section as a document. It claims that nothing was lost only if every round trip says so."""
    found = losses(tables)
    if not any(loss.documents for loss in found):
        return Section("losses", "Losses", [Paragraph(_without_loss(tables))])
    rows = [_row(tables, loss) for loss in found]
    table = Table("Losses by tokenizer, corpus and cause", _COLUMNS, rows, label="Losses")
    return Section("losses", "Losses", [Paragraph(_EXPLANATION), table])


def _row(tables: CellTables, loss: ShownLoss) -> Row:
    def excerpt(text: str) -> TextCell:
        line: Line = [Name(loss.context), Strong(text)] if text else [Name(loss.context), "end of text"]
        return TextCell(line=line if loss.documents else "", look="text")

    cell = tables.cell(tables.with_role(Role.ROUND_TRIP), loss.corpus, WHOLE, loss.tokenizer)
    more = [f"of {cell.n:,}"] if cell and cell.n else []
    more += [f"takes part in {loss.taking_part:,}"] if loss.taking_part > loss.documents else []
    cause = TextCell(line=loss.cause, small=[f"train with {loss.repair}"] if loss.repair else [])
    where = TextCell(line=loss.groups, look="prose"), TextCell(line=loss.origin, look="prose")
    change = f"{loss.position:,}" if loss.documents else "none", TextCell(line=loss.change, look="change")
    texts = TextCell(line=f"{loss.documents:,}", small=more)
    excerpts = excerpt(loss.expected), excerpt(loss.got)
    return Row([loss.tokenizer, loss.corpus, cause, texts, *where, *change, *excerpts])


def _without_loss(tables: CellTables) -> str:
    metric = tables.with_role(Role.ROUND_TRIP)
    tested = [cell for cell in tables.results.cells if cell.metric == metric and cell.status == Status.OK]
    if not tested:
        return "No round trip was measured."
    if any(cell.value != 1 for cell in tested):
        return "Some texts did not round-trip, but the run kept none of them."
    return "Every tested text round-tripped exactly."


def losses(tables: CellTables) -> list[ShownLoss]:
    """Return the losses of a run by tokenizer, corpus and cause."""
    merged: dict[tuple[str, str, str], ShownLoss] = {}
    for entry in tables.results.losses:
        # A metric of a plugin may name no causes.
        whole = LossCause(cause="not given", documents=entry.documents, taking_part=entry.documents, first=entry.first)
        for given in entry.causes or [whole]:
            cause = _CAUSES.get(given.cause, given.cause)
            key = entry.tokenizer, entry.corpus, cause
            repair = tables.tokenizer(entry.tokenizer).repairs.get(given.cause, "")
            fresh = ShownLoss(tokenizer=entry.tokenizer, corpus=entry.corpus, cause=cause, repair=visible(repair))
            loss = merged.setdefault(key, fresh)
            if given.first and not loss.documents:
                _show(loss, given.first)
            if given.documents:
                loss.by_group[entry.group] = loss.by_group.get(entry.group, 0) + given.documents
            loss.documents += given.documents
            loss.taking_part += given.taking_part
    return list(merged.values())


def _show(loss: ShownLoss, first: LossExample) -> None:
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
