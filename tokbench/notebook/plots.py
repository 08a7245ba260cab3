"""The charts of the report in a notebook, as SVG; ``results.frame`` has the numbers for other charts."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from markupsafe import escape

from tokbench.engine.reports import report_of
from tokbench.foundation.errors import InputError
from tokbench.foundation.files import write_atomically
from tokbench.foundation.visible_text import visible
from tokbench.measuring.metric import Role
from tokbench.notebook.small_page import find_corpora, find_metric
from tokbench.report.pictures import picture_svg
from tokbench.report.section import Chart
from tokbench.results.cells import WHOLE
from tokbench.results.model import Results


class Pictures(NamedTuple):
    """One or more charts, one below the other."""

    charts: Sequence[Chart]

    def _repr_html_(self) -> str:
        shown = [(escape(visible(chart.drawing.title)), picture_svg(chart).encode()) for chart in self.charts]
        source = "data:image/svg+xml;base64,"  # an image keeps its style sheet to itself
        return "\n".join(f'<img alt="{title}" src="{source}{b64encode(svg).decode()}">' for title, svg in shown)

    def save(self, path: str | Path) -> None:
        """Write the chart as an SVG file; with several charts, ``InputError`` asks for a corpus."""
        if len(self.charts) != 1:
            raise InputError(f"there are {len(self.charts)} charts; name a corpus to save one")
        write_atomically(Path(path), picture_svg(self.charts[0]).encode())


class Plots:
    """The charts of a run on one corpus, or on all; a missing chart is an ``InputError``."""

    def __init__(self, results: Results) -> None:
        self._report = report_of(results)

    def _find(self, section: str, kind: str, corpus: str, reason: str, end: str = "") -> Pictures:
        return self._named(section, [f"{kind}-{place}{end}" for place in find_corpora(self._report, corpus)], reason)

    def _named(self, section: str, names: Sequence[str], reason: str) -> Pictures:
        specs = [spec for spec in self._report.ordered_specs if spec.name == section]
        charts = [chart for spec in specs for chart in spec.charts(self._report.tables) if chart.name in names]
        if not charts:
            raise InputError(f"the run has no such chart: {reason}")
        return Pictures(charts)

    def bar(self, corpus: str = "") -> Pictures:
        """Return ranked bars of compression, best first: over all texts that count, or over one corpus."""
        several = corpus and len({name for part in self._report.answer.slices for name in part.corpora}) > 1
        names = [f"ranked-{place}" if several else "ranked" for place in find_corpora(self._report, corpus)]
        return self._named("overview", names, "it has no compression; .frame has the reasons")

    def heat(self, name: str = "", corpus: str = "") -> Pictures:
        """Return a heat map of a metric or of a family's first: groups down, tokenizers across."""
        metric = find_metric(self._report, name or self._report.tables.with_role(Role.TEXT_PER_TOKEN))
        return self._find("groups", "heat", corpus, f"{metric} has no numbers by group", f"-{metric}")

    def curve(self, corpus: str = "", group: str = WHOLE) -> Pictures:
        """Return bytes per token over vocabulary sizes."""
        end = "" if group == WHOLE else f"-group-{group}"
        return self._find("vocabulary_size", "sizes", corpus, "it has no study of vocabulary sizes for this", end)

    def speed(self, corpus: str = "") -> Pictures:
        """Return compression against encoding speed."""
        return self._find("tradeoff", "speed", corpus, "add speed to its metrics")

    def parity(self, corpus: str = "") -> Pictures:
        """Return compression against inequality between languages."""
        return self._find("fairness", "parity", corpus, "add fairness to its metrics")
