"""Cells as reports show them: a number or a word, its marks, and a tooltip with everything behind it.

A cell without a value shows a word and has a reason. It is never blank and never zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tokbench.report.number_format import Style, exact, unit_label
from tokbench.results.cells import Cell, Status

IN_SAMPLE, LOSSY, NO_INTERVAL = "†", "‡", "◦"
LEGENDS: Mapping[str, str] = {
    IN_SAMPLE: "† evaluated on text it was trained on",
    LOSSY: "‡ loses text here, so that fewer tokens are no merit",
    NO_INTERVAL: "◦ no interval, most often because documents are too few or too uneven; results.csv has the reason",
}
"""The meaning of each mark beside a number."""

BEST_LEGEND = (
    "bold: the best of a column, unless most are equal; cells with † or ‡ do not compete, "
    "and speeds whose intervals overlap are equal"
)

_WORDS = {Status.NOT_APPLICABLE: "n/a"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DisplayCell:
    """One cell of a table.

    Attributes:
        text: the number, or one short word.
        value: the number that the cell is sorted by; ``None`` sorts last.
        interval: ``low–high`` in the same digits, or an empty string.
        title: the tooltip: number, unit, interval and what the number rests on; or the reason.
        best: whether it is the best of its column.
        in_sample: the share of the text that the tokenizer was trained on; ``None`` if that is unknown or 0.
        lossy: whether the tokenizer lost text here, which makes this number look better.
        no_interval: whether an interval could not be trusted, so that there is none.
        unknown: whether so many tokens are unknown that the number cannot be compared with others.
    """

    text: str
    value: float | None = None
    interval: str = ""
    title: str = ""
    best: bool = False
    in_sample: float | None = None
    lossy: bool = False
    no_interval: bool = False
    unknown: bool = False

    @property
    def marks(self) -> str:
        """The marks beside the number; :data:`LEGENDS` explains them."""
        marks = {IN_SAMPLE: self.in_sample, LOSSY: self.lossy, NO_INTERVAL: self.no_interval}
        return "".join(mark for mark, holds in marks.items() if holds)


@dataclass(frozen=True, slots=True)
class Series:
    """One metric of one group for every tokenizer: a column of a table, or a row of a heat map.

    Attributes:
        metric, label, short_label: the metric's id, its name, and its name in narrow columns.
        corpus, group: the place.
        unit: the unit of its cells; empty if they do not agree.
        direction: ``higher``, ``lower`` or ``none``.
        cells: by tokenizer, in the order of the run.
    """

    metric: str
    label: str
    short_label: str
    corpus: str
    group: str
    unit: str
    direction: str
    cells: Mapping[str, DisplayCell]

    @property
    def unit_label(self) -> str:
        """The unit as it stands beside the numbers."""
        return unit_label(self.unit)

    @property
    def measured(self) -> bool:
        """Tell whether any cell has a number."""
        return any(cell.value is not None for cell in self.cells.values())

    @property
    def tells_apart(self) -> bool:
        """Tell whether the numbers depend on the tokenizer; the size of a text, for instance, does not."""
        values = [cell.value for cell in self.cells.values() if cell.value is not None]
        return bool(values) and (self.direction != "none" or len(values) == 1 or len(set(values)) > 1)

    def ranked(self) -> list[str]:
        """Return the tokenizers, best (or largest) first; many unknown tokens come later, no value last."""
        sign = 1.0 if self.direction == "lower" else -1.0

        def key(name: str) -> tuple[bool, bool, float]:
            cell = self.cells[name]
            return cell.value is None, cell.unknown, sign * (cell.value or 0.0)

        return sorted(self.cells, key=key)


def legends(cells: Iterable[DisplayCell]) -> list[str]:
    """Return the legends of the marks that these cells have."""
    marks = set("".join(cell.marks for cell in cells))
    return [legend for mark, legend in LEGENDS.items() if mark in marks]


def display_cell(cell: Cell, style: Style, *, best: bool, timed: bool, lossy: bool, unknown: bool) -> DisplayCell:
    """Return the cell in the style of its column; the ``n`` of a timed metric counts rounds, not documents."""
    if cell.status != Status.OK or cell.value is None:
        return DisplayCell(text=_WORDS.get(cell.status, cell.status.value), title=cell.reason or "no reason given")
    interval = ""
    title = [exact(cell.value, cell.unit)]
    if cell.ci_low is not None and cell.ci_high is not None:
        ends = style.show(cell.ci_low), style.show(cell.ci_high)
        # An interval narrower than the last digit is left to the tooltip.
        interval = f"{ends[0]}–{ends[1]}" if ends[0] != ends[1] else ""
        low = exact(cell.ci_low, "share" if cell.unit.startswith("share") else "")
        title.append(f"95 % interval {low} to {exact(cell.ci_high, cell.unit)}")
    else:
        title.append(cell.reason or "no interval: a count, or the same in all documents")
    if cell.n:
        title.append(f"{cell.n:,} {'rounds' if timed else 'documents'}")
    if cell.in_sample:
        title.append(f"{exact(cell.in_sample, 'share')} of the documents were trained on")
    if lossy:
        title.append("too many unknown tokens to compare" if unknown else "does not give every text back")
    return DisplayCell(
        text=style.show(cell.value),
        value=cell.value,
        interval=interval,
        title="; ".join(title),
        best=best,
        in_sample=cell.in_sample or None,
        lossy=lossy,
        no_interval=bool(cell.reason),
        unknown=unknown,
    )
