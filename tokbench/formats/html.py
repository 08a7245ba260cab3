"""``report.html``: one self-contained page."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING

from tokbench.engine.reports import report_of
from tokbench.report.html_nodes import HtmlNodes
from tokbench.report.pages import html_environment
from tokbench.results.reporter import ReporterSpec

if TYPE_CHECKING:
    from tokbench.results.model import Results


def render(results: Results) -> str:
    """Return the page. All its text is made visible and escaped; its script is bound by its hash."""
    environment = html_environment()
    script = environment.get_template("script.js.j2").render()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    report = report_of(results)  # loaded now, and not with the list of formats
    return environment.get_template("report.html.j2").render(
        nodes=HtmlNodes(report.tables),
        report=report,
        script_hash=digest,
    )


SPEC = ReporterSpec(
    name="html",
    summary="one page with sortable tables, heat maps and definitions; needs no network",
    filename="report.html",
    render=render,
)
