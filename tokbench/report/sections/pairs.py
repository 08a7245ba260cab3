"""The section on pairs: which tokenizer uses fewer tokens than which, with ties."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from tokbench.measuring.metric import Role
from tokbench.report.cells import legends
from tokbench.report.document import Column, Heading, Name, Node, Paragraph, Row, Section, Table, TextCell, legend_lines
from tokbench.report.tables import CellTables
from tokbench.results.blocks import PairComparison
from tokbench.results.cells import WHOLE, group_name

_ONE_DECIMAL: Final = 0.05
"""In percent, what one decimal shows as more than 0."""

_EXPLANATION: Final = (
    "A place is the rank by number of tokens: those of one place tie with the best of it, on the same documents. The "
    "table of differences compares every two tokenizers by a paired jackknife, with 95% intervals; Holm's correction "
    "is over the {:,} comparisons of a group. A tokenizer that loses text in a group has no place there."
)


def pairs_document(tables: CellTables) -> Section | None:
    """Return the section; ``None`` without comparisons."""
    nodes = [node for corpus in tables.corpora for node in _corpus(tables, corpus)]
    return Section("pairs", "Pairwise differences", nodes) if nodes else None


def _corpus(tables: CellTables, corpus: str) -> list[Node]:
    by_group: dict[str, list[PairComparison]] = {}
    for pair in tables.results.pairs:
        if pair.corpus == corpus:
            by_group.setdefault(pair.group, []).append(pair)
    if not by_group:
        return []
    groups = [
        group for group in dict.fromkeys([WHOLE, *by_group]) if group in by_group and tables.is_shown(corpus, group)
    ]
    rank, left_out = tables.with_role(Role.RANK), tables.left_out(corpus)
    rows = [_places(tables, rank, by_group[group]) for group in groups]
    columns = [Column(name) for name in ("group", "places", "without a place")]
    return [
        Heading(Name(corpus)),
        Paragraph(_EXPLANATION.format(max(map(len, by_group.values())))),
        Table("Places by number of tokens", columns, rows, label=f"Places on {corpus}"),
        *([Paragraph(left_out, "legend")] if left_out else []),
        *legend_lines(legends(cell for group in groups for cell in tables.series(rank, corpus, group).cells.values())),
        _matrix(corpus, by_group.get(WHOLE, [])),
    ]


def _matrix(corpus: str, whole: Sequence[PairComparison]) -> Table:
    names, by_names = _by_tokens(whole), {(pair.tokenizer, pair.other): pair for pair in whole}
    rows = [
        Row([TextCell(line=name, title=name), *(_matrix_cell(by_names, name, other) for other in names)])
        for name in names
    ]
    return Table(
        "Whole corpus: tokens of the row against the column, in percent; grey with =: not significantly different",
        [Column("tokenizer"), *(Column(name, upright=True, title=name) for name in names)],
        rows,
        label=f"Differences on {corpus}",
        look="heat neutral",
    )


def _matrix_cell(whole: Mapping[tuple[str, str], PairComparison], one: str, other: str) -> TextCell:
    pair = whole.get((one, other)) or whole.get((other, one))
    if pair is None:
        return TextCell()
    share = pair.difference if pair.tokenizer == one else 1 / (1 + pair.difference) - 1
    title = f"{sentence(pair)}; {pair.n:,} documents; p {pair.p:.2g}, corrected {pair.p_holm:.2g}"
    text = f"{'+' if share > 0 else ''}{_percent(share)}"
    return TextCell(line=text if pair.differ else f"{text} =", look="" if pair.differ else "pale", title=title)


def _by_tokens(comparisons: Iterable[PairComparison]) -> list[str]:
    tokens: dict[str, int] = {}
    for pair in comparisons:
        tokens |= zip((pair.tokenizer, pair.other), pair.tokens, strict=True)
    return sorted(tokens, key=lambda name: tokens[name])


def _places(tables: CellTables, rank: str, comparisons: Sequence[PairComparison]) -> Row:
    cells = tables.series(rank, comparisons[0].corpus, comparisons[0].group).cells
    by_place: dict[str, list[str]] = {}
    for name in _by_tokens(comparisons):
        by_place.setdefault(cells[name].text, []).append(name + cells[name].marks)
    places = "; ".join(f"{place}. {' = '.join(names)}" for place, names in by_place.items())
    without = ", ".join(name for name, cell in cells.items() if cell.value is None and not cell.unbound)
    return Row([group_name(comparisons[0].group), *(TextCell(line=text, look="prose") for text in (places, without))])


def sentence(pair: PairComparison) -> str:
    """Return the difference of two tokenizers in words.

    >>> from dataclasses import replace
    >>> pair = PairComparison(
    ...     corpus="c", group="*", tokenizer="A", other="B", tokens=(969, 1000), difference=-0.031, ci_low=-0.035,
    ...     ci_high=-0.027, n=9, p=0.01, differ=True)
    >>> sentence(pair)
    'A uses 3.1% fewer tokens than B [2.7, 3.5]'
    >>> sentence(replace(pair, differ=False))
    'A uses 3.1% fewer tokens than B [2.7, 3.5], not significant among so many comparisons'
    >>> sentence(replace(pair, ci_high=0.002, differ=False))
    'A and B are not significantly different: 3.1% fewer tokens [-0.2, 3.5]'
    """
    one, other, fewer = pair.tokenizer, pair.other, _percent(-pair.difference)
    interval = ""
    if pair.ci_low is not None and pair.ci_high is not None:
        interval = f" [{_percent(-pair.ci_high)}, {_percent(-pair.ci_low)}]"
    if not pair.difference:
        return f"{one} and {other} use equally many tokens"
    text = f"{one} uses {fewer}% fewer tokens than {other}{interval}"
    if pair.differ:
        return text
    if pair.ci_high is None or pair.ci_high >= 0:
        return f"{one} and {other} are not significantly different: {fewer}% fewer tokens{interval}"
    return f"{text}, not significant among so many comparisons"


def _percent(share: float) -> str:
    """Return a share in percent: one decimal, and more if it would become 0.

    >>> _percent(0.031), _percent(-0.00012), _percent(-0.0)
    ('3.1', '-0.012', '0')
    """
    shown = 100 * share + 0.0  # 0.0 takes the minus from -0.0
    return f"{shown:.1f}" if abs(shown) >= _ONE_DECIMAL else f"{shown:.2g}"
