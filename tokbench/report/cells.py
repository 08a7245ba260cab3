"""Cells as reports show them: a number or a word, its marks, and a tooltip with the details.

A cell without a value shows a word and has a reason. It is never blank and never zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tokbench.measuring.round_trip import RoundTrip
from tokbench.report.number_format import Style, exact, unit_label
from tokbench.results.cells import Cell, Status, trained_on

IN_SAMPLE, LOSSY, UNCHECKED = "†", "‡", "?"
CANONICAL, INSERTS, LOSSY_RANKED = "≡", "⊕", "§"

LEGENDS: Final[Mapping[str, str]] = {
    CANONICAL: "≡ equal up to NFC: some texts are decoded as canonically equivalent ones, which loses nothing",
    INSERTS: "⊕ inserts characters: decoded texts have some that the texts have not; none is lost",
    LOSSY_RANKED: "§ lossy but ranked: few characters are lost (0.1%, or what most_lost allows)",
    LOSSY: "‡ lossy and not ranked: more than 0.1% of the characters are lost, or more than most_lost allows",
    UNCHECKED: "? round trip not measured here, so that it is never best",
}

UNBOUND: Final = "–"
_NO_INTERVAL_LEGEND: Final = "grey: no interval, because of too few documents"
_UNBOUND_LEGEND: Final = f"{UNBOUND} not measured there: the configuration names other corpora"

BEST_LEGEND: Final = (
    "bold: the best of a column and any that ties with it, by less than the practical margin or not significantly "
    "different, unless most are equal or none can be compared; results with †, ‡ or ? and baselines do not compete; "
    "numbers that cannot be compared document by document, such as speeds, tie if their intervals overlap"
)
NOT_CHECKED_LEGEND: Final = (
    "nothing is bold where a loss could look better: this run has no round trip; add roundtrip to its metrics"
)

_WORDS = {Status.NOT_APPLICABLE: "n/a"}


MARKS: Final[Mapping[RoundTrip, str]] = {
    RoundTrip.EXACT: "",
    RoundTrip.CANONICAL: CANONICAL,
    RoundTrip.INSERTS: INSERTS,
    RoundTrip.LOSSY_RANKED: LOSSY_RANKED,
    RoundTrip.LOSSY: LOSSY,
    RoundTrip.UNKNOWN: UNCHECKED,
    RoundTrip.NOT_CHECKED: "",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DisplayCell:
    """One cell of a table.

    Attributes:
        value: the sort key; ``None`` sorts last.
        title: the tooltip: number, unit, interval and sample size; or the reason.
        in_sample: the share of the documents in the training text; ``None`` if too small to matter.
        no_interval: an interval could not be trusted.
        unbound: the configuration names other corpora for the tokenizer.
        missed: not measured, or failed, although due.
        raw: the number itself where ``text`` compares it with the best.
    """

    text: str
    value: float | None = None
    interval: str = ""
    title: str = ""
    best: bool = False
    in_sample: float | None = None
    round_trip: RoundTrip = RoundTrip.EXACT
    no_interval: bool = False
    unbound: bool = False
    missed: bool = False
    baseline: bool = False
    raw: str = ""

    @property
    def marks(self) -> str:
        return IN_SAMPLE * bool(self.in_sample) + MARKS[self.round_trip]

    @property
    def much_lost(self) -> bool:
        """The number cannot be drawn with others."""
        return self.round_trip == RoundTrip.LOSSY

    @property
    def competes(self) -> bool:
        return not (self.lossy or self.in_sample or self.baseline)

    @property
    def lossy(self) -> bool:
        return self.round_trip in {RoundTrip.LOSSY, RoundTrip.UNKNOWN}


@dataclass(frozen=True, slots=True)
class Series:
    """One metric of one group for every tokenizer.

    Attributes:
        unit: empty if the cells differ.
        cells: by tokenizer, in the order of the run.
        over: ``all bytes`` if large groups weigh more, other than in the answer; else empty.
    """

    metric: str
    label: str
    short_label: str
    corpus: str
    group: str
    unit: str
    direction: str
    cells: Mapping[str, DisplayCell]
    over: str = ""

    @property
    def place(self) -> str:
        """The corpus, and over what its number is."""
        return ", ".join(filter(None, [self.corpus, self.over]))

    @property
    def unit_label(self) -> str:
        return unit_label(self.unit)

    @property
    def measured(self) -> bool:
        return any(cell.value is not None for cell in self.cells.values())

    @property
    def tells_apart(self) -> bool:
        """``True`` if the numbers depend on the tokenizer, unlike the size of a text."""
        values = [cell.value for cell in self.cells.values() if cell.value is not None]
        return bool(values) and (self.direction != "none" or len(values) == 1 or len(set(values)) > 1)

    def ranked(self) -> list[str]:
        """Return the tokenizers, best (or largest) first.

        After those that compete: unknown round trip, baseline or trained on the text, lossy, without a value.
        """
        sign = 1.0 if self.direction == "lower" else -1.0

        def key(name: str) -> tuple[int, float]:
            cell = self.cells[name]
            if cell.value is None:
                return 5, 0.0
            if not cell.competes and not cell.lossy:
                return 3, sign * cell.value
            if cell.round_trip in {RoundTrip.UNKNOWN, RoundTrip.NOT_CHECKED}:
                return 1, sign * cell.value
            return 4 * cell.lossy, sign * cell.value

        return sorted(self.cells, key=key)


def legends(cells: Iterable[DisplayCell]) -> list[str]:
    """Return the legends of the marks in these cells.

    >>> legends([DisplayCell(text="3.1", value=3.1, round_trip=RoundTrip.UNKNOWN)])
    ['? round trip not measured here, so that it is never best']
    """
    some = list(cells)
    marks = set("".join(cell.marks for cell in some))
    trained = in_sample_legend([cell.in_sample for cell in some if cell.in_sample])
    lines = [*([trained] if trained else []), *(legend for mark, legend in LEGENDS.items() if mark in marks)]
    lines += [_NO_INTERVAL_LEGEND] if any(cell.no_interval for cell in some) else []
    return lines + ([_UNBOUND_LEGEND] if any(cell.unbound for cell in some) else [])


def in_sample_legend(shares: Sequence[float]) -> str:
    """Return the meaning of †, with the shares that were trained on.

    >>> in_sample_legend([0.34])
    '† 34% of the evaluated documents were in the training text'
    >>> in_sample_legend([1.0, 0.34, 0.5])
    '† 34 to 100% of the evaluated documents were in the training text, see the single results'
    """
    if not shares:
        return ""
    low, high = (Style("share", 0).show(share) for share in (min(shares), max(shares)))
    some, more = (low, "") if low == high else (f"{low} to {high}", ", see the single results")
    return f"{IN_SAMPLE} {some}% of the evaluated documents were in the training text{more}"


def display_cell(
    cell: Cell, style: Style, *, best: bool, timed: bool, round_trip: RoundTrip, lost: float | None, baseline: bool
) -> DisplayCell:
    """Return the cell in the style of its column.

    With ``timed``, ``n`` counts rounds, not documents. ``lost`` is the share of lost characters, ``None`` if unknown.
    """
    if cell.status != Status.OK or cell.value is None:
        missed = cell.status != Status.NOT_APPLICABLE
        word = _WORDS.get(cell.status, cell.status.value)
        return DisplayCell(text=word, title=cell.reason or "no reason given", missed=missed)
    interval = ""
    title = [exact(cell.value, cell.unit)]
    if cell.ci_low is not None and cell.ci_high is not None:
        ends = style.show(cell.ci_low), style.show(cell.ci_high)
        # An interval narrower than the last digit is left to the tooltip.
        interval = f"{ends[0]}–{ends[1]}" if ends[0] != ends[1] else ""
        interval += " rough" if interval and cell.caution else ""
        low = exact(cell.ci_low, "share" if cell.unit.startswith("share") else "")
        title.append(f"95% interval {low} to {exact(cell.ci_high, cell.unit)}")
    title.append(cell.caution or ("" if cell.ci_low is not None else "no interval: see its definition"))
    if cell.n:
        title.append(f"{cell.n:,} {'rounds' if timed else 'documents'}")
    if cell.in_sample:
        few = "" if trained_on(cell.in_sample) else ", too few to matter"
        title.append(f"{exact(cell.in_sample, 'share')} of the documents were in the training text{few}")
    if MARKS[round_trip]:
        title.append("round trip not measured" if round_trip == RoundTrip.UNKNOWN else round_trip.value)
        title.append(f"{exact(lost, 'share')} of the characters lost" if lost else "")
    return DisplayCell(
        text=style.show(cell.value),
        value=cell.value,
        interval=interval,
        title="; ".join(filter(None, title)),
        best=best,
        in_sample=cell.in_sample if trained_on(cell.in_sample) else None,
        round_trip=round_trip,
        no_interval=bool(cell.caution) and cell.ci_low is None,
        baseline=baseline,
    )
