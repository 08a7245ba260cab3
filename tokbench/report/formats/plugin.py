"""The plugin that registers the report formats of tokbench."""

from __future__ import annotations

from collections.abc import Callable

from tokbench.plugin import ReporterSpec, hookimpl
from tokbench.report.formats import csv, html, latex, markdown, parquet


@hookimpl
def register_reporters(register: Callable[[ReporterSpec], None]) -> None:
    """Register ``html``, ``md``, ``latex``, ``csv``, ``parquet``, ``curve`` and ``pairs``."""
    for spec in (html.SPEC, markdown.SPEC, latex.SPEC, csv.CSV, parquet.SPEC, csv.CURVE, csv.PAIRS):
        register(spec)
