"""What a run says at its end: the main numbers, what is missing and why, and where the rest is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tokbench.report.cells import DisplayCell, Series, label, legends
from tokbench.report.escaping import cut, visible
from tokbench.report.sections import key_numbers
from tokbench.report.sections.losses import Loss, losses
from tokbench.report.sections.overview import MAIN, Overview, verdict
from tokbench.report.sections.problems import broken_plugins, cells_without_value, missing_tokenizers
from tokbench.report.sections.same_ids import difference_lines
from tokbench.report.tables import Tables
from tokbench.results.cells import TokenizerState
from tokbench.results.model import Results

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

__all__ = ["summary"]

_LONGEST_NAME, _LONGEST_CORPUS = 24, 12
_MOST_LINES, _MOST_NAMES = 12, 4
_GAP = 2
_EXCERPT = 12
_ASIDE = "not applicable"
_THEN = ("encode_mb_per_s", "roundtrip_exact", "fertility")


def summary(results: Results, console: Console, files: Sequence[Path] = ()) -> None:
    """Print what a run found out.

    Args:
        results: the run.
        console: where to; the table takes no more than its width.
        files: what was written, to be named at the end.
    """
    tables = Tables(results)
    view = verdict(tables)
    # Who did not run has a line with the reason below; a row of one word would tell less.
    view = replace(view, rows=[row for row in view.rows if row.state == TokenizerState.READY])
    columns = _fitting(view, console.width)
    console.print()
    console.print(_text(f"{results.name}: {key_numbers.subtitle(tables)}", "bold"))
    console.print()
    if view.rows:
        console.print(_table(view, columns))
    left_out = dict.fromkeys(f"{label(c.metric)} of {c.corpus}" for c in view.columns if c not in columns)
    if left_out:
        console.print(_text(f"No room here, see the reports: {', '.join(left_out)}", "dim"))
    for legend in legends(column.cells[row.name] for column in columns for row in view.rows):
        console.print(_text(legend, "dim"))
    aside = sum(trouble.cells for trouble in cells_without_value(results) if trouble.status == _ASIDE)
    if aside:
        console.print(_text(f"{aside:,} cells do not apply to their tokenizer or text; the reports say why", "dim"))
    _section(console, "Did not run, or not all of it", _troubles(results), "yellow")
    _section(console, "Same ids", difference_lines(results), "yellow" if results.differences else "")
    _section(console, "Did not come back", _losses(losses(results)), "yellow")
    _section(console, "Notes", results.notes, "")
    if files:
        console.print()
    for path in files:
        # Not wrapped, so that a path can be copied.
        console.print(_text(f"written: {path}"), soft_wrap=True)


def _text(content: str, style: str = "") -> Text:
    """Text in which nothing is a markup, and no sequence reaches the terminal."""
    from rich.text import Text

    return Text(visible(content), style=style)


def _section(console: Console, title: str, lines: Sequence[str], style: str) -> None:
    from rich.padding import Padding

    if not lines:
        return
    console.print()
    console.print(_text(title, f"bold {style}".strip()))
    for line in lines[:_MOST_LINES]:
        console.print(Padding(_text(line), (0, 0, 0, 2), expand=False))
    if len(lines) > _MOST_LINES:
        console.print(_text(f"  and {len(lines) - _MOST_LINES} more, see the reports", "dim"))


def _fitting(view: Overview, width: int) -> list[Series]:
    """The columns for which there is room: compression, then the first of each metric, then the rest."""
    names = [len(cut(visible(row.name), _LONGEST_NAME)) for row in view.rows]
    room = width - max([len("tokenizer"), *names]) - _GAP - len("vocabulary") - _GAP
    firsts = {column.metric: column for column in reversed(view.columns)}
    urgent = [c for c in view.columns if c.metric == MAIN[0]]
    urgent += [firsts[metric] for metric in _THEN if metric in firsts]
    taken: list[Series] = []
    for column in [*urgent, *(c for c in view.columns if c not in urgent)]:
        room -= max(map(len, [*_head(column), *(_marked(column, row.name) for row in view.rows)])) + _GAP
        if room < 0:
            break
        taken.append(column)
    return [column for column in view.columns if column in taken]


def _marked(column: Series, name: str) -> str:
    """A cell with its marks, or the room for it, so that the digits stay in line."""
    room = max(len(cell.marks) for cell in column.cells.values())
    cell = column.cells[name]
    return cell.text + cell.marks.ljust(room)


def _head(column: Series) -> list[str]:
    unit = column.unit_label.split(" ")[0]  # "% of documents" is too wide for a column of "100.0"
    return [column.label, cut(visible(column.corpus), _LONGEST_CORPUS), visible(unit)]


def _table(view: Overview, columns: Sequence[Series]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, _GAP, 0, 0), pad_edge=False, show_edge=False)
    table.add_column(_text("tokenizer"), vertical="bottom", no_wrap=True)
    table.add_column(_text("vocabulary"), justify="right", vertical="bottom", no_wrap=True)
    for column in columns:
        heading = _text("").join([])
        for number, line in enumerate(_head(column)):
            heading.append(line + ("\n" if number < 2 else ""), style="" if number == 0 else "dim")  # noqa: PLR2004
        table.add_column(heading, justify="right", vertical="bottom", no_wrap=True)
    for row in view.rows:
        size = "unknown" if row.vocab_size is None else f"{row.vocab_size:,}"
        cells = [_text(_marked(column, row.name), _style(column.cells[row.name])) for column in columns]
        table.add_row(_text(cut(visible(row.name), _LONGEST_NAME)), _text(size), *cells)
    return table


def _style(cell: DisplayCell) -> str:
    return "bold green" if cell.best else "dim" if cell.value is None else ""


def _troubles(results: Results) -> list[str]:
    lines = [f"{name}: {state}: {reason}" for name, state, reason in missing_tokenizers(results)]
    for trouble in cells_without_value(results):
        if trouble.status == _ASIDE:
            continue
        where = f"{_some(trouble.metrics)}; {_some(trouble.tokenizers)}"
        cells = f"{trouble.cells:,} cell{'s' if trouble.cells > 1 else ''}"
        lines.append(f"{cells}: {trouble.status}: {trouble.reason} ({where})")
    return lines + [f"plugin {plugin.get('name', '')}: {plugin['reason']}" for plugin in broken_plugins(results)]


def _some(names: Iterable[str]) -> str:
    known = list(names)
    more = f" and {len(known) - _MOST_NAMES} more" if len(known) > _MOST_NAMES else ""
    return ", ".join(known[:_MOST_NAMES]) + more


def _losses(found: Sequence[Loss]) -> list[str]:
    """A line for each tokenizer, with its losses by cause, and the first."""
    by_name: dict[str, list[Loss]] = {}
    for loss in found:
        by_name.setdefault(loss.tokenizer, []).append(loss)
    return [_lost(name, some) for name, some in by_name.items()]


def _lost(name: str, found: Sequence[Loss]) -> str:
    texts, first = sum(loss.documents for loss in found), found[0]
    corpora = ", ".join(dict.fromkeys(loss.corpus for loss in found))
    by_cause: Counter[str] = Counter()
    for loss in found:
        by_cause[loss.cause] += loss.documents
    causes = ", ".join(f"{cause} {count:,}" for cause, count in by_cause.most_common())
    where = f"{texts:,} {'text' if texts == 1 else 'texts'} of {corpora} ({causes}); {first.origin}"
    after = f" after {first.context[-_EXCERPT:]}" if first.context else ""
    return f"{name}: {where}{after}: {_side(first.expected)} became {_side(first.got)} ({first.change})"


def _side(text: str) -> str:
    return cut(text, _EXCERPT) if text else "the end"
