"""The answer that comes first, as every format shows it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final, Literal

from tokbench.report import document as doc
from tokbench.report.answer.answer import Answer
from tokbench.report.answer.line import OWN, PUBLISHED
from tokbench.report.sections.cautions import distrust
from tokbench.report.sections.first_charts import first_charts
from tokbench.report.tables import CellTables

_COLUMNS: Final = (
    *(doc.Column("tokenizer"), doc.Column("tokens beyond the best", numeric=True, unit="%")),
    *(doc.Column("95% interval", numeric=True), doc.Column("in words")),
)


def answer_document(tables: CellTables, answer: Answer, leads: Sequence[doc.Node] = ()) -> doc.Section | None:
    """Return the answer of a run; ``None`` if nothing can be said. It begins with the pick and its margin.

    ``leads`` come after the sentences.
    """
    doubts = list(distrust(tables))
    # A verdict on sizes answers more than a ranking.
    pick = max(answer.lines, key=lambda line: (line.leads, not line.ranks), default=None) if answer.text else None
    nodes: list[doc.Node] = [doc.Paragraph(answer.text, "headline")] if answer.text else []
    if pick and pick.leads:
        both = {PUBLISHED, OWN}.issubset(line.label for line in answer.lines)
        label = f"{pick.label}: " if pick.ranks and both else ""
        headline = doc.Paragraph(label + " ".join(pick.sentences[: pick.leads]), "headline")
        nodes = [headline, doc.Paragraph(answer.text, "mixture")]
    said: list[doc.Node] = []
    for line in answer.lines:
        kind: Literal["", "ranks"] = "ranks" if line.ranks else ""
        rest = line.sentences[line.leads if line is pick else 0 :]
        for number, sentence in enumerate(rest if line.label == PUBLISHED else filter(None, [" ".join(rest)])):
            labelled = not number and not (line is pick and line.label == PUBLISHED)
            said.append(doc.Paragraph([doc.Strong(line.label), ": ", sentence] if labelled else sentence, kind))
    nodes += [doc.Cards([said, leads])] if leads else said
    if answer.text:
        nodes.append(doc.Rich(partial(first_charts, tables, answer)))
    if len(answer.ranking.standings) > 1:
        nodes.append(doc.Details("All tokenizers, over all texts that count", [_ranked(answer)]))
    if doubts:  # a page has them at its head
        nodes.append(doc.Rich((), plain=[doc.Heading("What to distrust"), doc.Bullets(doubts)]))
    return doc.Section("answer", "The answer", nodes) if nodes else None


def _ranked(answer: Answer) -> doc.Table:
    rows = []
    for one in answer.ranking.standings:
        ends = "none" if one.low is None or one.high is None else f"{100 * one.low:.1f} to {100 * one.high:.1f}"
        best = one.tokenizer == answer.ranking.best
        verdict = "fewest tokens" if best else "tie" if one.tied else "more tokens"
        rows.append(doc.Row([one.tokenizer, f"{100 * one.more:+.1f}", "–" if best else ends, verdict]))
    caption = "Tokens beyond the best: the geometric mean of the ratios in each text"
    return doc.Table(caption, _COLUMNS, rows, label="Ranking over all texts")
