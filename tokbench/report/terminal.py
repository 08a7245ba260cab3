"""The summary at the end of a run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tokbench.foundation.visible_text import visible
from tokbench.measuring.metric import Role
from tokbench.report.answer.answer import Answer
from tokbench.report.answer.words import join
from tokbench.report.cells import DisplayCell, Series, legends
from tokbench.report.escaping import cut
from tokbench.report.number_format import duration
from tokbench.report.report import Report
from tokbench.report.sections.losses import ShownLoss, losses
from tokbench.report.sections.overview import main_columns, ready_tokenizers
from tokbench.report.sections.problems import problems, short_vocabularies
from tokbench.report.sections.what_ran import durations, partial_sentences
from tokbench.results.blocks import NOT_SAVED
from tokbench.tokenizers.facts import CAUTION

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

_LONGEST_NAME, _LONGEST_CORPUS, _LONGEST_TEXT = 24, 12, 40
_MOST_LINES = 12
_MOST_ROWS, _MOST_PROBLEMS = 8, 3
_COLUMN_GAP = 3

_FIRST: Final = (Role.ENCODING_SPEED, Role.LOST_CHARACTERS, Role.TOKENS_PER_WORD)


def summary(report: Report, console: Console, folder: Path | None = None, *, verbose: bool = False) -> None:
    """Print the answer, a small table, problems and next steps: about 25 lines, or with ``verbose`` all of a run.

    ``folder`` is the run's; without it there are no next steps.
    """
    results = report.results
    console.print()
    for line in [*partial_sentences(results), *report.overrides]:
        console.print(_text(line, "yellow"))
    _print_answer(report.answer, console)
    _print_table(report, console, verbose=verbose)
    amiss = _problems(report)
    amiss += [f"the study {name}: {reason}" for name, reasons in results.failed_studies.items() for reason in reasons]
    amiss += short_vocabularies(results)
    _print_lines(console, amiss, _MOST_LINES if verbose else _MOST_PROBLEMS, "yellow")
    if verbose:
        for lines in (_losses(losses(report.tables)), results.notes, results.from_store, _times(report)):
            _print_lines(console, lines, _MOST_LINES)
        for path in sorted(results.written):
            # Paths are not wrapped, so that they can be copied.
            console.print(_text(f"written: {path}"), soft_wrap=True)
    if folder:
        seconds = results.seconds + (results.durations.reports or 0.0)
        page = next((path for path in sorted(results.written) if path.suffix == ".html"), folder / "results.json")
        further = "" if verbose else " (with -v a run says more)"
        last = f"{seconds:.0f} s · {page}{further}"
        console.print()
        console.print(_text(last), soft_wrap=True)


def _print_answer(answer: Answer, console: Console) -> None:
    from rich.padding import Padding
    from rich.table import Table as RichTable
    from rich.text import Text

    if answer.text:
        console.print(_text(answer.text, "bold"))
    lines = RichTable.grid(padding=(0, 2, 0, 0))
    lines.add_column(no_wrap=True)
    lines.add_column(overflow="fold")
    for line in answer.lines:
        lines.add_row(_text(line.label, "bold"), Text("\n").join(map(_text, line.sentences)))
    console.print(Padding(lines, (0, 0, 0, 2)))


def _print_table(report: Report, console: Console, *, verbose: bool) -> None:
    # A tokenizer that did not run has a line with the reason below.
    every = main_columns(report.tables)
    names = ready_tokenizers(report.tables, every)
    shown = names if verbose else names[:_MOST_ROWS]
    if not shown:
        return
    columns = _fitting(report, every, shown, console.width)
    absent = [f"{column.short_label} {column.corpus}" for column in every if column not in columns]
    console.print()
    console.print(_table(report, shown, columns))
    more = f"… {len(names) - len(shown)} more in the report; " if len(names) > len(shown) else ""
    more += f"no room for {join(absent)}; " if absent else ""
    marks = legends(column.cells[name] for column in columns for name in shown)
    bold = any(column.cells[name].best for column in columns for name in shown)
    best = [] if report.tables.losses_checked and not bold else [report.tables.best_legend]
    best = ["bold is best"] if report.tables.losses_checked and bold else best
    if notes := more + "; ".join([*best, *(line if verbose else _short(line) for line in marks)]):
        console.print(_text(notes, "dim"))


def _print_lines(console: Console, lines: Sequence[str], most: int, style: str = "") -> None:
    for line in lines[:most]:
        console.print(_text(line, style))
    if len(lines) > most:
        console.print(_text(f"and {len(lines) - most} more, see the report", style or "dim"))


def _short(legend: str) -> str:
    """Return a legend up to its first remark."""
    return re.split(r"[;,]" if legend.startswith("grey") else "[:;,]", legend)[0]


def _text(content: str, style: str = "") -> Text:
    from rich.text import Text

    return Text(visible(content), style=style)


def _fitting(report: Report, every: Sequence[Series], names: Sequence[str], width: int) -> list[Series]:
    widths = [len(cut(visible(name), _LONGEST_NAME)) for name in names]
    room = width - max([len("tokenizer"), *widths]) - _COLUMN_GAP - len("vocabulary") - _COLUMN_GAP
    firsts = {column.metric: column for column in reversed(every)}
    compression = report.tables.with_role(Role.TEXT_PER_TOKEN)
    urgent = [column for column in every if column.metric == compression]
    urgent.sort(key=lambda column: report.tables.corpus(column.corpus).designed)  # samples say more of other text
    urgent += [firsts[metric] for metric in map(report.tables.with_role, _FIRST) if metric in firsts]
    taken: list[Series] = []
    for column in [*urgent, *(column for column in every if column not in urgent)]:
        room -= _width(column, names) + _COLUMN_GAP
        if room < 0:
            break
        taken.append(column)
    return [column for column in every if column in taken]


def _head(column: Series) -> list[str]:
    unit = column.unit_label.split(" ")[0]  # "% of documents" is too wide for a column of "100.0"
    return [
        line for line in (column.short_label, cut(visible(column.corpus), _LONGEST_CORPUS), column.over, unit) if line
    ]


def _shown(cell: DisplayCell) -> str:
    return cell.text + cell.marks


def _width(column: Series, names: Sequence[str]) -> int:
    return max(map(len, [*_head(column), *(_shown(column.cells[name]) for name in names)]))


def _table(report: Report, names: Sequence[str], columns: Sequence[Series]) -> RichTable:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    table = RichTable(box=box.SIMPLE_HEAD, padding=(0, _COLUMN_GAP - 1, 0, 0), pad_edge=False, show_edge=False)
    table.add_column("tokenizer", vertical="bottom")
    table.add_column("vocabulary", justify="right", vertical="bottom")
    for column in columns:
        table.add_column(Text("\n").join(map(_text, _head(column))), justify="right", vertical="bottom")
    for name in names:
        ids = report.tables.tokenizer(name).vocab_size
        cells = [column.cells[name] for column in columns]
        styles = ["bold green" if cell.best else "dim" if cell.value is None else "" for cell in cells]
        numbers = [_text(_shown(cell), style) for cell, style in zip(cells, styles, strict=True)]
        table.add_row(_text(cut(visible(name), _LONGEST_NAME)), "unknown" if ids is None else f"{ids:,}", *numbers)
    return table


def _problems(report: Report) -> list[str]:
    lines = not_ready_lines(problems(report.results).tokenizers)
    notes = ((name, note) for name, info in report.results.tokenizers.items() for note in info.notes)
    lines += [f"{name}: {note}" for name, note in notes if note.startswith((NOT_SAVED, CAUTION))]
    lines += [note for note in report.results.notes if note.startswith("corpus ") and CAUTION in note]
    for missing in problems(report.results).cells:
        if missing.applies:
            where = "; ".join(join(names) for names in (missing.metrics, missing.tokenizers))
            lines.append(f"{missing.count}: {missing.status}: {missing.sentence} ({where})")
    return lines + [f"plugin {plugin.name}: {plugin.reason}" for plugin in problems(report.results).plugins]


def not_ready_lines(tokenizers: Sequence[tuple[str, str, str]]) -> list[str]:
    """Return a line for the tokenizers of each state and reason.

    >>> not_ready_lines([("a", "unavailable", "needs x"), ("b", "failed", "boom"), ("c", "unavailable", "needs x")])
    ['2 tokenizers: unavailable: needs x (a and c)', 'b: failed: boom']
    """
    by_reason: dict[str, list[str]] = {}
    for name, state, reason in tokenizers:
        by_reason.setdefault(f"{state}: {reason}", []).append(name)
    return [
        f"{names[0]}: {reason}" if len(names) == 1 else f"{len(names)} tokenizers: {reason} ({join(names)})"
        for reason, names in by_reason.items()
    ]


def _times(report: Report) -> list[str]:
    seconds = report.results.durations.reports
    phases = [*durations(report.results), *([("writing reports", duration(seconds))] if seconds is not None else [])]
    return ["; ".join(f"{name} {time}" for name, time in phases)] if phases else []


def _losses(lost: Sequence[ShownLoss]) -> list[str]:
    return [
        f"{loss.tokenizer}: {loss.documents:,} texts of {loss.corpus} ({loss.cause}); {loss.origin}: {loss.change}"
        for loss in lost
        if loss.documents
    ]
