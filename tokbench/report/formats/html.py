"""``report.html``: one page that needs nothing but itself."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import TYPE_CHECKING, Any

from tokbench.contracts.reporter import ReporterSpec
from tokbench.report.cells import BEST_LEGEND, label, legends
from tokbench.report.charts.heat import LEVELS, heat_maps
from tokbench.report.charts.scatter import scatter
from tokbench.report.escaping import plain, visible
from tokbench.report.number_format import duration, exact, size, unit_label
from tokbench.report.sections import key_numbers
from tokbench.report.sections.fairness import fairness
from tokbench.report.sections.losses import loss_counts, losses, no_losses, some_groups
from tokbench.report.sections.overview import in_detail, verdict
from tokbench.report.sections.pairs import explanation, pairs
from tokbench.report.sections.probes import probes
from tokbench.report.sections.problems import broken_plugins, cells_without_value, missing_tokenizers
from tokbench.report.sections.same_ids import comparisons, differences
from tokbench.report.sections.speed import speed_table
from tokbench.report.sections.vocabulary_size import study_view
from tokbench.report.tables import Tables
from tokbench.results.cells import WHOLE
from tokbench.results.model import Results

if TYPE_CHECKING:
    import jinja2

__all__ = ["SPEC", "render"]

_SPEED = "speed"
"""A family of metrics; notes that begin with it stand beside the speeds."""


def render(results: Results) -> str:
    """The page. All its text is made visible and escaped; its script is bound by its hash."""
    environment = _environment()
    script = environment.get_template("script.js.j2").render()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = environment.get_template("report.html.j2")
    return page.render(_context(results), script_hash=digest)


def _environment() -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        # For every template, whatever its name ends in: script and style hold none of the run's text.
        autoescape=True,
        finalize=_finalize,
        keep_trailing_newline=True,
        loader=jinja2.PackageLoader("tokbench.report"),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "exact": exact,
        "fixed": lambda value, digits: f"{value:,.{digits}f}",
        "explanation": explanation,
        "duration": duration,
        "groups": some_groups,
        "label": label,
        "legends": legends,
        "listing": _listing,
        "plain": plain,
        "size": size,
        "unit": unit_label,
    }
    return environment


def _finalize(value: Any) -> Any:
    """What every expression of every template goes through before it is escaped."""
    # Markup is a str that has been through here, or that a template of ours wrote.
    return value if hasattr(value, "__html__") or not isinstance(value, str) else visible(value)


def _listing(text: str) -> Any:
    """A text whose line ends are kept."""
    from markupsafe import escape

    return escape(visible(text, keep="\n"))


def _context(results: Results) -> dict[str, Any]:
    tables = Tables(results)
    maps = [(corpus, heat_maps(tables, corpus)) for corpus in tables.corpora]
    pictures = [scatter(tables, corpus) for corpus in tables.corpora]
    speeds = [speed_table(tables, corpus) for corpus in tables.corpora]
    details = [in_detail(tables, corpus) for corpus in tables.corpora]
    return {
        "BEST_LEGEND": BEST_LEGEND,
        "LEVELS": LEVELS,
        "WHOLE": WHOLE,
        "anchors": {name: f"metric-{number}" for number, name in enumerate(tables.metrics)},
        "broken": broken_plugins(results),
        "comparisons": comparisons(results),
        "config": _config(results),
        "differences": differences(results),
        "fairnesses": [found for corpus in tables.corpora if (found := fairness(tables, corpus))],
        "facts": key_numbers.key_numbers(tables),
        "heat": [(corpus, found) for corpus, found in maps if found],
        "loss_counts": loss_counts(results),
        "losses": losses(results),
        "missing": missing_tokenizers(results),
        "no_losses": no_losses(results),
        "notes": [note for note in results.notes if not note.startswith(_SPEED)],
        "probes": probes(results),
        "overviews": [[verdict(tables)], *filter(None, details)],
        "paired": [view for corpus in tables.corpora if (view := pairs(tables, corpus))],
        "results": results,
        "study": study_view(results),
        "scatters": [picture for picture in pictures if picture],
        "speed_notes": [note for note in results.notes if note.startswith(_SPEED)],
        "speeds": [table for table in speeds if table],
        "timed": any(tables.family(name) == _SPEED for name in tables.metrics),
        "subtitle": key_numbers.subtitle(tables),
        "tables": tables,
        "problems": cells_without_value(results),
    }


def _config(results: Results) -> str:
    text = results.config.get("text")
    if isinstance(text, str):
        return text
    return json.dumps(results.config, ensure_ascii=False, indent=2, default=str)


SPEC = ReporterSpec(
    name="html",
    summary="one page with sortable tables, heat maps and definitions; needs no network",
    filename="report.html",
    render=render,
)
