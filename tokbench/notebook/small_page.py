"""Results for a notebook: three lines, a small table, and styled tables of groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from markupsafe import escape

from tokbench.foundation.errors import InputError, did_you_mean
from tokbench.foundation.visible_text import visible
from tokbench.measuring.metric import Role
from tokbench.report.cells import DisplayCell, Series, legends
from tokbench.report.charts.heat import LEVELS, heat_map
from tokbench.report.escaping import cut
from tokbench.report.number_format import unit_label
from tokbench.report.report import Report
from tokbench.report.sections.overview import main_columns, ready_tokenizers
from tokbench.report.sections.problems import problems
from tokbench.results.cells import WHOLE, group_name
from tokbench.results.model import Results

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler

_MOST_ROWS, _MOST_COLUMNS, _MOST_LINES = 12, 8, 3
_LONGEST_NAME, _LONGEST_LINE = 24, 200
_PALE, _STRONG = (1.0, 1.0, 1.0), (0.45, 0.70, 0.86)


def three_lines(results: Results) -> str:
    """Return what ran, how it went, and what to do next, in a line each.

    >>> print(three_lines(Results(name="mine")))
    Results 'mine': 0 tokenizers on 0 corpora
    no results
    next: .frame
    """
    return "\n".join(cut(visible(line), _LONGEST_LINE) for line in SmallPage(Report(results)).lines)


def small_page(results: Results) -> str:
    """Return a small table of the run and what to do next, as HTML of less than 20 kB."""
    from tokbench.report.pages import html_environment

    return html_environment().get_template("notebook.html.j2").render(page=SmallPage(Report(results)))


@dataclass(frozen=True)
class SmallPage:
    """The parts of the small table."""

    report: Report

    @property
    def lines(self) -> list[str]:
        results = self.report.results
        return [f"Results {results.name!r}: {self.report.subtitle}", self.best, f"next: {', '.join(self.next_steps)}"]

    @property
    def best(self) -> str:
        measured = sum(cell.value is not None for cell in self.report.results.cells)
        if not measured:
            return _NOTHING
        return " ".join(self.report.answer.sentences) or f"{measured:,} results"

    @property
    def next_steps(self) -> list[str]:
        tables = self.report.tables
        first = tables.with_role(Role.TEXT_PER_TOKEN) or next(iter(tables.headline), "")
        steps = [f".table({first!r})", ".plot.bar()"] if first and tables.results.cells else []
        steps += [".plot.curve()"] * ("vocabulary_size" in tables.results.studies)
        steps += [".plot.speed()"] * any(
            tables.metric(cell.metric).timed for cell in tables.results.cells if cell.value is not None
        )
        return [*steps, ".frame"]

    @cached_property
    def columns(self) -> Sequence[Series]:
        return main_columns(self.report.tables)[:_MOST_COLUMNS]

    @cached_property
    def tokenizers(self) -> list[str]:
        return ready_tokenizers(self.report.tables, main_columns(self.report.tables))

    @cached_property
    def rows(self) -> list[tuple[str, str, list[DisplayCell]]]:
        names = self.tokenizers[:_MOST_ROWS]
        sizes = {name: self.report.tables.tokenizer(name).vocab_size for name in names}
        return [
            (
                cut(name, _LONGEST_NAME),
                "" if size is None else f"{size:,}",
                [column.cells[name] for column in self.columns],
            )
            for name, size in sizes.items()
        ]

    @property
    def more(self) -> list[str]:
        columns = len(main_columns(self.report.tables))
        left = [(len(self.tokenizers) - _MOST_ROWS, "tokenizers"), (columns - _MOST_COLUMNS, "columns")]
        text = [f"{count} more {what}" for count, what in left if count > 0]
        missing = problems(self.report.results)
        lost = [": ".join(tokenizer) for tokenizer in missing.tokenizers]
        failed = [f"{cells.count}: {cells.sentence}" for cells in missing.cells if cells.applies]
        lines = [f"Not shown: {', '.join(text)}"] if text else []
        lines += legends(cell for _, _, cells in self.rows for cell in cells)
        lines += [*lost[:_MOST_LINES], *failed[:_MOST_LINES], *self.report.results.problems[:_MOST_LINES]]
        return [cut(line, _LONGEST_LINE) for line in lines]

    @property
    def head(self) -> list[tuple[str, str, str]]:
        return [
            (
                cut(column.short_label, _LONGEST_NAME),
                cut(column.corpus, _LONGEST_NAME),
                cut(column.unit_label, _LONGEST_NAME),
            )
            for column in self.columns
        ]

    @property
    def files(self) -> list[str]:
        return [
            cut(str(path), _LONGEST_LINE) for path in self.report.results.written if path.suffix in {".html", ".md"}
        ]


_NOTHING: Final = "no results"


def find_metric(report: Report, name: str) -> str:
    """Return the id of a metric, or of the first headline metric of a family, else its first with a number.

    Raises:
        InputError: the run has neither a metric nor a family of this name.
    """
    tables = report.tables
    if name in tables.metrics:
        return name
    of_family = [metric for metric in tables.metrics if name and tables.metric(metric).family == name]
    measured = {cell.metric for cell in report.results.cells if cell.value is not None}
    order = sorted(of_family, key=lambda metric: (metric not in measured, not tables.metric(metric).headline))
    if not order:
        known = dict.fromkeys([*tables.metrics, *(tables.metric(metric).family for metric in tables.metrics)])
        raise InputError(f"the run has no metric or family {name!r}; {did_you_mean(name, filter(None, known))}")
    return order[0]


def find_corpora(report: Report, name: str) -> list[str]:
    """Return the corpus of this name, or all if the name is empty.

    Raises:
        InputError: the run has no such corpus.
    """
    if not name:
        return report.tables.corpora
    if name not in report.tables.corpora:
        raise InputError(f"the run has no corpus {name!r}; {did_you_mean(name, report.tables.corpora)}")
    return [name]


class _Shown(float):
    """A number as a cell of the table, or NaN."""

    text: str
    css: str

    @classmethod
    def of(cls, cell: DisplayCell | None, level: int | None) -> _Shown:
        if cell is None or cell.value is None:
            shown, css = cls("nan"), "opacity: 0.6"
        else:
            shown, css = cls(cell.value), "font-weight: bold" if cell.best else "opacity: 0.6" if cell.lossy else ""
        if level is not None and shown == shown:  # noqa: PLR0124 - no NaN
            share = level / (LEVELS - 1)
            mixed = [round(255 * (low + share * (high - low))) for low, high in zip(_PALE, _STRONG, strict=True)]
            css += f"; background-color: #{''.join(f'{colour:02x}' for colour in mixed)}; color: #000000"
        shown.text = "not run" if cell is None else visible(cell.text + cell.marks)
        shown.css = css.removeprefix("; ")
        return shown


def _css(shown: Any) -> str:
    return str(shown.css)


def _text(shown: Any) -> str:
    return str(escape(shown.text))


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row of a table of groups."""

    corpus: str
    group: str
    cells: dict[str, tuple[DisplayCell, int | None]]


