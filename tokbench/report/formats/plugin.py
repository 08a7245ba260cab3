"""The report formats that tokbench brings."""

from __future__ import annotations

from collections.abc import Callable

from tokbench.hookspecs import hookimpl
from tokbench.report import csv, html, markdown, pairs_csv
from tokbench.report.study import csv as curve_csv
from tokbench.reporter import ReporterSpec

__all__ = ["register_reporters"]


@hookimpl
def register_reporters(register: Callable[[ReporterSpec], None]) -> None:
    """Bring ``html``, ``md``, ``csv``, ``curve`` and ``pairs``."""
    for spec in (html.SPEC, markdown.SPEC, csv.SPEC, curve_csv.SPEC, pairs_csv.SPEC):
        register(spec)
