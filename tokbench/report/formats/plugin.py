"""The plugin that registers the report formats of tokbench."""

from __future__ import annotations

from collections.abc import Callable

from tokbench.plugin import ReporterSpec, hookimpl
from tokbench.report.formats import asv, csv, html, markdown, pytest_benchmark


@hookimpl
def register_reporters(register: Callable[[ReporterSpec], None]) -> None:
    """Register the pages, the tables, and the files for other programs."""
    tables = (html.SPEC, markdown.SPEC, csv.CSV, csv.CURVE, csv.PAIRS)
    for spec in (*tables, pytest_benchmark.SPEC, asv.RESULTS, asv.BENCHMARKS):
        register(spec)
