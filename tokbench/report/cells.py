"""A cell as a reader sees it: the number or a word, its marks, and the whole story behind it.

A cell without a value is a word with a reason, never a blank and never a zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tokbench.report.number_format import Style, exact, unit_label
from tokbench.results.cells import Cell, Status

__all__ = ["BEST_LEGEND", "IN_SAMPLE", "LEGENDS", "LOSSY", "DisplayCell", "Series", "display_cell", "label", "legends"]

IN_SAMPLE, LOSSY = "†", "‡"
LEGENDS: Mapping[str, str] = {
    IN_SAMPLE: "† evaluated on text it was trained on",
    LOSSY: "‡ loses text here, so that fewer tokens are no merit",
}
"""What the marks beside a number say."""

BEST_LEGEND = (
    "bold: the best of a column, unless most are equal; what bears a mark does not compete, "
    "and speeds whose intervals overlap are equal"
)

_LABELS: Mapping[str, str] = {
    "chars_per_token": "chars/token",
    "cer": "CER",
    "compression_ratio": "compression",
    "continued_word_rate": "continued words",
    "decode_mb_per_s": "decode",
    "encode_mb_per_s": "encode",
    "gini": "Gini",
    "left_out": "left out of premiums",
    "load_s": "load",
    "max_min": "max/min premium",
    "nsl": "sequence length",
    "relative_context": "context",
    "roundtrip_exact": "round trip",
    "train_s": "training",
    "unk_rate": "unknown tokens",
    "vocab_utilization": "vocabulary used",
    "whitespace_fidelity": "white space kept",
}
# A metric of a plugin goes by its id; the table of definitions has both.

_WORDS = {Status.NOT_APPLICABLE: "n/a"}


def label(metric: str) -> str:
    """A metric's short name."""
    return _LABELS.get(metric) or metric.replace("_", " ")


@dataclass(frozen=True, slots=True, kw_only=True)
class DisplayCell:
    """One cell.

    Attributes:
        text: the number, or one short word.
        value: what it is sorted by; ``None`` sorts last.
        interval: ``low–high`` in the same digits, or ``""``.
        title: the whole story: number, unit, interval, what it rests on; or the reason.
        best: whether it is the best of its column.
        in_sample: the share of the text that the tokenizer was trained on, if that is known and not 0.
        lossy: whether text was lost that fewer tokens could hide.
        unknown: whether so many tokens are unknown that the number compares with no other.
    """

    text: str
    value: float | None = None
    interval: str = ""
    title: str = ""
    best: bool = False
    in_sample: float | None = None
    lossy: bool = False
    unknown: bool = False

    @property
    def marks(self) -> str:
        """What stands beside the number, explained by :data:`LEGENDS`."""
        return (IN_SAMPLE if self.in_sample else "") + (LOSSY if self.lossy else "")


@dataclass(frozen=True, slots=True)
class Series:
    """One metric of one group for every tokenizer: a column of a table, or a row of a heat map.

    Attributes:
        metric, corpus, group: which.
        unit: the unit of its cells; ``""`` if they do not agree.
        direction: ``higher``, ``lower`` or ``none``.
        cells: by tokenizer, in the order of the run.
    """

    metric: str
    corpus: str
    group: str
    unit: str
    direction: str
    cells: Mapping[str, DisplayCell]

    @property
    def label(self) -> str:
        """The metric's short name."""
        return label(self.metric)

    @property
    def unit_label(self) -> str:
        """The unit as it stands beside the numbers."""
        return unit_label(self.unit)

    @property
    def measured(self) -> bool:
        """Whether there is any number in it."""
        return any(cell.value is not None for cell in self.cells.values())

    @property
    def tells_apart(self) -> bool:
        """Whether it says something of the tokenizers, and not only of the text, as its size does."""
        values = [cell.value for cell in self.cells.values() if cell.value is not None]
        return bool(values) and (self.direction != "none" or len(values) == 1 or len(set(values)) > 1)

    def ranked(self) -> list[str]:
        """The tokenizers, best (or largest) first; those with many unknown tokens, then without value, last."""
        sign = 1.0 if self.direction == "lower" else -1.0

        def key(name: str) -> tuple[bool, bool, float]:
            cell = self.cells[name]
            return cell.value is None, cell.unknown, sign * (cell.value or 0.0)

        return sorted(self.cells, key=key)


def legends(cells: Iterable[DisplayCell]) -> list[str]:
    """The legends that these cells need."""
    marks = set("".join(cell.marks for cell in cells))
    return [legend for mark, legend in LEGENDS.items() if mark in marks]


def display_cell(cell: Cell, style: Style, *, best: bool, rounds: bool, lossy: bool, unknown: bool) -> DisplayCell:
    """The cell in the style of its column; ``rounds`` says that ``n`` counts those, not documents."""
    if cell.status != Status.OK or cell.value is None:
        return DisplayCell(text=_WORDS.get(cell.status, cell.status.value), title=cell.reason or "no reason given")
    interval = ""
    title = [exact(cell.value, cell.unit)]
    if cell.ci_low is not None and cell.ci_high is not None:
        ends = style.show(cell.ci_low), style.show(cell.ci_high)
        # One that is narrower than the last digit says nothing here; the title has it.
        interval = f"{ends[0]}–{ends[1]}" if ends[0] != ends[1] else ""
        low = exact(cell.ci_low, "share" if cell.unit.startswith("share") else "")
        title.append(f"95 % interval {low} to {exact(cell.ci_high, cell.unit)}")
    if cell.n:
        title.append(f"{cell.n:,} {'rounds' if rounds else 'documents'}")
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
        unknown=unknown,
    )
