"""The quickstart as the home page shows it: its answer as console text, and its report, rendered at every build."""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path
from typing import Final

from rich.console import Console

import tokbench
from tokbench.engine.reports import report_of
from tokbench.registry.plugins import load_registry
from tokbench.report.terminal import summary
from tokbench.results.model import Results

ROOT: Final = Path(__file__).parents[2]
RUN: Final = ROOT / "reports" / "quickstart"
"""Where README's command writes; a run that is there is not measured again."""


@cache
def results() -> Results:
    """Return the results of the quickstart; it is measured if ``reports/quickstart`` has none."""
    if not (RUN / "results.json").is_file():
        tokbench.run(ROOT / "configs" / "quickstart.yaml", RUN)
    return Results.read(RUN)


def answer() -> str:
    """Return what the run prints, as a block of text."""
    printed = io.StringIO()
    summary(report_of(results()), Console(file=printed, width=76, color_system=None))
    lines = [line.rstrip() for line in printed.getvalue().strip().splitlines()]
    return "\n".join(["```{ .text .no-copy }", *lines, "```"])


def page() -> bytes:
    """Return the report as one file of HTML."""
    return load_registry().reporters.get("html").content(results())
