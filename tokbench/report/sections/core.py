"""The sections of every report."""

from __future__ import annotations

from typing import Final

from tokbench.report.document import Code, Column, Link, Paragraph, Row, Section, Table, TableCell, TextCell
from tokbench.report.section import SectionSpec
from tokbench.report.sections.first_charts import first_pictures
from tokbench.report.sections.groups import group_charts, groups_document
from tokbench.report.sections.losses import losses_document
from tokbench.report.sections.overview import overview_document
from tokbench.report.sections.pairs import pairs_document
from tokbench.report.sections.problems import problems_document
from tokbench.report.sections.provenance import provenance_document
from tokbench.report.tables import CellTables

_COLUMNS = [Column(name) for name in ("metric", "family", "formula", "unit", "better", "definition")]
_WITHOUT_NUMBER = (
    "n/a: the tokenizer cannot have this number; failed, timeout: it should have; unavailable: the tokenizer could not "
    "be had on this machine; –: the configuration names other corpora; not run: the run has no such result. The reason "
    "is in the tooltip and under "
)


def definitions_document(tables: CellTables) -> Section:
    """Return the section."""
    return Section(
        "definitions",
        "Definitions",
        [
            Table(
                "What each metric is; bytes are UTF-8, sums go over all documents of a group",
                _COLUMNS,
                [_row(tables, name) for name in tables.metrics],
                label="Definitions",
            ),
            Paragraph([_WITHOUT_NUMBER, Link("problems", "what did not run"), "."]),
        ],
    )


def _row(tables: CellTables, name: str) -> Row:
    metric, label = tables.metric(name), tables.label(name)
    definition = metric.definition or "not given"
    if metric.no_interval:
        definition += f" It has no interval: {metric.no_interval}."
    if metric.loss_cannot_help:
        definition += f" Losing text cannot improve it: {metric.loss_cannot_help}."
    shown = ", shown in %" if metric.unit.startswith("share") else ""
    cells: list[TableCell] = [
        TextCell(line=Code(name), small=[label] if label != name else []),
        metric.family or "not given",
        TextCell(line=metric.formula or "not given", look="prose"),
        TextCell(line=(metric.unit or "not given") + shown, look="prose"),
        metric.direction,
        TextCell(line=definition, look="prose"),
    ]
    return Row(cells, id=tables.anchors[name])


CORE_SECTIONS: Final = (
    SectionSpec(name="overview", place=10, build=overview_document, charts=first_pictures),
    SectionSpec(name="groups", place=20, build=groups_document, charts=group_charts),
    SectionSpec(name="pairs", place=40, build=pairs_document),
    SectionSpec(name="losses", place=150, build=losses_document),
    SectionSpec(name="problems", place=160, build=problems_document),
    SectionSpec(name="definitions", place=170, build=definitions_document),
    SectionSpec(name="provenance", place=180, build=provenance_document),
)
"""Plugins of tokbench use the places in between."""