def group_rows(report: Report, metric: str, corpora: Sequence[str]) -> Iterator[TableRow]:
    """Yield the rows of one metric, the whole corpus first."""
    for corpus in corpora:
        shown = heat_map(report.tables, corpus, metric)
        if shown:
            for row in shown.rows:
                yield TableRow(corpus, row.group, dict(zip(shown.tokenizers, row.cells, strict=True)))
        else:
            whole = report.tables.series(metric, corpus)
            if whole.measured:
                yield TableRow(corpus, WHOLE, {name: (whole.cells[name], None) for name in whole.ranked()})


def styled_table(results: Results, name: str, corpus: str = "") -> Styler:
    """Return a metric as a table of groups by tokenizers, styled like the report."""
    import pandas as pd

    report = Report(results)
    metric = find_metric(report, name)
    rows = list(group_rows(report, metric, find_corpora(report, corpus)))
    if not rows:
        raise InputError(f"{metric} has no number on {corpus or 'any corpus'}; .frame has the reasons")
    order = list(dict.fromkeys(who for row in rows for who in row.cells))
    names = [(visible(row.corpus), visible(group_name(row.group))) for row in rows]
    index = pd.MultiIndex.from_tuples(names, names=["corpus", "group"])
    frame = pd.DataFrame(
        [[_Shown.of(*row.cells.get(who, (None, None))) for who in order] for row in rows],
        index=index if len({row.corpus for row in rows}) > 1 else index.droplevel("corpus"),
        columns=pd.Index(map(visible, order), name="tokenizer"),
        dtype=object,
    )
    styler = frame.style.map(_css).format(_text)
    styler = styler.format_index(escape="html").format_index(escape="html", axis="columns")
    info = report.tables.metric(metric)
    family = [other for other in report.tables.metrics if report.tables.metric(other).family == name]
    others = [other for other in family if other != metric]
    caption = [
        f"{report.tables.label(metric)}{f', {unit_label(info.unit)}' if info.unit else ''}{_BETTER[info.direction]}",
        report.tables.best_legend,
    ]
    caption += legends(cell for row in rows for cell, _ in row.cells.values())
    caption += [f"others of {name}: {', '.join(others)}"] if others else []
    caption += [left for place in {row.corpus: None for row in rows} if (left := report.tables.left_out(place))]
    return styler.set_caption(str(escape(visible("; ".join(line.removesuffix(".") for line in caption)))))


_BETTER: Final = {"higher": ", higher is better", "lower": ", lower is better", "none": ""}
