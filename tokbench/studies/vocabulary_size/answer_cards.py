"""The answer of a study of vocabulary sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tokbench.report.document import (
    Cards,
    Column,
    Figure,
    Heading,
    Name,
    Node,
    Paragraph,
    Rich,
    Row,
    Table,
    captioned,
    sentence_paragraphs,
)
from tokbench.studies.vocabulary_size.answer import SizeAnswer, about
from tokbench.studies.vocabulary_size.block import SizeRange, SizeRecommendation
from tokbench.studies.vocabulary_size.cost_chart import COST_TITLE, cost_chart

_COLUMNS: Final = (
    *(Column("line"), Column("size", numeric=True)),
    *(Column(name, numeric=True) for name in ("bytes/token", "tokens", "FLOPs/byte")),
    *(Column(name, numeric=True) for name in ("share of the model", "ids too rare")),
)
_CAPTION: Final = "A size that may be taken, and those around it"
_LEGEND: Final = (
    "All corpora together. Tokens and FLOPs are beside those of the size taken, tokens with the paired 95\u00a0% "
    "interval where there is one. Ids too rare are those that training holds fewer than 100 times; there is no "
    "share where the text is too small to show it."
)
_LINE_COLUMNS: Final = (
    *(Column("line"), Column("sizes", numeric=True), Column("least at", numeric=True)),
    *(Column("FLOPs/byte", numeric=True), Column("cost by corpus, beside the best line there"), Column("recommended")),
)
_LINES: Final = "Sizes of each line that cost at most 2 % more than its best"
_CHART: Final = (
    "The sizes to take are shaded: a byte of text costs at most 2 % more there than at the best size. Higher up "
    "it costs more FLOPs. Costs of more than 50 % beyond the least are not drawn."
)


def size_cards(answer: SizeAnswer, advice: SizeRecommendation | None, styles: Mapping[str, int]) -> Cards:
    """Return the answer; ``styles`` has by line the number of its colour and dashes."""
    cards: list[Sequence[Node]] = [[Heading("Vocabulary size"), *sentence_paragraphs(answer.sentences)]]
    if advice and (chart := cost_chart(advice, styles)):
        cards.append([Rich([Figure(chart, _CHART, label=COST_TITLE)])])
    if advice and advice.ranges:
        rows = [_line_row(sizes, advice) for sizes in advice.ranges]
        cards.append([captioned(Table(_LINES, _LINE_COLUMNS, rows))])
    if answer.options:
        table = Table(_CAPTION, _COLUMNS, answer.options)
        cards.append([captioned(table), Paragraph(_LEGEND, "legend")])
    return Cards(cards, wide=True)


def _line_row(sizes: SizeRange, advice: SizeRecommendation) -> Row:
    ends = (
        about(sizes.best) if sizes.smallest == sizes.largest else f"{about(sizes.smallest)} to {about(sizes.largest)}"
    )
    ends += " or more" * sizes.open_above
    by_corpus = ", ".join(f"{corpus} {_beyond(share)}" for corpus, share in sizes.by_corpus.items())
    taken = advice.take and advice.take[0] == sizes.line
    verdict = "no" if sizes.refused else "this one" if taken else "costs more"
    return Row([Name(sizes.line), ends, about(sizes.best), f"{sizes.flops_per_byte:,.0f}", by_corpus, verdict])


def _beyond(share: float) -> str:
    """Return a cost beyond the best one.

    >>> _beyond(0.0), _beyond(0.123), _beyond(-0.04)
    ('best', '+12.3 %', '-4.0 %')
    """
    return "best" if share == 0 else f"{100 * share:+.1f} %"
