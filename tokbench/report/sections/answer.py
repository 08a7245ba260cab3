"""The answer that comes first, as every format shows it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final, Literal

from tokbench.report.answer.answer import Answer
from tokbench.report.answer.line import OWN, PUBLISHED
from tokbench.report.document import (
    Bullets,
    Cards,
    Column,
    Details,
    Heading,
    Node,
    Paragraph,
    Rich,
    Row,
    Section,
    Strong,
    Table,
)
from tokbench.report.sections.cautions import distrust
from tokbench.report.sections.first_charts import first_charts
from tokbench.report.tables import CellTables

_COLUMNS: Final = (
    *(Column("tokenizer"), Column("tokens beyond the best", numeric=True, unit="%")),
    *(Column("95% interval", numeric=True), Column("in words")),
)


def answer_document(tables: CellTables, answer: Answer, leads: Sequence[Node] = ()) -> Section | None:
    """Return the answer of a run; ``None`` if nothing can be said. It begins with the pick and its margin.

    ``leads`` come after the sentences.
    """
    doubts = list(distrust(tables))
    # A verdict on sizes answers more than a ranking.
    pick = max(answer.lines, key=lambda line: (line.leads, not line.ranks), default=None) if answer.text else None
    nodes: list[Node] = [Paragraph(answer.text, "headline")] if answer.text else []
    if pick and pick.leads:
        both = {PUBLISHED, OWN}.issubset(line.label for line in answer.lines)
        label = f"{pick.label}: " if pick.ranks and both else ""
        headline = Paragraph(label + " ".join(pick.sentences[: pick.leads]), "headline")
        nodes = [headline, Paragraph(answer.text, "mixture")]
    said: list[Node] = []
    for line in answer.lines:
        kind: Literal["", "ranks"] = "ranks" if line.ranks else ""
        rest = line.sentences[line.leads if line is pick else 0 :]
        for number, sentence in enumerate(rest if line.label == PUBLISHED else filter(None, [" ".join(rest)])):
            labelled = not number and not (line is pick and line.label == PUBLISHED)
            said.append(Paragraph([Strong(line.label), ": ", sentence] if labelled else sentence, kind))
    nodes += [Cards([said, leads])] if leads else said
    if answer.text:
        nodes.append(Rich(partial(first_charts, tables, answer)))
    if len(answer.ranking.standings) > 1:
        nodes.append(Details("All tokenizers, over all texts that count", [_ranked(answer)]))
    if doubts:  # a page has them at its head
        nodes.append(Rich((), plain=[Heading("What to distrust"), Bullets(doubts)]))
    return Section("answer", "The answer", nodes) if nodes else None


def _ranked(answer: Answer) -> Table:
    rows = []
    for one in answer.ranking.standings:
        ends = "none" if one.low is None or one.high is None else f"{100 * one.low:.1f} to {100 * one.high:.1f}"
        best = one.tokenizer == answer.ranking.best
        verdict = "fewest tokens" if best else "tie" if one.tied else "more tokens"
        rows.append(Row([one.tokenizer, f"{100 * one.more:+.1f}", "–" if best else ends, verdict]))
    caption = "Tokens beyond the best: the geometric mean of the ratios in each text"
    return Table(caption, _COLUMNS, rows, label="Ranking over all texts")
