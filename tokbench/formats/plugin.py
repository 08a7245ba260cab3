"""The plugin that registers the report formats of tokbench."""

from __future__ import annotations

from collections.abc import Callable

from tokbench.formats import asv, csv, html, latex, markdown, parquet, pytest_benchmark
from tokbench.plugin import ReporterSpec, hookimpl


@hookimpl
def register_reporters(register: Callable[[ReporterSpec], None]) -> None:
    """Register the pages, the tables, and the files for other programs."""
    pages = (html.SPEC, markdown.SPEC, latex.SPEC)
    tables = (*csv.SPECS, parquet.SPEC)
    for spec in (*pages, *tables, pytest_benchmark.SPEC, asv.RESULTS, asv.BENCHMARKS, asv.MACHINE):
        register(spec)
