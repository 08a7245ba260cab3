"""The section of the study: two tables for each size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tokbench.plugin.report import CellTables, Column, Heading, Node, Paragraph, Row, Section, SectionSpec, Table
from tokbench.plugin.report import TextCell as Cell
from tokbench.report.answer.line import CONFIDENCE, AnswerLine
from tokbench.report.answer.words import megabytes, percent
from tokbench_trainers.mixtures.block import MIXTURES, Mixtures
from tokbench_trainers.mixtures.front import MixtureStanding, sizes_of, standings

_EXPLANATION: Final = (
    "A vocabulary was trained on each mixture of languages, and every text was measured with it. A mixture is a "
    "weighted sum of counts, rounded half up; alpha makes the share of a language proportional to its bytes ** alpha "
    "(Conneau et al. 2020): 1 is the text as it is, 0 makes all alike. A language's loss is what it needs beyond the "
    "mixture and split that suit it best. Bold are those that no other beats in both numbers. All text is in the "
    "tables, which were trained on, too: with little text, whole sentences become tokens."
)
_MOST: Final = 8
_ENOUGH: Final = 100
"""Bytes of text for each token, as in the study of vocabulary sizes."""
_COLUMNS: Final = (
    Column("trained on", sort="ascending"),
    Column("bytes per token, all text", numeric=True, sort="descending"),
    Column("more tokens, all text", numeric=True, sort="ascending"),
    Column("worst language"),
    Column("more tokens than its best", numeric=True, sort="ascending"),
)


def mixtures_document(tables: CellTables) -> Section | None:
    """Return the section; ``None`` without a study of mixtures."""
    block = tables.results.studies.get(MIXTURES)
    if block is None:
        return None
    nodes: list[Node] = [Paragraph(_EXPLANATION)]
    for size in sizes_of(block):
        ranking = standings(block, size)
        heading = f"Mixtures at {size:,} tokens"
        nodes += [
            Heading(heading),
            _table(ranking, heading),
            _by_language(block, [standing for standing in ranking if standing.on_front][:_MOST], heading),
        ]
    return Section("mixtures", "Shares of languages", nodes)


def mixtures_answer(tables: CellTables) -> Iterator[AnswerLine]:
    """Yield the mixture that is best for the language that fares worst, what it costs over all text, and how sure."""
    block = tables.results.studies.get(MIXTURES)
    if block is None:
        return
    sizes = sizes_of(block)
    said = ((f"At {size:,}: " if len(sizes) > 1 else "") + _sentence(standings(block, size)) for size in sizes)
    yield AnswerLine("Mixtures", tuple(said))
    n_bytes, needed = max(sum(of_language.values()) for of_language in block.bytes.values()), _ENOUGH * max(sizes)
    if n_bytes < needed:
        few = f"Low: mixtures of {megabytes(n_bytes)}, where {max(sizes):,} tokens need {megabytes(needed)} of text."
        yield AnswerLine(CONFIDENCE, (few,))


def _sentence(ranking: Sequence[MixtureStanding]) -> str:
    fewest, fair = ranking[0], min(ranking, key=lambda standing: standing.worst_more)
    if not fair.worst_more:
        return f"{fair.name} is best for every language."
    best = (
        "mixture and split that suit it" if len({one.row.pattern for one in ranking}) > 1 else "mixture that suits it"
    )
    loss = f"{fair.worst} needs {percent(fair.worst_more)} more tokens than with the {best} best"
    if fair is fewest:
        return f"{fair.name} is best over all text and for the worst language: {loss}."
    cost = f"at {percent(fair.more)} more tokens over all text than {fewest.name}"
    return f"{fair.name} is best for the worst language: {loss}, {cost} (there {_worst(fewest)})."


def _worst(standing: MixtureStanding) -> str:
    return f"{standing.worst} +{percent(standing.worst_more)}"


def _table(ranking: Sequence[MixtureStanding], heading: str) -> Table:
    rows = []
    for standing in ranking:
        look, row = "best" * standing.on_front, standing.row
        title = f"{row.ids:,} tokens, all that the text gives" if row.ids < row.vocab_size else ""
        cells = [
            Cell(line=standing.name, look=look, title=title, value=standing.name),
            Cell(line=f"{standing.bytes_per_token:.3f}", value=standing.bytes_per_token),
            Cell(line=percent(standing.more), value=standing.more),
            Cell(line=standing.worst),
            Cell(line=percent(standing.worst_more), value=standing.worst_more),
        ]
        rows.append(Row(cells))
    return Table(f"{heading}, the fewest over all text first", _COLUMNS, rows, label=heading)


def _by_language(block: Mixtures, leading: Sequence[MixtureStanding], heading: str) -> Table:
    columns = [
        Column("language", sort="ascending"),
        *(Column(standing.name, numeric=True, sort="descending") for standing in leading),
    ]
    rows = []
    for name, share in block.text.items():
        cells = [Cell(line=name, value=name, title=f"{percent(share)} of all text")]
        for standing in leading:
            ratio, trained = standing.languages[name], block.shares[standing.row.mixture].get(name, 0.0)
            title = f"{percent(trained)} of the training text; {standing.row.tokens[name]:,} tokens"
            cells.append(Cell(line=f"{ratio:.3f}", value=ratio, title=title))
        rows.append(Row(cells))
    return Table("Bytes per token by language, on the front", columns, rows, label=f"Languages, {heading}")


SECTION: Final = SectionSpec(
    name="mixtures", place=95, study=MIXTURES.study, build=mixtures_document, answer=mixtures_answer
)
