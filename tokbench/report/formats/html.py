"""``report.html``: one page that needs nothing but itself."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Any

from tokbench import plugin
from tokbench.plugin import WHOLE, ReporterSpec, byte_size, duration, plain, visible

if TYPE_CHECKING:
    import jinja2

    from tokbench.plugin import Results

_MOST_TOKENS = 60
"""The number of tokens of a probe's text that the page shows."""


def render(results: Results) -> str:
    """Return the page. All its text is made visible and escaped; its script is bound by its hash."""
    environment = _environment()
    script = environment.get_template("script.js.j2").render()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    report = plugin.Report(results)  # loaded now, and not with the list of formats
    anchors = {name: f"metric-{number}" for number, name in enumerate(report.tables.metrics)}
    return environment.get_template("report.html.j2").render(
        WHOLE=WHOLE, anchors=anchors, most_tokens=_MOST_TOKENS, report=report, script_hash=digest
    )


def _environment() -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        # Every template is escaped, whatever its name ends in; script and style hold no text of the run.
        autoescape=True,
        finalize=_finalize,
        keep_trailing_newline=True,
        loader=jinja2.PackageLoader("tokbench.report"),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "byte_size": byte_size,
        "duration": duration,
        "fixed": lambda value, digits: f"{value:,.{digits}f}",
        "listing": _listing,
        "plain": plain,
        "thousands": lambda value: f"{value:,}",
    }
    return environment


def _finalize(value: Any) -> Any:
    """Make the value of an expression visible; markup has been through here, or was written by a template or chart."""
    return value if hasattr(value, "__html__") or not isinstance(value, str) else visible(value)


def _listing(text: str) -> Any:
    """Return a text made visible, whose line ends are kept."""
    from markupsafe import escape

    return escape(visible(text, keep="\n"))


SPEC = ReporterSpec(
    name="html",
    summary="one page with sortable tables, heat maps and definitions; needs no network",
    filename="report.html",
    render=render,
)
