"""Consoles of Rich for the tables of commands."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TextIO, cast

if TYPE_CHECKING:
    from rich.console import Console


def console(**options: Any) -> Console:
    """Return a console of standard output, with options of Rich; what is piped has no spaces at the ends of lines."""
    from rich.console import Console

    file = sys.stdout if sys.stdout.isatty() else cast("TextIO", _Piped(sys.stdout))
    return Console(file=file, **options)


class _Piped:
    """A file that keeps no spaces at the ends of lines; each text that is written ends with a line."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def write(self, text: str) -> int:
        return self._file.write("\n".join(line.rstrip(" ") for line in text.split("\n")))
