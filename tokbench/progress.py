"""Progress bars on standard error; silent when it is not a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import Task, TaskID


class Progress(Protocol):
    """The function that a long step calls to show how far it has come."""

    def __call__(self, step: str, done: float, total: float | None, /) -> None:
        """Show that ``step`` has come from 0 to ``done`` of ``total`` (``None``: not known)."""


def silent(*_: object) -> None:
    """Show nothing, of a run or training that nobody watches."""


class _Bars:
    """One bar for each step; a finished step stays as a line with its time."""

    def __init__(self, rich: RichProgress) -> None:
        self._rich = rich
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, step: str, done: float, total: float | None) -> None:
        if step not in self._tasks:
            self._tasks[step] = self._rich.add_task(step, total=total)
        self._rich.update(self._tasks[step], completed=done, total=total)


@contextmanager
def progress_bars(*, shown: bool = True) -> Iterator[Progress]:
    """Show bars for the steps of a run while the block lasts, if they are wanted and can be seen."""
    if not shown or not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class RateColumn(ProgressColumn):
        """The steps in a second: in a training, merges."""

        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text(f"{speed:,.0f}/s" if speed else "")

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        RateColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=Console(stderr=True), transient=False) as rich:
        yield _Bars(rich)
