"""Charts of results for notebooks, made with Altair: heat maps, vocabulary sizes, and speed against compression.

They follow the rules of the report: what loses text has no colour or is hollow, and is marked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tokbench.foundation.visible_text import visible
from tokbench.notebook.small_page import find_corpora, find_metric, group_rows
from tokbench.plugin import InputError, Role, did_you_mean
from tokbench.report.cells import IN_SAMPLE, LOSSY
from tokbench.report.charts.heat import LEVELS, heat_map
from tokbench.report.escaping import cut
from tokbench.report.report import Report
from tokbench.results.cells import WHOLE, group_name
from tokbench.results.model import Results

if TYPE_CHECKING:
    import pandas as pd

    from tokbench.studies.vocabulary_size.size_curve import SizeTrace

_SPEED: Final = "encoding, MB/s"
_RATIO: Final = "bytes/token"

Chart = Any
"""A chart of Altair. Charts that consist of others have classes of their own."""

_INSTALL: Final = "charts need altair: pip install 'tokbench[plot]'"
_MOST_GROUPS: Final = 60
"""Groups of a heat map; more would not fit on a screen, nor into a notebook of less than a megabyte."""

_MOST_POINTS: Final = 200
"""Points of a line over vocabulary sizes, which may be known at a hundred thousand."""

_MOST_ROWS: Final = 4_000
"""Rows of the data of a chart; Altair refuses more than 5,000."""

_LONGEST: Final = 40
_STEP: Final = 46
"""Pixels of a column of a heat map: a number with its marks."""


class Plots:
    """The charts of a run; each is an Altair chart, to be shown, changed or saved with ``.save("chart.svg")``.

    Args:
        results: the run.

    >>> Plots(Results(name="r")).speed()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    tokbench.foundation.errors.InputError: the run has no speed and compression of one tokenizer: ...
    """

    def __init__(self, results: Results) -> None:
        self._results = results

    @cached_property
    def _report(self) -> Report:
        return Report(self._results)

    def __repr__(self) -> str:
        """Return the charts that the run has, as they are written.

        >>> Plots(Results(name="r"))
        charts: none, because nothing was measured
        """
        tables, studies = self._report.tables, self._results.studies
        has = {
            "bar()": tables.with_role(Role.TEXT_PER_TOKEN),
            "heat()": tables.with_role(Role.TEXT_PER_TOKEN),
            "speed()": tables.with_role(Role.ENCODING_SPEED),
            "parity()": tables.with_role(Role.INEQUALITY),
            "curve()": "vocabulary_size" in studies,
        }
        charts = ", ".join(f".plot.{chart}" for chart, there in has.items() if there)
        return f"charts: {charts or 'none, because nothing was measured'}"

    def bar(self, name: str = "", corpus: str = "") -> Chart:
        """Return ranked bars of one metric on a whole corpus, best first, with their intervals.

        What loses text, and baselines, have pale bars below the others.

        Args:
            name: the id of a metric, or the name of a family; empty for text per token.
            corpus: the corpus; empty for all, one below the other.

        Raises:
            InputError: there is no such metric or corpus, it has no numbers, or Altair is missing.
        """
        return _below(self._of_metric(name, corpus, self._bar))

    def _of_metric(self, name: str, corpus: str, draw: Callable[[str, str], Chart | None]) -> list[Chart]:
        """Return the charts of a metric on each corpus that has numbers, ``draw(metric, corpus)``.

        Raises:
            InputError: there is no such metric or corpus, or it has no numbers.
        """
        metric = find_metric(self._report, name or self._report.tables.with_role(Role.TEXT_PER_TOKEN))
        drawn = (draw(metric, corpus_name) for corpus_name in find_corpora(self._report, corpus))
        charts = [chart for chart in drawn if chart is not None]
        if not charts:
            raise InputError(f"{metric} has no number on {corpus or 'any corpus'}; .frame has the reasons")
        return charts

    def _bar(self, metric: str, corpus: str) -> Chart | None:
        tables = self._report.tables
        series = tables.series(metric, corpus)
        values = []
        for name in series.ranked():
            cell, shown = tables.cell(metric, corpus, WHOLE, name), series.cells[name]
            if cell and cell.value is not None:
                row = {"tokenizer": _name(name) + shown.marks, "value": cell.value, "fair": shown.competes}
                values.append({**row, "low": cell.ci_low, "high": cell.ci_high, "text": shown.text, "best": shown.best})
        if not values:
            return None
        alt = _altair()
        label = f"{series.label}, {series.unit_label}"
        base = alt.Chart(_data(values), title=f"{series.label}: {_name(corpus)}").encode(
            y=alt.Y("tokenizer:N", sort=[value["tokenizer"] for value in values], title=None),
            tooltip=["tokenizer:N", "value:Q", "low:Q", "high:Q"],
        )
        colour = alt.condition("datum.best", alt.value("#245f93"), alt.value("#9dc5e0"))
        opacity = alt.condition("datum.fair", alt.value(1.0), alt.value(0.4))
        bars = base.mark_bar().encode(x=alt.X("value:Q", title=label), color=colour, opacity=opacity)
        ends = base.transform_filter("datum.low !== null").mark_rule().encode(x="low:Q", x2="high:Q")
        texts = base.mark_text(align="left", dx=12).encode(x="value:Q", text="text:N")
        return alt.layer(bars, ends, texts).properties(width=560)

    def parity(self, corpus: str = "") -> Chart:
        """Return compression against inequality between languages, a point for each tokenizer, with their intervals.

        Args:
            corpus: the corpus; empty for all that have groups in parallel, one below the other.

        Raises:
            InputError: the run has no inequality, there is no such corpus, or Altair is missing.
        """
        charts = self._points(Role.INEQUALITY, corpus)
        if not charts:
            raise InputError("the run has no inequality between languages: add fairness to its metrics")
        return _below(charts)

    def heat(self, name: str = "", corpus: str = "") -> Chart:
        """Return a heat map of one metric: groups down, tokenizers across, the better the stronger the colour.

        Args:
            name: the id of a metric, or the name of a family; empty for text per token.
            corpus: the corpus; empty for all, one below the other.

        Raises:
            InputError: there is no such metric or corpus, it has no numbers, or Altair is missing.
        """
        charts = self._of_metric(name, corpus, self._heat)
        return charts[0] if len(charts) == 1 else _below(charts).resolve_scale(color="independent")

    def _heat(self, metric: str, corpus: str) -> Chart | None:
        rows = list(group_rows(self._report, metric, [corpus]))
        if not rows:
            return None
        alt = _altair()
        most = max(1, min(_MOST_GROUPS, _MOST_ROWS // len(rows[0].cells)))
        left = len(rows) - most
        rows = rows[:most]
        order = [_name(who) for who in rows[0].cells]
        values = [
            {
                "group": _name(group_name(row.group)),
                "tokenizer": _name(who),
                "level": level,
                "best": cell.best,
                "text": visible(cell.text + cell.marks + cell.share),
                "about": visible(cell.title),
            }
            for row in rows
            for who, (cell, level) in row.cells.items()
        ]
        groups = list(dict.fromkeys(value["group"] for value in values))
        shades = heat_map(self._report.tables, corpus, metric)
        ends = f"pale {shades.low}, strong {shades.high} {shades.unit}".strip() if shades else ""
        title = alt.TitleParams(
            f"{self._report.tables.label(metric)}: {_name(corpus)}",
            subtitle=[part for part in (ends, f"and {left:,} more groups" if left > 0 else "") if part],
        )
        base = alt.Chart(_data(values), title=title).encode(
            x=alt.X("tokenizer:N", sort=order, title=None, axis=alt.Axis(orient="top", labelAngle=-45)),
            y=alt.Y("group:N", sort=groups, title=None),
            tooltip=[alt.Tooltip(f"{field}:N") for field in ("tokenizer", "group", "text", "about")],
        )
        scale = alt.Scale(domain=[0, LEVELS - 1], scheme="blues")
        colour = alt.condition(
            "datum.level === null", alt.value("#f2f2f2"), alt.Color("level:Q", scale=scale, legend=None)
        )
        dark = alt.condition(f"datum.level > {LEVELS // 2 + 1}", alt.value("white"), alt.value("black"))
        texts = [
            base.transform_filter(f"datum.best === {best}")
            .mark_text(fontSize=10, fontWeight=weight)
            .encode(text="text:N", color=dark)
            for best, weight in (("false", "normal"), ("true", "bold"))
        ]
        return alt.layer(base.mark_rect().encode(color=colour), *texts).properties(width=alt.Step(_STEP))

    def curve(self, corpus: str = "", group: str = WHOLE) -> Chart:
        """Return bytes per token over vocabulary sizes, a line for each vocabulary that the run has studied.

        Args:
            corpus: the corpus; empty for the first of the study.
            group: the group; by default the whole corpus.

        Raises:
            InputError: the run has no study of vocabulary sizes, no such corpus or group, or Altair is missing.
        """
        if "vocabulary_size" not in self._results.studies:
            raise InputError(
                "the run has no study of vocabulary sizes: add 'study: {vocabulary: {sizes: [8192, 32768]}}'"
            )
        from tokbench.studies.vocabulary_size.size_lines import SizeLines

        lines = SizeLines(self._results)
        place = corpus or lines.corpora[0]
        if place not in lines.corpora:
            raise InputError(f"the study has no corpus {place!r}; {did_you_mean(place, lines.corpora)}")
        groups = [WHOLE, *lines.groups(place)]
        if group not in groups:
            raise InputError(f"corpus {place!r} has no group {group!r}; {did_you_mean(group, groups)}")
        alt = _altair()
        traces = [
            (line, trace) for line in lines.drawn(place) if (trace := lines.trace(line, place, group)) is not None
        ]
        title = _name(place) + ("" if group == WHOLE else f", {_name(group)}")
        marks = {
            line.line: LOSSY * bool(lines.lost(line.line, place)) + IN_SAMPLE * bool(lines.in_sample(line.line, place))
            for line, _ in traces
        }
        values = [
            point for line, trace in traces for point in _points(trace, marks[line.line], _MOST_ROWS // len(traces))
        ]
        base = alt.Chart(_data(values), title=f"Bytes per token over vocabulary sizes: {title}").encode(
            x=alt.X("size:Q", scale=alt.Scale(type="log", nice=False), title="vocabulary size"),
            y=alt.Y("ratio:Q", scale=alt.Scale(zero=False), title=_RATIO),
            color=alt.Color("line:N", title=None),
            tooltip=[alt.Tooltip("line:N"), alt.Tooltip("size:Q", format=","), alt.Tooltip("ratio:Q", format=".3f")],
        )
        points = (
            base.mark_point(filled=True)
            .transform_filter("datum.mark !== ''")
            .encode(shape=alt.Shape("mark:N", title=None))
        )
        return alt.layer(base.mark_line(), points).properties(width=560, height=320)

    def speed(self, corpus: str = "") -> Chart:
        """Return compression against encoding speed, a point for each tokenizer, with the intervals of both.

        Args:
            corpus: the corpus; empty for all that were timed, one below the other.

        Raises:
            InputError: the run has no speed, there is no such corpus, or Altair is missing.
        """
        charts = self._points(Role.ENCODING_SPEED, corpus)
        if not charts:
            raise InputError("the run has no speed and compression of one tokenizer: add speed to its metrics")
        return _below(charts)

    def _points(self, across: Role, corpus: str) -> list[Chart]:
        """Return the charts of compression against the metric of a role."""
        metric = self._report.tables.with_role(across)
        corpora = find_corpora(self._report, corpus) if metric else []
        charts = (self._scatter_of(metric, corpus_name) for corpus_name in corpora)
        return [chart for chart in charts if chart is not None]

    def _scatter_of(self, metric: str, corpus: str) -> Chart | None:
        tables = self._report.tables
        ratio, timed = tables.with_role(Role.TEXT_PER_TOKEN), tables.metric(metric).timed
        shown = tables.series(ratio, corpus).cells
        values = []
        for name in tables.tokenizers:
            cell, small = (tables.cell(one, corpus, WHOLE, name) for one in (metric, ratio))
            if cell is None or small is None or cell.value is None or small.value is None:
                continue
            # Too much text is lost, and the compression cannot be compared; a logarithmic axis has no 0.
            if shown[name].much_lost or (timed and not cell.value):
                continue
            backend = _name(tables.tokenizer(name).backend)
            ends = {"low": cell.ci_low, "high": cell.ci_high, "ratio_low": small.ci_low, "ratio_high": small.ci_high}
            point = {"name": _name(name) + shown[name].marks, "backend": backend, "hollow": shown[name].aside}
            values.append({**point, "across": cell.value, "ratio": small.value, **ends})
        if not values:
            return None
        label = _SPEED if timed else tables.label(metric)
        title = f"Compression against {'encoding speed' if timed else label}: {_name(corpus)}"
        return _scatter(values, title, label, log=timed)


def _below(charts: Sequence[Chart]) -> Chart:
    """Return charts one below the other; one alone as it is."""
    return charts[0] if len(charts) == 1 else _altair().vconcat(*charts)


def _scatter(values: Sequence[Mapping[str, object]], title: str, across: str, *, log: bool) -> Chart:
    """Return points with their names and intervals; those that lose text are hollow."""
    alt = _altair()
    x_scale = alt.Scale(type="log") if log else alt.Scale(zero=False, padding=14)
    y_scale = alt.Scale(zero=False, padding=14)
    base = alt.Chart(_data(values), title=title).encode(color=alt.Color("backend:N"))
    x, y = alt.X("across:Q", scale=x_scale, title=across), alt.Y("ratio:Q", scale=y_scale, title=_RATIO)
    level = base.transform_filter("datum.low > 0" if log else "datum.low !== null").mark_rule()
    level = level.encode(x=alt.X("low:Q", scale=x_scale, title=across), x2="high:Q", y=y)
    upright = base.transform_filter("datum.ratio_low !== null").mark_rule()
    upright = upright.encode(x=x, y=alt.Y("ratio_low:Q", scale=y_scale, title=_RATIO), y2="ratio_high:Q")
    fill = alt.condition("datum.hollow", alt.value("white"), alt.Fill("backend:N", legend=None))
    points = base.mark_point(size=60, opacity=1).encode(x=x, y=y, fill=fill, tooltip=["name:N", "across:Q", "ratio:Q"])
    names = base.mark_text(align="left", dx=7, dy=-6).encode(x=x, y=y, text="name:N")
    return alt.layer(level, upright, points, names).properties(width=560, height=320)


def _data(values: Sequence[Mapping[str, object]]) -> pd.DataFrame:
    """Return the data of a chart; of other forms of data Altair checks each value, which takes seconds."""
    import pandas as pd

    return pd.DataFrame(values)


def _name(text: str) -> str:
    return cut(visible(text), _LONGEST)


def _altair() -> Any:
    """Return the module ``altair``.

    Raises:
        InputError: it is not installed.
    """
    if find_spec("altair") is None:
        raise InputError(_INSTALL)
    import altair as alt

    return alt


def _points(trace: SizeTrace, marks: str, most: int) -> list[dict[str, object]]:
    """Return the points of a line: all of a ladder, and some of a curve, evenly spread over a logarithmic axis."""
    last, most = len(trace.sizes) - 1, min(most, _MOST_POINTS)
    wanted = np.geomspace(max(int(trace.sizes[0]), 1), max(int(trace.sizes[-1]), 1), most)
    some = {min(int(k), last) for k in np.searchsorted(trace.sizes, wanted)} if last >= most else set(range(last + 1))
    return [
        {
            "line": _name(trace.line) + marks,
            "size": int(trace.sizes[k]),
            "ratio": round(float(trace.ratio[k]), 5),
            "mark": "" if trace.kind == "curve" else "size",
        }
        for k in sorted(some)
    ]
