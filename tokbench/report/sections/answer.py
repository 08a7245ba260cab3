"""The answer that comes first: who is best, what the others cost, and what to distrust."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

from tokbench.measuring.metric import Role
from tokbench.report.cells import percent
from tokbench.report.document import (
    Bullets,
    Column,
    Details,
    Heading,
    Name,
    Node,
    Paragraph,
    Rich,
    Row,
    Section,
    Table,
    legend_lines,
)
from tokbench.report.sections.answer_subject import names, subject_sentences
from tokbench.report.sections.first_charts import first_charts
from tokbench.report.sections.headline import headline_sentences
from tokbench.report.sections.problems import failing_tokenizers, missing_tokenizers
from tokbench.report.tables import CellTables
from tokbench.results.cells import WHOLE, trained_on
from tokbench.results.model import Results
from tokbench.statistics.jackknife import LEAST_UNITS
from tokbench.tokenizers.facts import cautions

_IN_WORDS: Final = "Each corpus in words, with what every other tokenizer costs"
_CAPTION: Final = "What the others cost: price and latency grow by as much"


class Cost(NamedTuple):
    """The cost of a tokenizer compared with the best one.

    Attributes:
        more: 0.12 for 12 % more tokens.
        low, high: the 95 % interval of ``more``.
        tied: the difference is not significant.
        reason: why it was not compared; empty if it was.
    """

    tokenizer: str
    more: float
    low: float | None
    high: float | None
    tied: bool
    reason: str = ""


def answer_section(tables: CellTables, leads: Sequence[Node] = ()) -> Section | None:
    """Return the answer as every format shows it; ``None`` if nothing can be said.

    ``leads`` come first, such as the recommended vocabulary size.
    """
    sentences = headline_sentences(tables)
    words = [node for corpus in tables.corpora for node in _corpus_nodes(tables, corpus)]
    doubts = list(distrust(tables))
    nodes: list[Node] = [*leads, *(Paragraph(sentence, "headline") for sentence in sentences)]
    if sentences:
        nodes.append(Rich(partial(first_charts, tables)))
    if words:
        nodes.append(Details(_IN_WORDS, words, open=not sentences))
    if doubts:  # a page has them at its head
        nodes.append(Rich((), plain=[Heading("What to distrust"), Bullets(doubts)]))
    return Section("answer", "The answer", nodes) if nodes else None


def _corpus_nodes(tables: CellTables, corpus: str) -> list[Node]:
    nodes: list[Node] = [Paragraph(sentence) for sentence in subject_sentences(tables, corpus)]
    others = costs(tables, corpus)
    if others:
        reasons = [cost.reason for cost in others]
        best = tables.competing(tables.with_role(Role.TEXT_PER_TOKEN), corpus)[0]
        more = Column(["more tokens than ", Name(best.tokenizer)], numeric=True, unit="%")
        columns = [Column("tokenizer"), more, Column("95\u00a0% interval", numeric=True), Column("on other text")]
        nodes.append(Table(_CAPTION, columns, [_row(cost) for cost in others], label=f"Costs on {corpus}"))
        nodes += legend_lines([f"not known: {reason}" for reason in dict.fromkeys(filter(None, reasons))])
    return [Heading(Name(corpus)), *nodes] if nodes else []


def _row(cost: Cost) -> Row:
    interval = "none" if cost.low is None or cost.high is None else f"{100 * cost.low:.1f} to {100 * cost.high:.1f}"
    evidence = "not known" if cost.reason else "not significantly different" if cost.tied else "significantly more"
    return Row([cost.tokenizer, f"{100 * cost.more:+.1f}", interval, evidence])


def costs(tables: CellTables, corpus: str) -> list[Cost]:
    """Return what the tokenizers that compete cost compared with the best one, the lowest first."""
    metric = tables.with_role(Role.TEXT_PER_TOKEN)
    pool = tables.competing(metric, corpus) if metric else []
    if not pool:
        return []
    top, *others = pool
    tied = tables.tied(top, others)
    found = []
    for cell in others:
        if top.value and cell.value:
            paired = tables.paired_quotient(cell, top)
            near = cell.value == top.value or cell.tokenizer in tied
            reason = "" if near else tables.paired(top, cell).reason
            found.append(Cost(cell.tokenizer, top.value / cell.value - 1, paired.low, paired.high, near, reason))
    return found


def distrust(tables: CellTables) -> Iterator[str]:
    """Yield sentences on what to distrust."""
    results = tables.results
    if results.interrupted:
        yield "The run was stopped before it was through."
    if results.config.limit is not None:
        yield f"At most {results.config.limit:,} documents of each group were measured: a first look."
    if not tables.losses_checked:
        yield "No round trip was made, so that losses are unknown, and no tokenizer is ranked best."
    seen = (cell for cell in results.cells if cell.in_sample)
    trained = {cell.tokenizer: cell.in_sample for cell in seen if trained_on(cell.in_sample)}
    if trained:
        share = max(seen or 0.0 for seen in trained.values())
        yield f"{names(list(trained))} saw up to {percent(share)} of the documents in training, and cannot win there."
    if missing := [name for name, _, _ in missing_tokenizers(results)]:
        yield f"{names(missing)} did not run."
    if failing := failing_tokenizers(results):
        yield f"{names(failing)} failed in places."
    few = sum(
        cell.group == WHOLE and bool(cell.reason) and cell.value is not None and cell.ci_low is None
        for cell in results.cells
    )
    if few:
        yield f"{few:,} numbers of whole corpora have no interval, because of too few documents."
    yield from _small_groups(results)
    for name, info in results.tokenizers.items():
        yield from (f"{name}: {note}" for note in cautions(info.notes))


def _small_groups(results: Results) -> Iterator[str]:
    small = []
    for name, corpus in results.corpora.items():
        few = sum(documents < LEAST_UNITS for documents in corpus.groups.values())
        if few and len(corpus.groups) > 1 and not corpus.designed:
            small.append(f"{few:,} of {len(corpus.groups):,} groups of {name}")
    if small:
        yield f"{names(small)} have fewer than {LEAST_UNITS} documents, so that their own numbers have no interval."
