"""The answer that comes first: who is best, what the others cost, and what to distrust."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

from tokbench.measuring.metric import Role
from tokbench.measuring.round_trip import RoundTrip
from tokbench.report.cells import percent
from tokbench.report.document import (
    Bullets,
    Cards,
    Details,
    Heading,
    Inline,
    Name,
    Node,
    Paragraph,
    Rich,
    Section,
    sentence_paragraphs,
)
from tokbench.report.sections.answer_subject import MOST_NAMES, names, shown, subject_sentences
from tokbench.report.sections.first_charts import first_charts
from tokbench.report.sections.headline import headline_sentences
from tokbench.report.sections.losses import LossSection, losses
from tokbench.report.sections.problems import failing_tokenizers, missing_tokenizers
from tokbench.report.tables import CellTables, intervals_overlap
from tokbench.results.cells import WHOLE, Cell, trained_on
from tokbench.results.model import Results
from tokbench.statistics.jackknife import LEAST_UNITS
from tokbench.tokenizers.facts import cautions

_MOST_COSTS: Final = 12
_LOSSES: Final = {
    RoundTrip.CANONICAL: (
        "is equal up to NFC, which loses nothing (Unicode Standard Annex #15).",
        "are equal up to NFC, which loses nothing (Unicode Standard Annex #15).",
    ),
    RoundTrip.LOSSY_RANKED: (
        "loses text, but so little that its place is the same if every lost byte costs a token.",
        "lose text, but so little that their places are the same if every lost byte costs a token.",
    ),
    RoundTrip.LOSSY: ("loses text, and is not ranked.", "lose text, and are not ranked."),
}
_IN_WORDS: Final = "Each corpus in words, with what every other tokenizer costs"
_COSTS: Final = "What each other tokenizer costs in tokens, with the 95\u00a0% interval"


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

    @property
    def text(self) -> str:
        """The cost in words.

        >>> Cost("a", 0.1234, 0.11, 0.135, False).text
        '+12.3 % [11.0, 13.5]'
        """
        interval = "" if self.low is None or self.high is None else f" [{100 * self.low:.1f}, {100 * self.high:.1f}]"
        return f"{100 * self.more:+.1f} %{interval}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusAnswer:
    """The answer for one corpus: sentences, the lowest costs, and how many more there are."""

    corpus: str
    sentences: Sequence[str]
    costs: Sequence[Cost]
    more: int


def corpus_answers(tables: CellTables) -> list[CorpusAnswer]:
    """Return the answer by corpus; every sentence is supported by intervals."""
    lost = losses(tables)
    corpora = [_of_corpus(tables, lost, corpus) for corpus in tables.corpora]
    return [corpus for corpus in corpora if corpus.sentences]


def answer_section(tables: CellTables, leads: Sequence[Node] = ()) -> Section | None:
    """Return the answer as every format shows it; ``None`` if nothing can be said.

    ``leads`` come first, such as the recommended vocabulary size.
    """
    cards = [_corpus_card(corpus) for corpus in corpus_answers(tables)]
    doubtful = list(distrust(tables))
    doubts: list[Sequence[Node]] = [[Heading("What to distrust"), Bullets(doubtful)]] if doubtful else []
    sentences = headline_sentences(tables)
    page = partial(_page, tables, cards, charted=bool(sentences))
    nodes: list[Node] = [
        *leads,
        *(Paragraph(sentence, "headline") for sentence in sentences),
        *([Rich(page, plain=[Cards([*cards, *doubts])])] if cards or doubts else []),
    ]
    return Section("answer", "The answer", nodes) if nodes else None


def _page(tables: CellTables, cards: Sequence[Sequence[Node]], *, charted: bool) -> list[Node]:
    words: list[Node] = [Cards(cards)] if cards else []
    charts = first_charts(tables) if charted else []
    return [*charts, Details(_IN_WORDS, words)] if charts and words else words


def _corpus_card(corpus: CorpusAnswer) -> Sequence[Node]:
    nodes: list[Node] = [Heading(Name(corpus.corpus)), *sentence_paragraphs(corpus.sentences)]
    lines = [_cost_line(cost) for cost in corpus.costs]
    if corpus.more:
        lines.append([f"and {corpus.more:,} more"])
    if lines:
        listed = [piece for line in lines for piece in ("; ", *line)][1:]
        plain = [Paragraph(["More tokens than the best: ", *listed, "."])]
        nodes.append(Rich([Details(_COSTS, [Bullets(lines)])], plain=plain))
    return nodes


def _cost_line(cost: Cost) -> list[Inline]:
    return [
        Name(cost.tokenizer, strong=True),
        f" {cost.text}{', not significantly different from the best' * cost.tied}",
    ]


def _of_corpus(tables: CellTables, lost: LossSection, corpus: str) -> CorpusAnswer:
    metric = tables.with_role(Role.TEXT_PER_TOKEN)
    pool = tables.competing(metric, corpus) if metric else []
    costs = _costs(tables, pool)
    sentences = [
        *_best(tables, pool, costs),
        *subject_sentences(tables, corpus),
        *_lossy(tables, lost, metric, corpus),
        *_fastest(tables, corpus),
    ]
    return CorpusAnswer(
        corpus=corpus, sentences=sentences, costs=costs[:_MOST_COSTS], more=max(0, len(costs) - _MOST_COSTS)
    )


def _costs(tables: CellTables, pool: Sequence[Cell]) -> list[Cost]:
    if not pool:
        return []
    top, *others = pool
    tied = tables.tied(top, others)
    costs = []
    for cell in others:
        if not top.value or not cell.value:
            continue
        paired = tables.paired_quotient(cell, top)
        near = cell.value == top.value or cell.tokenizer in tied
        reason = "" if near else tables.paired(top, cell).reason
        costs.append(Cost(cell.tokenizer, top.value / cell.value - 1, paired.low, paired.high, near, reason))
    return costs


def _best(tables: CellTables, pool: Sequence[Cell], costs: Sequence[Cost]) -> Iterator[str]:
    if not pool:
        return
    top = pool[0]
    value = shown(tables, top)
    if not costs:
        yield f"{top.tokenizer} alone competes: {value}."
        return
    apart = [cost for cost in costs if not cost.tied]
    tied = [cost.tokenizer for cost in costs if cost.tied]
    unknown = {cost.tokenizer: cost.reason for cost in apart if cost.reason}
    why = next(iter(unknown.values()), "")
    if tables.corpus(top.corpus).designed:
        yield f"{top.tokenizer} needs the fewest tokens for these texts, {value}; they were chosen, and are no sample."
    elif unknown and len(unknown) == len(apart) and not any(cost.more for cost in costs if cost.tied):
        yield f"{top.tokenizer} needs the fewest tokens here, {value}."
        yield f"Nothing shows that this holds on other text: {why}."
    else:
        head = f"{top.tokenizer} needs the fewest tokens, {value}"
        if tied:
            yield f"{head}; {names(tied)} {'do' if len(tied) > 1 else 'does'} not differ significantly."
        else:
            beaten = f"but {names(list(unknown))}" if unknown else "others"
            yield f"{head}, and is significantly ahead of all {beaten}."
        if unknown:
            verb = "needs" if len(unknown) == 1 else "need"
            yield f"Nothing shows that {names(list(unknown))} {verb} more on other text: {why}."
    if len(apart) == 1:
        [one] = apart
        yield f"{one.tokenizer} needs {one.text.removeprefix('+')} more tokens; price and latency grow by as much."
    elif apart:
        low, high = (f"{100 * cost.more:.1f} % ({cost.tokenizer})" for cost in (apart[0], apart[-1]))
        yield f"The others need {low} to {high} more tokens; price and latency grow by as much."


def _lossy(tables: CellTables, lost: LossSection, metric: str, corpus: str) -> Iterator[str]:
    causes: dict[str, list[str]] = {}
    for loss in lost.examples:
        if loss.corpus == corpus:
            causes.setdefault(loss.tokenizer, []).append(loss.cause)
    found: dict[RoundTrip, list[str]] = {}
    for name in tables.tokenizers:
        if cell := tables.cell(metric, corpus, WHOLE, name):
            why = f"{name} ({names(causes[name])})" if name in causes else name
            found.setdefault(tables.round_trip(cell), []).append(why)
    for answer, words in _LOSSES.items():
        if losers := found.get(answer):
            yield f"{names(losers, most=2 * MOST_NAMES)} {words[len(losers) > 1]}"


def _fastest(tables: CellTables, corpus: str) -> Iterator[str]:
    metric = tables.with_role(Role.ENCODING_SPEED)
    pool = tables.competing(metric, corpus) if metric else []
    if len(pool) > 1:
        yield _fastest_of(tables, pool, "")
    by_ids: dict[str, list[Cell]] = {}
    for cell in pool:
        other = tables.tokenizer(cell.tokenizer).same_as or cell.tokenizer
        by_ids.setdefault(other, []).append(cell)
    for name, engines in by_ids.items():
        if 1 < len(engines) < len(pool):
            yield _fastest_of(tables, engines, f" among tokenizers with the ids of {name}")


def _fastest_of(tables: CellTables, pool: Sequence[Cell], among: str) -> str:
    top, *others = pool
    near = [cell.tokenizer for cell in others if intervals_overlap(cell, top)]
    sentence = f"{top.tokenizer} encodes fastest{among}, {shown(tables, top)}"
    return f"{sentence}; {names(near)} may be as fast." if near else f"{sentence}."


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
