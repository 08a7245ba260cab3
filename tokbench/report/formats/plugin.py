"""The report formats that tokbench brings."""

from __future__ import annotations

from collections.abc import Callable

from tokbench.contracts.reporter import ReporterSpec
from tokbench.hookspecs import hookimpl
from tokbench.report.formats import csv, curve_csv, html, markdown, pairs_csv

__all__ = ["register_reporters"]


@hookimpl
def register_reporters(register: Callable[[ReporterSpec], None]) -> None:
    """Bring ``html``, ``md``, ``csv``, ``curve`` and ``pairs``."""
    for spec in (html.SPEC, markdown.SPEC, csv.SPEC, curve_csv.SPEC, pairs_csv.SPEC):
        register(spec)
