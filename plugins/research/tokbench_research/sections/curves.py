"""The sections on curves over a few metrics, such as tokens over the strength of a change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tokbench.report.cells import Series, legends
from tokbench.report.charts.line_profile import SMALL, ProfileLine, line_key, line_profile
from tokbench.report.charts.svg import Drawing
from tokbench.report.document import (
    ChartKey,
    Chooser,
    Heading,
    Multiples,
    Name,
    Node,
    Pane,
    Paragraph,
    Section,
    legend_lines,
)
from tokbench.report.escaping import plain
from tokbench.report.section import Chart, SectionSpec
from tokbench.report.tables import CellTables
from tokbench.results.cells import WHOLE
from tokbench.results.metric_curves import CurvePoint


@dataclass(frozen=True, slots=True)
class CurveGroup:
    """The charts of one quantity."""

    quantity: str
    explanation: str
    charts: Mapping[str, Drawing]


@dataclass(frozen=True, slots=True)
class CorpusCurves:
    """The curves of a family on one corpus."""

    corpus: str
    keys: Sequence[tuple[str, Drawing]]
    groups: Sequence[CurveGroup]
    absent: Sequence[str]
    legends: Sequence[str]


@dataclass(frozen=True, slots=True)
class FamilyCurves:
    """The curves of one metric family."""

    heading: str
    axis: str
    corpora: Sequence[CorpusCurves]


def metric_curves_documents(tables: CellTables) -> list[Section]:
    """Return a section for each family; only a page shows curves."""
    return [_section(curves, number) for number, curves in enumerate(metric_curves(tables))]


def _section(curves: FamilyCurves, number: int) -> Section:
    explanation = (
        f"From left to right: {curves.axis}, at equal distances. A line for each tokenizer on the whole corpus, with "
        "95% intervals; the value at 0 follows from the definition. A tokenizer that lacks a value has no line, and "
        "the tables above say why. Dots are hollow where text is lost."
    )
    panes = [Pane(view.corpus, _pane(view)) for view in curves.corpora]
    chooser = Chooser("Corpus of the curves", f"curve-{number}", panes, packed=True)
    return Section(f"curves-{number}", curves.heading, [Paragraph(explanation), chooser])


def _pane(view: CorpusCurves) -> list[Node]:
    keys = Paragraph([ChartKey(stroke, name) for name, stroke in view.keys], "legend")
    nodes: list[Node] = [Heading(["On ", Name(view.corpus)]), keys]
    for group in view.groups:
        nodes += [
            Heading(group.quantity.capitalize(), level=4),
            Paragraph(f"{group.explanation}.", "legend"),
            Multiples([*group.charts.values()], look="wide"),
        ]
    return [*nodes, *legend_lines([*view.absent, *view.legends])]


@dataclass(frozen=True, slots=True)
class _Curve:
    points: Sequence[CurvePoint]
    columns: Sequence[Series]

    @property
    def places(self) -> list[str]:
        start = ["0"] if self.points[0].start is not None else []
        return [*start, *(f"{point.at:g}" for point in self.points)]

    def lines(self, tables: CellTables) -> list[ProfileLine]:
        """Return a line for each tokenizer that has a value everywhere, and few unknown tokens."""
        lines = []
        start = self.points[0].start
        for style, name in enumerate(tables.tokenizers):
            cells = [column.cells[name] for column in self.columns]
            values = [cell.value for cell in cells if cell.value is not None and not cell.much_lost]
            if len(values) < len(cells):
                continue
            texts = [f"{cell.text}{cell.marks}" + f" ({cell.interval})" * bool(cell.interval) for cell in cells]
            intervals = [_interval(tables, column, name) for column in self.columns]
            if start is not None:
                values, texts, intervals = [start, *values], [f"{start:g}", *texts], [None, *intervals]
            lossy = any(cell.lossy for cell in cells)
            lines.append(ProfileLine(name, style, values, texts, intervals, lossy=lossy))
        return lines

    @property
    def reason(self) -> str:
        reasons = (cell.title for column in self.columns for cell in column.cells.values() if cell.value is None)
        return next(reasons, "too many unknown tokens to compare")


def metric_curves(tables: CellTables) -> list[FamilyCurves]:
    """Return the curves of each family that has a value.

    >>> from tokbench.results.model import Results
    >>> metric_curves(CellTables(Results(name="nothing yet")))
    []
    """
    families: dict[str, dict[str, dict[str, list[str]]]] = {}
    for metric, info in tables.results.metrics.items():
        if info.curve:
            quantity = families.setdefault(info.family, {}).setdefault(info.curve.quantity, {})
            quantity.setdefault(info.curve.name, []).append(metric)
    sections = []
    for family, quantities in families.items():
        corpora = [view for corpus in tables.corpora if (view := _corpus(tables, corpus, quantities))]
        if corpora:
            first = next(iter(next(iter(quantities.values())).values()))
            sections.append(
                FamilyCurves(plain(family).replace("_", " ").capitalize(), _point(tables, first[0]).axis, corpora)
            )
    return sections


def _corpus(
    tables: CellTables, corpus: str, quantities: Mapping[str, Mapping[str, Sequence[str]]]
) -> CorpusCurves | None:
    groups = []
    absent: dict[str, dict[str, None]] = {}
    drawn: dict[str, Drawing] = {}
    cells = []
    for quantity, curves in quantities.items():
        charts = {}
        for name, metrics in curves.items():
            curve = _curve(tables, corpus, metrics)
            lines = curve.lines(tables)
            if len(curve.places) < 2 or not lines:  # noqa: PLR2004 - a line has two ends
                absent.setdefault(curve.reason, {})[name] = None
                continue
            title = f"{quantity} on {corpus}, {name}, over {curve.points[0].axis}"
            charts[name] = line_profile(title, curve.places, lines, heading=name, size=SMALL)
            drawn |= {line.name: line_key(line.style) for line in lines}
            cells += [column.cells[line.name] for column in curve.columns for line in lines]
        if charts:
            info = tables.metric(next(iter(curves.values()))[0])
            groups.append(CurveGroup(quantity, f"{info.formula}; {info.direction} is better", charts))
    if not groups:
        return None
    keys = [(name, drawn[name]) for name in tables.tokenizers if name in drawn]
    reasons = [f"{', '.join(names)}: {reason}" for reason, names in absent.items()]
    return CorpusCurves(corpus, keys, groups, reasons, legends(cells))


def _curve(tables: CellTables, corpus: str, metrics: Sequence[str]) -> _Curve:
    ordered = sorted(metrics, key=lambda metric: _point(tables, metric).at)
    return _Curve([_point(tables, name) for name in ordered], [tables.series(name, corpus) for name in ordered])


def _point(tables: CellTables, metric: str) -> CurvePoint:
    point = tables.metric(metric).curve
    assert point is not None
    return point


def _interval(tables: CellTables, column: Series, name: str) -> tuple[float, float] | None:
    cell = tables.cell(column.metric, column.corpus, WHOLE, name)
    return None if cell is None or cell.ci_low is None or cell.ci_high is None else (cell.ci_low, cell.ci_high)


def metric_curve_charts(tables: CellTables) -> Iterator[Chart]:
    """Yield every curve."""
    for section in metric_curves(tables):
        for view in section.corpora:
            for group in view.groups:
                headings = f"{view.corpus}: {group.quantity}", f"over {section.axis}"
                for curve, drawing in group.charts.items():
                    name = f"{section.heading}-{view.corpus}-{group.quantity}-{curve}"
                    yield Chart(name, drawing, tuple(view.keys), headings)


SECTION: Final = SectionSpec(
    name="metric_curves", place=80, build=metric_curves_documents, charts=metric_curve_charts, page_only=True
)
