"""Writes what the referee found, for the terminal and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tokbench_maintain.referee.judge import State, TableVerdict

_WORDS: Final[dict[State, str]] = {
    "equal": "equal",
    "rounding": "equal up to rounding",
    "cause": "parted with cause",
    "open": "open",
    "not_run": "not run here",
}
_PARTED_SHOWN: Final = 12
_HEAD: Final = """\
# Published numbers, held against our own

Of {run:,} numbers that {tables} published tables print and that run here, **{same:,} are equal**, {cause:,} part with
a cause that gives the whole column, and {open:,} are open. {not_run:,} more cannot run here.

Made by `tokbench referee --fetch --page reports/referee/README.md`. [How to add a table](adding.md).
Studies that contradict each other are held against
[our own numbers](../validity/README.md#where-the-field-contradicts-itself), too.

| table | numbers | {heads} |
|---|---:|{lines}"""


def lines_of(verdict: TableVerdict) -> list[str]:
    """Return what the terminal says of a table."""
    name = f"{verdict.published.name}: {verdict.published.table.title}"
    details = [*verdict.findings(), *_parted(verdict)]
    return [name, f"  {totals_of([verdict])}", *(f"  {line}" for line in details)]


def totals_of(verdicts: Sequence[TableVerdict]) -> str:
    """Return how many numbers of some tables have each state."""
    totals = _totals(verdicts)
    counts = ", ".join(f"{totals[state]:,} {words}" for state, words in _WORDS.items() if totals[state])
    return f"{sum(totals.values()):,} numbers: {counts or 'none'}"


def _totals(verdicts: Sequence[TableVerdict]) -> dict[State, int]:
    return {state: sum(verdict.count(state) for verdict in verdicts) for state in _WORDS}


def _parted(verdict: TableVerdict) -> list[str]:
    parted = [one for one in verdict.cells if one.state in {"cause", "open"}]
    lines = [
        f"{one.cell.tokenizer}, {one.cell.text}: printed {one.cell.value}, ours {one.ours}"
        for one in parted[:_PARTED_SHOWN]
    ]
    return lines if len(parted) <= _PARTED_SHOWN else [*lines, f"… and {len(parted) - _PARTED_SHOWN} more"]


def page_of(verdicts: Sequence[TableVerdict]) -> str:
    """Return the page of all tables, which begins with the finding."""
    totals = _totals(verdicts)
    totals_of_words = {
        "run": sum(totals.values()) - totals["not_run"],
        "same": totals["equal"] + totals["rounding"],
        "tables": len(verdicts),
        "heads": " | ".join(_WORDS.values()),
        "lines": "---:|" * len(_WORDS),
    }
    rows = []
    for verdict in verdicts:
        counts = " | ".join(f"{verdict.count(state):,}" for state in _WORDS)
        name = verdict.published.name
        rows.append(f"| [{name}](#{name.replace('.', '')}) | {len(verdict.cells):,} | {counts} |")
    sections = [line for verdict in verdicts for line in _section(verdict)]
    return "\n".join([_HEAD.format(**totals, **totals_of_words), *rows, *sections, ""])


def _section(verdict: TableVerdict) -> list[str]:
    table = verdict.published.table
    said = f"{table.title}. Source: {table.source} ({table.licence}). A number is {table.definition}."
    points = [f"- {line}" for line in (*verdict.findings(), *_parted(verdict))]
    parts = [[f"## {verdict.published.name}"], [said], [table.note] if table.note else [], points]
    return [line for part in parts if part for line in ("", *part)]
