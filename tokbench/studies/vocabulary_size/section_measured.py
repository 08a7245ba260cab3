"""The section on measured sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from tokbench.plugin import (
    PANE,
    WIDE,
    Bullets,
    ChartKey,
    Column,
    Drawing,
    Figure,
    Heading,
    Line,
    Multiples,
    Name,
    Node,
    Paragraph,
    ProfileLine,
    ProfileSize,
    Rich,
    Row,
    Table,
    TextCell,
    byte_size,
    captioned,
    line_key,
    line_profile,
)
from tokbench.studies.language_models.section import BEST_AT_END, lies_at_end, tried_rates
from tokbench.studies.vocabulary_size.measured_block import BestMeasuredSize, MeasuredSizes, SizeMove

_PLACE_COLUMNS: Final = (Column("line"), Column("body"))
_BEST_COLUMNS: Final = (
    *(*_PLACE_COLUMNS, Column("equal")),
    *(Column(head, numeric=True) for head in ("amount", "best size", "95 % interval", "level with it")),
    *(Column(head, numeric=True) for head in ("bits/byte", "by the law")),
)

_LIMITS: Final = (
    "Small models on little text, one corpus: the best size of a larger model, of more text or of other text is not "
    "extrapolated from this. A vocabulary that was trained on more text than the models brings some of it along, which "
    "favours large sizes."
)
_CHART: Final = "Bits per byte by vocabulary size"
_STAR: Final = (
    "The star stands below the best size, rings are around the sizes level with it, and upright strokes are "
    "95\u00a0% intervals."
)
_AT_END: Final = " ↔"
_SAME: Final = 0.005


def measured_nodes(measured: MeasuredSizes) -> list[Node]:
    """Return bits per byte at several sizes for every format."""
    nodes: list[Node] = [
        Heading("Bits per byte, measured here", id="measured-sizes"),
        Paragraph(_explanation(measured)),
    ]
    charts = MeasuredSizeCharts(measured)
    if charts.styles:
        rows = [_row(best, measured.refusal(best)) for best in measured.best]
        table = Table("Where bits per byte are fewest", _BEST_COLUMNS, rows, look="tight")
        nodes += [Rich(lambda: _chart_nodes(charts)), table, *_refusals(measured)]
    rates = _rate_cells(measured)
    nodes.append(captioned(_rate_table(rates)))
    marked = sum(str(cell.line).endswith(_AT_END) for cell in rates.values())
    if marked:
        nodes.append(Paragraph(f"{_AT_END.strip()} at {marked} of these: {BEST_AT_END}.", "legend"))
    sentences = move_sentences(measured)
    if sentences:
        nodes.append(Bullets(sentences))
    return [*nodes, Paragraph(_LIMITS, "legend")]


def _refusals(measured: MeasuredSizes) -> list[Node]:
    refused = ((best, measured.refusal(best)) for best in measured.best)
    lines = [
        f"{best.line}, {best.body}, {_amount(best.equal, best.amount)}: {reason}." for best, reason in refused if reason
    ]
    return [Paragraph("There is no best size where it says none:", "legend"), Bullets(lines)] if lines else []


def _explanation(measured: MeasuredSizes) -> str:
    source = "the rest of it" if measured.train == measured.corpus else measured.train
    bodies = ", ".join(f"{name} ({count:,} parameters)" for name, count in measured.bodies.items())
    seeds = len({trained.seed for trained in measured.trained})
    mean = "Each number is of one seed." if seeds == 1 else f"Each number is the mean of {seeds} seeds."
    return (
        f"A small transformer was trained at each size and scored on {measured.scored_documents:,} documents of "
        f"{measured.corpus} ({byte_size(measured.scored_bytes)}). The training text is {source}: "
        f"{measured.training_documents:,} documents, {byte_size(measured.training_bytes)}. "
        f"Bodies, without the vocabulary: {bodies}. {mean} Fewer bits per byte are better. Intervals come "
        "from documents and seeds together. Sizes are level if they are less than 0.02 bits per byte or two "
        "standard errors apart (more with few seeds: Student's t), or best in 2.5 % of the draws. At equal FLOPs, "
        "bits per byte lie between two amounts of text that were measured."
    )


def _chart_nodes(charts: MeasuredSizeCharts) -> list[Node]:
    keys: Line = ["Training text: ", *(ChartKey(key, name) for name, key in charts.keys)]
    figures = [Figure(chart, label=f"{_CHART}, {place}") for place, chart in charts.by_place.items()]
    return [Paragraph(keys, "legend"), Multiples(figures, look="panes"), Paragraph(_STAR, "legend")]


def _rate_cells(measured: MeasuredSizes) -> dict[tuple[str, str, int], TextCell]:
    tried = {(rates.line, rates.body, rates.vocab_size): rates.bits_per_byte for rates in measured.tried}
    cells = {}
    for trained in measured.trained:
        key = trained.line, trained.body, trained.vocab_size
        rate, rates = trained.learning_rate, tried.get(key, {})
        mark = _AT_END * lies_at_end(rate, rates)
        cells[key] = TextCell(line=f"{rate:g}{mark}", title=tried_rates(rate, rates))
    return cells


def _rate_table(cells: Mapping[tuple[str, str, int], TextCell]) -> Table:
    sizes = sorted({size for _, _, size in cells})
    rows = [
        Row([Name(line), body, *(cells.get((line, body, size), "") for size in sizes)])
        for line, body in dict.fromkeys((line, body) for line, body, _ in cells)
    ]
    return Table(
        "Learning rates, chosen on a tenth of the text where several were tried",
        [*_PLACE_COLUMNS, *(Column(f"{size:,}", numeric=True) for size in sizes)],
        rows,
        look="tight",
    )


def move_sentences(measured: MeasuredSizes) -> list[str]:
    """Return the moves of the best size, compared with the law's."""
    at = {(best.line, best.body, best.equal, best.amount): measured.refusal(best) for best in measured.best}
    return [
        _moved(move, [at[move.line, body, move.equal, amount] for body, amount in move.settings])
        for move in measured.moves
    ]


