"""The section on pairs: which tokenizer needs fewer tokens than which, with ties."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tokbench.measuring.metric import Role
from tokbench.report.cells import legends
from tokbench.report.document import Column, Heading, Name, Node, Paragraph, Row, Section, Table, TextCell, legend_lines
from tokbench.report.tables import CellTables
from tokbench.results.blocks import PairComparison
from tokbench.results.cells import WHOLE, group_name

_SMALL: Final = 0.05


@dataclass(frozen=True, slots=True)
class PairDifference:
    """The tokens of one tokenizer compared with another."""

    text: str
    title: str
    differ: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """One group: the places, the tokenizers without a place, and a sentence on the first two."""

    group: str
    places: str
    without: str
    first: str


@dataclass(frozen=True, slots=True)
class PairSection:
    """One corpus."""

    corpus: str
    comparisons: int
    """The largest number of comparisons in a group, for the correction."""
    standings: Sequence[Standing]
    left_out: str
    legends: Sequence[str]
    names: Sequence[str]
    """The tokenizers on the whole corpus, fewest tokens first."""
    matrix: Sequence[Sequence[PairDifference | None]]
    """Row compared with column; ``None`` on the diagonal."""

    @property
    def explanation(self) -> str:
        return (
            "Every two tokenizers on the same documents, by a paired jackknife; intervals are 95 % each. A place is 1 "
            "plus the number of tokenizers that need significantly fewer tokens: after Holm's correction over the "
            f"{self.comparisons:,} comparisons of a group, no more than 1 group in 20 has a false difference in it. "
            "Who loses text in a group has no place there."
        )


def pairs(tables: CellTables, corpus: str) -> PairSection | None:
    """Return the comparisons on a corpus; ``None`` if there are none."""
    by_group: dict[str, list[PairComparison]] = {}
    for pair in tables.results.pairs:
        if pair.corpus == corpus:
            by_group.setdefault(pair.group, []).append(pair)
    if not by_group:
        return None
    groups = [*([WHOLE] if WHOLE in by_group else []), *(group for group in by_group if group != WHOLE)]
    groups = [group for group in groups if tables.is_shown(corpus, group)]
    whole = {(pair.tokenizer, pair.other): pair for pair in by_group.get(WHOLE, [])}
    rank = tables.with_role(Role.RANK)
    names = _by_tokens(whole.values())
    return PairSection(
        corpus=corpus,
        comparisons=max(map(len, by_group.values())),
        standings=[_standing(tables, rank, by_group[group]) for group in groups],
        left_out=tables.left_out(corpus),
        legends=legends(cell for group in groups for cell in tables.series(rank, corpus, group).cells.values()),
        names=names,
        matrix=[[_difference(whole, one, other) for other in names] for one in names],
    )


_CANNOT_TELL: Final = " ="


def pairs_document(tables: CellTables) -> Section | None:
    """Return the section; ``None`` without comparisons."""
    nodes: list[Node] = []
    for view in filter(None, (pairs(tables, corpus) for corpus in tables.corpora)):
        standings = [
            Row(
                [
                    group_name(standing.group),
                    *(
                        TextCell(line=text, look="prose")
                        for text in (standing.places, standing.without, standing.first)
                    ),
                ]
            )
            for standing in view.standings
        ]
        columns = [Column(name) for name in ("group", "places", "without a place", "the first two")]
        nodes += [
            Heading(Name(view.corpus)),
            Paragraph(view.explanation),
            Table("Places by number of tokens", columns, standings, label=f"Places on {view.corpus}", tall=True),
            *([Paragraph(view.left_out, "legend")] if view.left_out else []),
            *legend_lines(view.legends),
            _matrix(view),
        ]
    return Section("pairs", "Fewer tokens than whom", nodes) if nodes else None


def _matrix(view: PairSection) -> Table:
    rows = [
        Row([TextCell(line=name, title=name), *(_matrix_cell(difference) for difference in differences)])
        for name, differences in zip(view.names, view.matrix, strict=True)
    ]
    return Table(
        "Whole corpus: tokens of the row against the column, in percent; grey with =: not significantly different",
        [Column("tokenizer"), *(Column(name, upright=True, title=name) for name in view.names)],
        rows,
        label=f"Differences on {view.corpus}",
        look="heat neutral",
    )


def _matrix_cell(difference: PairDifference | None) -> TextCell:
    if difference is None:
        return TextCell()
    text = difference.text if difference.differ else difference.text + _CANNOT_TELL
    return TextCell(line=text, look="" if difference.differ else "pale", title=difference.title)


def _by_tokens(comparisons: Iterable[PairComparison]) -> list[str]:
    tokens: dict[str, int] = {}
    for pair in comparisons:
        tokens |= zip((pair.tokenizer, pair.other), pair.tokens, strict=True)
    return sorted(tokens, key=lambda name: tokens[name])


def _standing(tables: CellTables, rank: str, comparisons: Sequence[PairComparison]) -> Standing:
    order = _by_tokens(comparisons)
    cells = tables.series(rank, comparisons[0].corpus, comparisons[0].group).cells
    by_place: dict[str, list[str]] = {}
    for name in order:
        by_place.setdefault(cells[name].text, []).append(name + cells[name].marks)
    places = "; ".join(f"{place}. {' = '.join(names)}" for place, names in by_place.items())
    without = ", ".join(name for name, cell in cells.items() if cell.value is None and not cell.unbound)
    first = next((pair for pair in comparisons if [pair.tokenizer, pair.other] == order[:2]), None)
    return Standing(comparisons[0].group, places, without, sentence(first) if first else "")


def sentence(pair: PairComparison) -> str:
    """Return the difference of two tokenizers in words.

    >>> from dataclasses import replace
    >>> pair = PairComparison(
    ...     corpus="c", group="*", tokenizer="A", other="B", tokens=(969, 1000), difference=-0.031, ci_low=-0.035,
    ...     ci_high=-0.027, n=9, p=0.01, differ=True)
    >>> sentence(pair)
    'A needs 3.1 % fewer tokens than B [2.7, 3.5]'
    >>> sentence(replace(pair, differ=False))
    'A needs 3.1 % fewer tokens than B [2.7, 3.5], not significant among so many comparisons'
    >>> sentence(replace(pair, ci_high=0.002, differ=False))
    'A and B are not significantly different: 3.1 % fewer tokens [-0.2, 3.5]'
    """
    one, other, fewer = pair.tokenizer, pair.other, _percent(-pair.difference)
    interval = ""
    if pair.ci_low is not None and pair.ci_high is not None:
        interval = f" [{_percent(-pair.ci_high)}, {_percent(-pair.ci_low)}]"
    if not pair.difference:
        return f"{one} and {other} need equally many tokens"
    text = f"{one} needs {fewer} % fewer tokens than {other}{interval}"
    if pair.differ:
        return text
    if pair.ci_high is None or pair.ci_high >= 0:
        return f"{one} and {other} are not significantly different: {fewer} % fewer tokens{interval}"
    return f"{text}, not significant among so many comparisons"


def _percent(share: float) -> str:
    """Return a share in percent: one decimal, and more if it would become 0.

    >>> _percent(0.031), _percent(-0.00012), _percent(-0.0)
    ('3.1', '-0.012', '0')
    """
    shown = 100 * share + 0.0  # 0.0 takes the minus from -0.0
    return f"{shown:.1f}" if abs(shown) >= _SMALL else f"{shown:.2g}"


def _difference(whole: Mapping[tuple[str, str], PairComparison], one: str, other: str) -> PairDifference | None:
    pair = whole.get((one, other)) or whole.get((other, one))
    if pair is None:
        return None
    share = pair.difference if pair.tokenizer == one else 1 / (1 + pair.difference) - 1
    sign = "+" if share > 0 else ""
    title = f"{sentence(pair)}; {pair.n:,} documents; p {pair.p:.2g}, corrected {pair.p_holm:.2g}"
    return PairDifference(f"{sign}{_percent(share)}", title, pair.differ)
