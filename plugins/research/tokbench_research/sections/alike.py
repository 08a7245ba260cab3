"""The section on what is alike: maps of groups under a tokenizer, and of tokenizers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final, NamedTuple

import numpy as np

from tokbench.report.charts.svg import Drawing
from tokbench.report.csv_text import csv_text
from tokbench.report.document import (
    Chooser,
    Column,
    Figure,
    Heading,
    Name,
    Node,
    Pane,
    Paragraph,
    Row,
    Section,
    Table,
    Term,
)
from tokbench.report.section import Chart, SectionSpec
from tokbench.report.tables import CellTables
from tokbench.results.blocks import PairMatrix
from tokbench.results.cells import WHOLE
from tokbench.results.model import Results
from tokbench.results.reporter import ReporterSpec
from tokbench_research.sections.pair_map import pair_map

_MOST: Final = 40

_TABLE: Final = ("metric", "corpus", "within", "one", "other", "value", "ci_low", "ci_high")

_EXPLANATIONS: Final = {
    "groups": (
        "Every two groups under each tokenizer: the stronger the colour, the more they have in common. The tree joins "
        "the closest two first, then clusters by the mean over their members (average linkage). The diagonal of a "
        "divergence compares two halves of one group: what chance does with so much text."
    ),
    "tokenizers": (
        "Every two tokenizers on the same text: the stronger the colour, the more they have in common. The tree joins "
        "the closest two first, then clusters by the mean over their members (average linkage)."
    ),
}
_TITLES: Final = {"groups": "Groups of {}", "tokenizers": "Tokenizers on {}"}
_COLUMNS: Final = {"groups": "tokenizer", "tokenizers": "group"}


@dataclass(frozen=True, slots=True)
class PairMap:
    """One matrix."""

    name: str
    metric: str
    label: str
    within: str
    """The tokenizer under which groups are compared, or the group in which tokenizers are."""
    mean: str
    closest: str
    farthest: str
    drawing: Drawing


class MatrixSection(NamedTuple):
    """The maps of one corpus, of groups or of tokenizers, and the number of things that they leave out."""

    corpus: str
    of: str
    maps: Sequence[PairMap]
    left_out: int


def matrix_sections(tables: CellTables) -> list[MatrixSection]:
    """Return the maps of groups, then the maps of tokenizers on whole corpora."""
    sections = []
    for corpus, of in product(tables.corpora, _TITLES):
        some = [matrix for matrix in tables.results.matrices if (matrix.corpus, matrix.of) == (corpus, of)]
        some = [matrix for matrix in some if of == "groups" or matrix.within == WHOLE]
        if some:
            left_out = max(len(matrix.names) for matrix in some) - _MOST
            sections.append(MatrixSection(corpus, of, list(_maps(tables, some)), left_out))
    return sections


def matrices_document(tables: CellTables) -> Section | None:
    """Return the section; ``None`` without maps."""
    nodes: list[Node] = []
    for number, view in enumerate(matrix_sections(tables)):
        title = _TITLES[view.of].format(view.corpus)
        rows = [
            Row([Term(shown.metric, shown.label), shown.within, shown.mean, shown.closest, shown.farthest])
            for shown in view.maps
        ]
        names = ("metric", _COLUMNS[view.of], "mean", "most alike", "least alike")
        columns = [Column(name, numeric=name == "mean") for name in names]
        panes = [Pane(shown.name, [Figure(shown.drawing, label=shown.drawing.title)]) for shown in view.maps]
        nodes += [
            Heading(Name(title)),
            Paragraph(_EXPLANATIONS[view.of]),
            Table("Means over all pairs, and the ends", columns, rows, label=title),
            Chooser(f"Map of {title}", f"alike-{number}", panes, packed=True),
        ]
        if view.left_out > 0:
            more = f"The maps show the first {_MOST} groups; {view.left_out:,} more are in overlap.csv."
            nodes.append(Paragraph(more, "legend"))
    return Section("alike", "What is alike", nodes) if nodes else None


def _maps(tables: CellTables, some: Sequence[PairMatrix]) -> Iterator[PairMap]:
    for every in some:
        matrix = _first(every)
        label = tables.label(matrix.metric)
        within = "whole corpus" if matrix.within == WHOLE else matrix.within
        labels = matrix.names
        if matrix.of == "groups":
            languages = [tables.language(matrix.corpus, name) for name in matrix.names]
            labels = [f"{lang} ({name})" if lang else name for lang, name in zip(languages, labels, strict=True)]
        below = [
            (value, f"{matrix.names[row]} and {matrix.names[column]}")
            for row, numbers in enumerate(matrix.values)
            for column, value in enumerate(numbers[:row])
            if value is not None
        ]
        ends = sorted(below, key=lambda pair: -pair[0] if matrix.likeness else pair[0])
        closest, farthest = (f"{names} ({value:.2f})" for value, names in (ends[0], ends[-1])) if ends else ("", "")
        mean = f"{np.mean([value for value, _ in below]):.3f}" if below else ""
        title = f"{label} of {matrix.corpus}, {within}: every two {matrix.of}"
        name = f"{within}: {label}" if matrix.of == "groups" else label
        drawing = pair_map(matrix, labels, title)
        yield PairMap(name, matrix.metric, label, within, mean, closest, farthest, drawing)


def _first(matrix: PairMatrix) -> PairMatrix:
    low, high = matrix.ci_low[:_MOST], matrix.ci_high[:_MOST]
    return replace(matrix, names=matrix.names[:_MOST], values=matrix.values[:_MOST], ci_low=low, ci_high=high)


def matrix_charts(tables: CellTables) -> Iterator[Chart]:
    """Yield every map."""
    for view in matrix_sections(tables):
        for shown in view.maps:
            yield Chart(f"{view.of}-{view.corpus}-{shown.name}", shown.drawing)


def overlap_csv(results: Results) -> str:
    """Return the overlap of every two groups, and of each with itself, by tokenizer."""
    return csv_text(_TABLE, _matrix_rows(results, "groups"))


def agreement_csv(results: Results) -> str:
    """Return the agreement of every two tokenizers in each group."""
    return csv_text(_TABLE, _matrix_rows(results, "tokenizers"))


def _matrix_rows(results: Results, of: str) -> Iterator[list[Any]]:
    for matrix in results.matrices:
        for row, name in enumerate(matrix.names) if matrix.of == of else ():
            for column, other in enumerate(matrix.names[: row + 1]):
                if row == column and of == "tokenizers":
                    continue
                ends = (end[row][column] if end else None for end in (matrix.ci_low, matrix.ci_high))
                yield [matrix.metric, matrix.corpus, matrix.within, other, name, matrix.values[row][column], *ends]


SPECS: Final = (
    SectionSpec(name="matrices", place=50, build=matrices_document, charts=matrix_charts),
    ReporterSpec(
        name="overlap",
        summary="numbers of every two groups under each tokenizer, in one tidy table",
        filename="overlap.csv",
        render=overlap_csv,
        needs="overlap",
    ),
    ReporterSpec(
        name="agreement",
        summary="numbers of every two tokenizers in each group, in one tidy table",
        filename="agreement.csv",
        render=agreement_csv,
        needs="agreement",
    ),
)