@dataclass(frozen=True)
class MeasuredSizeCharts:
    """The charts of measured sizes."""

    measured: MeasuredSizes

    @cached_property
    def keys(self) -> list[tuple[str, Drawing]]:
        return [(byte_size(amount), line_key(style)) for amount, style in self.styles.items()]

    @cached_property
    def by_place(self) -> dict[str, Drawing]:
        panes: dict[tuple[str, str], list[BestMeasuredSize]] = {}
        for best in self._equal_bytes:
            panes.setdefault((best.line, best.body), []).append(best)
        size = PANE if len(panes) > 1 else WIDE  # a single one fills its row
        return {", ".join(place): self._chart(", ".join(place), some, size) for place, some in panes.items()}

    @property
    def _equal_bytes(self) -> list[BestMeasuredSize]:
        return [best for best in self.measured.best if best.equal == "bytes"]

    @cached_property
    def styles(self) -> Mapping[float, int]:
        return {amount: k for k, amount in enumerate(sorted({best.amount for best in self._equal_bytes}))}

    def _chart(self, place: str, some: Sequence[BestMeasuredSize], size: ProfileSize) -> Drawing:
        lines = [
            ProfileLine(
                byte_size(best.amount),
                self.styles[best.amount],
                best.values,
                [f"{value:.3f}{self._mark(best, at)}" for at, value in zip(best.sizes, best.values, strict=True)],
                list(zip(best.low, best.high, strict=True)),
                rings=[] if self.measured.refusal(best) else [best.sizes.index(level) for level in best.level],
                star=None if self.measured.refusal(best) else best.sizes.index(best.best),
            )
            for best in some
        ]
        places = [_short(at) for at in some[0].sizes]
        return line_profile(f"{_CHART}, {place}", places, lines, upright="bits per byte", heading=place, size=size)

    def _mark(self, best: BestMeasuredSize, size: int) -> str:
        if self.measured.refusal(best):
            return ""
        return " (best)" if size == best.best else " (level with the best)" if size in best.level else ""


def measured_advice(measured: MeasuredSizes, taken: tuple[str, int] | None = None) -> Iterator[str]:
    """Yield sentences on the best measured size with the largest body and the most text, compared with ``taken``."""
    for best in measured.decisive:
        if reason := measured.refusal(best):
            yield f"What was measured gives no best size of {best.line}: {reason}."
            continue
        yield (
            f"Measured here, by bits per byte of a transformer with {measured.bodies[best.body]:,} parameters without "
            f"vocabulary after {byte_size(best.amount)}, {best.line} is best with {_best(best)} tokens{_level(best)}."
        )
        if taken and taken[0] == best.line:
            yield _beside(best, taken[1])


def _beside(best: BestMeasuredSize, size: int) -> str:
    """Return how a recommended size compares with the best measured one.

    >>> best = BestMeasuredSize(line="a", body="tiny", equal="bytes", amount=1, flops=1, sizes=[], values=[], best=2048,
    ...     best_low=1024, best_high=4096, law=1)
    >>> _beside(best, 2048), _beside(best, 1500)
    ('The size taken is the same.', 'The size taken lies in this interval.')
    >>> _beside(best, 8000)
    'The size taken is larger, because it rests on compression and FLOPs, not on this model.'
    """
    if size == best.best:
        return "The size taken is the same."
    if best.best_low is not None and best.best_high is not None and best.best_low <= size <= best.best_high:
        return "The size taken lies in this interval."
    than = "larger" if size > best.best else "smaller"
    return f"The size taken is {than}, because it rests on compression and FLOPs, not on this model."


