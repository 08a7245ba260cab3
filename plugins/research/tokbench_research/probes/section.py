"""The section on probes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tokbench.foundation.visible_text import visible
from tokbench.measuring.round_trip import RoundTrip
from tokbench.plugin.report import (
    CellTables,
    Column,
    Details,
    Heading,
    Inline,
    Name,
    Node,
    Paragraph,
    Rich,
    Row,
    Section,
    SectionSpec,
    Table,
    TableCell,
    Term,
    TextCell,
    legend_lines,
)
from tokbench.report.cells import LEGENDS, MARKS
from tokbench.report.document import Listing, Token, Tokens
from tokbench_research.probes.block import PROBES, ProbeAnswerInfo, ProbeInfo

_LEGEND: Final = (
    "Texts that the probes bring themselves, and how each tokenizer cuts them: the number of tokens, then the tokens. "
    "Spaces are shown as ␣, line ends as ⏎, tabs as ⇥, bytes that are no text as \\x and two digits."
)
_SAME: Final = str.maketrans({"␣": " ", "⏎": "\n"})


def probes_document(tables: CellTables) -> Section | None:
    """Return the section; ``None`` without probes. Answers without text appear in metric tables only."""
    shown = [probe for probe in (tables.results.studies.get(PROBES) or []) if probe.texts or not _answered(probe)]
    nodes: list[Node] = [Paragraph(_LEGEND), Rich([], plain=[Paragraph("Tokens are set apart by ¦.")])]
    nodes += [node for probe in shown for node in _probe(tables, probe)]
    return Section("probes", "Probes", nodes) if shown else None


def _answered(probe: ProbeInfo) -> bool:
    return any(not answer.reason for answer in probe.answers.values())


def _probe(tables: CellTables, probe: ProbeInfo) -> Iterator[Node]:
    yield Heading(probe.title)
    yield Paragraph([probe.explanation, *_metrics(tables, probe)])
    # A text of many lines has no room in the heading of a column.
    listings = [(label, text) for label, text in probe.texts if text.count("\n") > 1]
    if listings:
        yield Details("Its texts", [node for label, text in listings for node in (Paragraph(label), Listing(text))])
    columns = [Column("tokenizer"), *(_column(label, text) for label, text in probe.texts)]
    columns += [] if probe.texts else [Column("")]
    rows = [Row([name, *_cells(probe, answer)]) for name, answer in probe.answers.items()]
    yield Table(f"{probe.title}: tokens", columns, rows, f"Probe: {probe.title}", look="probe", tall=True)
    own = [
        Row([name, TextCell(line=Name(text.label), look="text"), _tokens(text.tokens, MARKS[text.round_trip])])
        for name, answer in probe.answers.items()
        for text in answer.own
    ]
    if own:
        caption, label = (
            f"{probe.title}: texts chosen for each tokenizer",
            f"Probe: {probe.title}, texts of each tokenizer",
        )
        columns = [Column("tokenizer"), Column("text"), Column("tokens")]
        yield Table(caption, columns, own, label, look="probe", tall=True)
    marks = {mark for answer in probe.answers.values() for mark in _marks(probe, answer)}
    yield from legend_lines([legend for mark, legend in LEGENDS.items() if mark in marks])


def _metrics(tables: CellTables, probe: ProbeInfo) -> list[Inline]:
    line: list[Inline] = []
    for name in probe.metrics:
        line += [", " if line else " Measured: ", Term(name, tables.label(name)) if name in tables.anchors else name]
    return [*line, "."] if line else []


def _column(label: str, text: str) -> Column:
    says_more = "\n" not in text and label.translate(_SAME) != text
    return Column(Name(label), below=Name(text) if says_more else "")


def _cells(probe: ProbeInfo, answer: ProbeAnswerInfo) -> list[TableCell]:
    if not answer.tokens:
        return [TextCell(line=answer.reason, look="prose soft", span=max(len(probe.texts), 1))]
    marks = _text_marks(probe, answer)
    cells = [_tokens(tokens, mark) for tokens, mark in zip(answer.tokens, marks, strict=False)]
    return [*cells, *[""] * (len(marks) - len(cells))]


def _text_marks(probe: ProbeInfo, answer: ProbeAnswerInfo) -> list[str]:
    other = RoundTrip.UNKNOWN if answer.lossy is None else RoundTrip.EXACT
    return [MARKS[(answer.lossy or {}).get(label, other)] for label, _ in probe.texts]


def _marks(probe: ProbeInfo, answer: ProbeAnswerInfo) -> list[str]:
    cut = _text_marks(probe, answer)[: len(answer.tokens)]
    return [*cut, *(MARKS[text.round_trip] for text in answer.own)]


def _tokens(tokens: Sequence[tuple[int, str]], mark: str) -> TextCell:
    shown = [Token(visible(text, spaces=True), f"id {number}") for number, text in tokens]
    return TextCell(line=Tokens(shown, mark), look="text")


SECTION: Final = SectionSpec(name="probes", place=140, build=probes_document)
