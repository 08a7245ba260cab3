"""The plugin that registers the report formats of tokbench."""

from __future__ import annotations

from collections.abc import Callable

from tokbench.plugin import ReporterSpec, hookimpl
from tokbench.report.formats import csv, html, markdown


@hookimpl
def register_reporters(register: Callable[[ReporterSpec], None]) -> None:
    """Register ``html``, ``md``, ``csv``, ``curve`` and ``pairs``."""
    for spec in (html.SPEC, markdown.SPEC, csv.CSV, csv.CURVE, csv.PAIRS):
        register(spec)