def _best(best: BestMeasuredSize) -> str:
    """Return the best size with its interval.

    >>> _best(BestMeasuredSize(line="a", body="tiny", equal="bytes", amount=1, flops=1, sizes=[], values=[], best=2048,
    ...     best_low=1024, best_high=4096, law=1))
    '2,048 [1,024, 4,096]'
    """
    if best.best_low is None or best.best_high is None:
        return f"{best.best:,} (no interval: {best.no_interval})"
    return f"{best.best:,} [{best.best_low:,}, {best.best_high:,}]"


def _level(best: BestMeasuredSize) -> str:
    others = [f"{size:,}" for size in best.level if size != best.best]
    return f", level with {', '.join(others)}" if others else ""


def _short(size: int) -> str:
    """Return a size as the label of an axis.

    >>> _short(512), _short(4096), _short(2000), _short(50257), _short(1500)
    ('512', '4k', '2k', '50k', '1500')
    """
    if size >= 1024 and size % 1024 == 0:  # noqa: PLR2004 - a k of sizes that are powers of two
        return f"{size // 1024}k"
    return f"{size // 1000}k" if size >= 10_000 or size % 1000 == 0 else str(size)  # noqa: PLR2004 - five digits


def _amount(equal: str, amount: float) -> str:
    return byte_size(amount) if equal == "bytes" else f"{amount:.2g} FLOPs"


def _row(best: BestMeasuredSize, refusal: str) -> Row:
    interval = "none" if refusal or best.best_low is None else f"[{best.best_low:,}, {best.best_high:,}]"
    least = min(best.values)
    at = best.values.index(least)
    ends = f" [{best.low[at]:.3f}, {best.high[at]:.3f}]" if best.low else ""
    others = ", ".join(f"{size:,}" for size in best.level if size != best.best) or "none"
    law = f"{best.law:,}" + " (extrapolated)" * bool(best.law_caution)
    place = Name(best.line), best.body, best.equal, _amount(best.equal, best.amount)
    cells = ("none", interval, "none") if refusal else (f"{best.best:,}", interval, others)
    return Row([*place, *cells, f"{least:.3f}{ends}", law])


def _moved(move: SizeMove, refusals: Sequence[str]) -> str:
    """Return how the best size moves, compared with the law.

    ``refusals`` say of both settings why no size is called best there, or are empty.

    >>> def moved(*refusals, **interval):
    ...     return _moved(SizeMove(line="a", body="tiny", amount=250_000, to_body="tiny", to_amount=1e6, equal="bytes",
    ...         law=0.4, **interval), refusals or ("", ""))
    >>> print(moved(doublings=1.2, low=0.3, high=2.0, verdict="grows"))
    a, tiny, from 250 kB to 1.00 MB: the best size grows by 1.20 doublings [0.30, 2.00]. The law's direction holds here.
    >>> moved(doublings=0.2, low=-0.3, high=0.5, verdict="undecided").partition(": ")[2]
    'it cannot be decided where the best size goes: 0.20 doublings [-0.30, 0.50]. The law says 0.40 doublings.'
    >>> moved("", "4,096 is too large", doublings=0.0, verdict="undecided").partition(": ")[2]
    'no direction can be told, because with 1.00 MB 4,096 is too large. The law says 0.40 doublings.'
    """
    one, two = _amount(move.equal, move.amount), _amount(move.equal, move.to_amount)
    if move.body == move.to_body:
        place, settings = f"{move.line}, {move.body}, from {one} to {two}", (one, two)
    else:
        place, settings = f"{move.line}, {two}, from body {move.body} to {move.to_body}", (move.body, move.to_body)
    law = f"The law says {move.law:.2f} doublings."
    refused = [f"with {setting} {why}" for setting, why in zip(settings, refusals, strict=True) if why]
    if refused:
        return f"{place}: no direction can be told, because {'; and '.join(refused)}. {law}"
    if move.low is None or move.high is None:
        return f"{place}: it cannot be decided where the best size goes, because there is no interval."
    ends = f"[{move.low:.2f}, {move.high:.2f}]"
    if max(abs(move.low), abs(move.high)) < _SAME:
        return f"{place}: the best size does not move: {abs(move.doublings):.2f} doublings [0.00, 0.00]. {law}"
    if move.verdict == "undecided":
        return f"{place}: it cannot be decided where the best size goes: {move.doublings:.2f} doublings {ends}. {law}"
    way = f"{place}: the best size {move.verdict} by {abs(move.doublings):.2f} doublings {ends}."
    if abs(move.law) < _SAME:
        return f"{way} By the law it stays."
    holds = (move.law > 0) == (move.verdict == "grows")
    return f"{way} The law's direction {'holds' if holds else 'does not hold'} here."
