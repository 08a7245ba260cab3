"""The section on definitions: what each metric is, and the words shown instead of a number."""

from __future__ import annotations

from tokbench.report.document import Code, Column, Link, Paragraph, Row, Section, Table, TableCell, TextCell
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
