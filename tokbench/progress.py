"""Progress bars on standard error; silent when it is not a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Progress(Protocol):
    """The function that a long step calls to show how far it has come."""

    def __call__(self, step: str, done: float, total: float | None, /) -> None:
        """Show that ``step`` has come from 0 to ``done`` of ``total`` (``None``: not known)."""


def silent(*_: object) -> None:
    """Show nothing, of a run or training that nobody watches."""


def announce(what: str) -> None:
    """Show a line before the first bar, because the libraries that draw bars and read corpora take time to load."""
    if sys.stderr.isatty():
        sys.stderr.write(f"{what}\n")


@contextmanager
def progress_bars(*, shown: bool = True) -> Iterator[Progress]:
    """Show a bar for each step while the block lasts, if wanted and to be seen; a finished one stays with its time."""
    if not shown or not sys.stderr.isatty():
        yield silent
        return
    from rich import progress
    from rich.console import Console
    from rich.text import Text

    class RateColumn(progress.ProgressColumn):
        """The steps in a second: in a training, merges."""

        def render(self, task: progress.Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text(f"{speed:,.0f}/s" if speed else "")

    columns = (
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        RateColumn(),
        progress.TimeRemainingColumn(elapsed_when_finished=True),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=False) as bars:
        tasks: dict[str, progress.TaskID] = {}

        def show(step: str, done: float, total: float | None) -> None:
            if step not in tasks:
                tasks[step] = bars.add_task(step, total=total)
            bars.update(tasks[step], completed=done, total=total)

        yield show
