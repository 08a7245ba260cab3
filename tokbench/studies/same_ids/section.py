"""The section on same ids: tokenizers that should give the ids of another, and where they differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tokbench.foundation.visible_text import visible
from tokbench.report.answer.line import AnswerLine
from tokbench.report.document import Bullets, Column, Name, Node, Paragraph, Row, Section, Table, TextCell
from tokbench.report.escaping import cut
from tokbench.report.section import SectionSpec
from tokbench.report.tables import CellTables
from tokbench.results.cells import WHOLE
from tokbench.studies.same_ids.block import DIFFERENCES, TokenizerDifference
from tokbench.studies.same_ids.metric import SAME_COUNTS, SAME_IDS

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
    sentences, differences = _sentences(tables), _differences(tables)
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


def _row(entry: TokenizerDifference) -> Row:
    first = entry.first
    position = f"{first.position:,}" if first else "unknown"
    counts = f"{entry.documents:,}", f"{entry.compared:,}"
    text = visible(first.text, spaces=True) if first else visible(entry.reason or "not shown")
    excerpts = (TextCell(line=Name(shown), look="text") for shown in (text, *_expected_and_got(entry)))
    origin = TextCell(line=entry.origin, look="prose")
    return Row([entry.tokenizer, entry.same_as, entry.corpus, entry.group, *counts, origin, position, *excerpts])


def _expected_and_got(entry: TokenizerDifference) -> list[str]:
    """Return the tokens of the first document that differs, as expected and as they are, made visible."""
    first = entry.first
    return [_tokens(first.expected if first else ()), _tokens(first.got if first else ())]


def _tokens(tokens: Sequence[tuple[int, str]]) -> str:
    return " ".join(f"{visible(text, spaces=True)}·{number}" for number, text in tokens) or "no token"


def _sentences(tables: CellTables) -> list[str]:
    """Return a sentence for each tokenizer that is declared to share a vocabulary, and corpus that was not verified."""
    lines = []
    for name, info in tables.results.tokenizers.items():
        if not (other := info.same_as):
            continue
        what = _compared(tables, name)
        metric = SAME_COUNTS if what == "counts" else SAME_IDS
        cells = [cell for corpus in tables.corpora if (cell := tables.cell(metric.id, corpus, WHOLE, name))]
        compared = sum(cell.n for cell in cells)
        differing = sum(entry.documents for entry in _differences(tables) if entry.tokenizer == name)
        if differing:
            share = f"{differing:,} of {compared:,} documents"
            lines.append(f"{name}: other {what} than {other} in {share}; not ranked on speed")
        elif compared:
            lines.append(f"{name}: the {what} of {other} in all {compared:,} documents that were compared")
        lines += [f"{name}: not verified on {cell.corpus}: {cell.reason}" for cell in cells if cell.value is None]
    return lines


def _compared(tables: CellTables, name: str) -> str:
    return "counts" if tables.tokenizer(name).only_counts else "ids"


def _differences(tables: CellTables) -> list[TokenizerDifference]:
    return tables.results.studies.get(DIFFERENCES) or []


def _answer(tables: CellTables) -> Iterator[AnswerLine]:
    """Yield a line with the first difference of each tokenizer, if there is one."""
    said = []
    differences = _differences(tables)
    for name, entry in {entry.tokenizer: entry for entry in reversed(differences)}.items():
        documents = sum(difference.documents for difference in differences if difference.tokenizer == name)
        text = visible(entry.first.text, spaces=True) if entry.first else entry.reason or "not shown"
        expected, got = _expected_and_got(entry)
        said.append(
            f"{name} is not ranked on speed: its {_compared(tables, name)} differ from {entry.same_as}'s in "
            f"{documents:,} documents, first in {entry.origin}: {cut(text, _LONGEST)}; "
            f"{entry.same_as}: {expected}; {name}: {got}."
        )
    if said:
        yield AnswerLine("Same ids", tuple(said))


_LONGEST: Final = 40

SECTION: Final = SectionSpec(
    name="same_ids", place=120, study=DIFFERENCES.study, build=same_ids_document, answer=_answer
)
