"""The plugin that registers the report formats of tokbench."""

from __future__ import annotations

from collections.abc import Callable

from tokbench.plugin import ReporterSpec, hookimpl
from tokbench.report.formats import csv, curve_csv, html, markdown, pairs_csv


@hookimpl
def register_reporters(register: Callable[[ReporterSpec], None]) -> None:
    """Register ``html``, ``md``, ``csv``, ``curve`` and ``pairs``."""
    for spec in (html.SPEC, markdown.SPEC, csv.SPEC, curve_csv.SPEC, pairs_csv.SPEC):
        register(spec)
