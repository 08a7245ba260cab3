"""Progress bars on standard error; silent when it is not a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import Task, TaskID

__all__ = ["Progress", "progress_bars", "silent"]


class Progress(Protocol):
    """What a long step tells about itself."""

    def __call__(self, step: str, done: float, total: float | None, /) -> None:
        """``step`` has come from 0 to ``done`` of ``total`` (``None``: nobody knows)."""


def silent(*_: object) -> None:
    """Show nothing: progress of a run, or of a training, that nobody watches."""


class _Bars:
    """One bar a step; a step that is through stays as a line with its time."""

    def __init__(self, rich: RichProgress) -> None:
        self._rich = rich
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, step: str, done: float, total: float | None) -> None:
        if step not in self._tasks:
            self._tasks[step] = self._rich.add_task(step, total=total)
        self._rich.update(self._tasks[step], completed=done, total=total)


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """Bars for the steps of a run while the block lasts."""
    if not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class RateColumn(ProgressColumn):
        """How much is done in a second: of a training, merges."""

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
