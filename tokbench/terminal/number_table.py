"""Tables of names and numbers for a terminal; narrow ones shorten names, not numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_GAP: Final = 2

_HEAD: Final = 11

_FOLDED: Final = 9

_NAME: Final = 12


def shortened(name: str, width: int) -> str:
    """Return a name, or its end if it is wider: the end of a path says most."""
    return name if len(name) <= width else f"…{name[1 - width :]}"


def print_numbers(heads: Sequence[str], rows: Sequence[Sequence[str]], title: str | None = None) -> None:
    """Print a table of a name and its numbers per row; ``heads`` covers the names, too."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from tokbench.report.escaping import plain

    console = Console()
    cells = [max((len(row[number]) for row in rows), default=0) for number in range(1, len(heads))]
    gaps = _GAP * len(cells)
    widths = [max(len(head), width) for head, width in zip(heads[1:], cells, strict=True)]
    if max(len(row[0]) for row in (heads, *rows)) + sum(widths) + gaps > console.width:
        widths = [max(_width_of_words(head), width) for head, width in zip(heads[1:], cells, strict=True)]
    room = max(_NAME, console.width - sum(widths) - gaps)
    table = Table(title=title and Text(plain(title)), title_justify="left", box=None, pad_edge=False)
    table.add_column(Text(shortened(plain(heads[0]), room)), no_wrap=True)
    for head, width in zip(heads[1:], widths, strict=True):
        table.add_column(Text(plain(head)), justify="right", overflow="fold", width=width)
    for name, *numbers in rows:
        table.add_row(Text(shortened(plain(name), room)), *map(Text, numbers))
    console.print(table)


def _width_of_words(head: str) -> int:
    longest = max(map(len, head.split()))
    return longest if longest <= _HEAD else _FOLDED
