"""The section on same ids: tokenizers that should give the ids of another, and where they differ."""

from __future__ import annotations

from collections.abc import Sequence

from tokbench.foundation.visible_text import visible
from tokbench.measuring.metric import Role
from tokbench.report.document import Bullets, Column, Name, Node, Paragraph, Row, Section, Table, TextCell
from tokbench.report.tables import CellTables
from tokbench.results.blocks import Difference
from tokbench.results.cells import WHOLE

_COLUMNS = (
    *(Column(name) for name in ("tokenizer", "same as", "corpus", "group")),
    *(Column("documents", numeric=True), Column("of", numeric=True), Column("first"), Column("position", numeric=True)),
    *(Column(name) for name in ("text", "expected", "got")),
)

_CAPTION = "First document with different ids, by tokenizer, corpus and group"
_EXPLANATION = (
    "Of each group the first document that differs: its text from just before the difference on, and how either "
    "tokenizer cuts it, each token with its id. Spaces are shown as ␣, line ends as ⏎, tabs as ⇥."
)


def same_ids_document(tables: CellTables) -> Section | None:
    """Return the section as a document; ``None`` without ``same_as``."""
    sentences, differences = same_ids(tables), tables.results.differences
    if not sentences and not differences:
        return None
    nodes: list[Node] = [
        Paragraph("Tokenizers that are declared to share a vocabulary, compared id by id on every document."),
        Bullets(sentences),
    ]
    if differences:
        rows = [_row(entry) for entry in differences]
        nodes += [Paragraph(_EXPLANATION), Table(_CAPTION, _COLUMNS, rows, label="Documents with different ids")]
    return Section("same-ids", "Same ids", nodes)


def _row(entry: Difference) -> Row:
    first = entry.first
    position = f"{first.position:,}" if first else "unknown"
    counts = f"{entry.documents:,}", f"{entry.compared:,}"
    text = visible(first.text, spaces=True) if first else visible(entry.reason or "not shown")
    excerpts = (TextCell(line=Name(shown), look="text") for shown in (text, *expected_and_got(entry)))
    origin = TextCell(line=entry.origin, look="prose")
    return Row([entry.tokenizer, entry.same_as, entry.corpus, entry.group, *counts, origin, position, *excerpts])


def expected_and_got(entry: Difference) -> list[str]:
    """Return the tokens of the first document that differs, as expected and as they are, made visible."""
    first = entry.first
    return [_tokens(first.expected if first else ()), _tokens(first.got if first else ())]


def _tokens(tokens: Sequence[tuple[int, str]]) -> str:
    return " ".join(f"{visible(text, spaces=True)}·{number}" for number, text in tokens) or "no token"


def same_ids(tables: CellTables) -> list[str]:
    """Return a sentence for each tokenizer that is declared to share a vocabulary, and corpus that was not verified."""
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
