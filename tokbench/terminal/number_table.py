"""Tables of names and numbers for a terminal; narrow ones fold names, not numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from tokbench.terminal.options import emit

if TYPE_CHECKING:
    from rich.console import Console


@contextmanager
def console(**options: Any) -> Iterator[Console]:
    """Yield a console whose text is printed at the end; what is piped has no spaces at the ends of lines."""
    from rich.console import Console

    terminal = Console(**options)
    with terminal.capture() as captured:
        yield terminal
    text = captured.get()
    emit(text if terminal.is_terminal else re.sub(" +$", "", text, flags=re.MULTILINE), nl=False)


def print_numbers(
    heads: Sequence[str], rows: Sequence[Sequence[str]], title: str | None = None, bars: Sequence[str] = ()
) -> None:
    """Print a table of a name and its numbers per row, and a bar if all fits; ``heads`` covers the names, too."""
    from rich.table import Table
    from rich.text import Text

    from tokbench.report.escaping import plain

    table = Table(title=title and Text(plain(title)), title_justify="left", box=None, pad_edge=False)
    table.add_column(Text(plain(heads[0])), overflow="fold")
    for head, *cells in zip(heads[1:], *(numbers for _, *numbers in rows), strict=True):
        # A head is folded before a number is.
        table.add_column(Text(plain(head)), justify="right", overflow="fold", min_width=max(map(len, cells), default=0))
    if bars:
        table.add_column(no_wrap=True, overflow="crop")
    for (name, *numbers), bar in zip_longest(rows, bars):
        table.add_row(Text(plain(name)), *map(Text, numbers), *filter(None, [bar]))
    with console() as terminal:
        unfolded = terminal.options.update(max_width=1 << 16)
        if bars and terminal.measure(table, options=unfolded).maximum > terminal.width:
            table.columns.pop()
        terminal.print(table)
