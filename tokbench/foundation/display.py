"""The display of a run's progress on standard error: bars, plain lines, or JSON."""

from __future__ import annotations

import atexit
import json
import logging
import os
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from tokbench.foundation.progress import RunProgress, Step
from tokbench.foundation.visible_text import visible

if TYPE_CHECKING:
    from rich.progress import Task

Log = Literal["auto", "bars", "lines", "notebook", "json", "none"]
"""``auto``: bars in a terminal, a line in a notebook, else lines."""

_SILENT_SECONDS: Final = 10.0
"""Without a line, at most."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """One line of ``--log json``, always with every key.

    >>> print(Event(event="log", time="2026-01-01T00:00:00+00:00", message="compiling").line())
    {"event": "log", "time": "2026-01-01T00:00:00+00:00", "step": null, "corpus": null, "tokenizer": null, "done": \
null, "total": null, "mb_per_s": null, "from_store": null, "message": "compiling"}
    """

    event: str
    """``step`` (begins), ``progress``, ``log``, ``warning``, ``error``, ``output`` (of anything else), ``end``.
    """
    time: str
    """ISO 8601, UTC."""
    step: str | None = None
    """In words, such as ``measuring pud``."""
    corpus: str | None = None
    tokenizer: str | None = None
    """At work, with commas."""
    done: float | None = None
    total: float | None = None
    """Documents x tokenizers while a corpus is measured."""
    mb_per_s: float | None = None
    """10⁶ bytes a second of all workers together."""
    from_store: int | None = None
    """Documents x tokenizers that were cache hits, in the step; with ``end``, in the run."""
    message: str | None = None
    """With ``end``, the result."""

    def line(self) -> str:
        return json.dumps(asdict(self))


def clock(seconds: float) -> str:
    """Write hours, minutes and seconds.

    >>> clock(7.4), clock(3725)
    ('0:07', '1:02:05')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def describe(step: Step, progress: RunProgress) -> str:
    """Return one line.

    >>> progress = RunProgress()
    >>> progress("timing on pud", 3, 10)
    >>> describe(progress.steps["timing on pud"], progress)
    'timing on pud: 3 of 10 (30%)'
    """
    parts = [_amount(step)] if step.total != 1 and (step.done or step.total) else []
    if step.mb_per_s:
        parts.append(f"{step.mb_per_s:.1f} MB/s")
    if step.from_store:
        parts.append(f"{step.from_store:,} from the store")
    parts += _at_work(progress)
    return visible(step.name + (f": {', '.join(parts)}" if parts else ""))


def _amount(step: Step) -> str:
    what = " documents x tokenizers" if step.n_bytes or step.from_store else ""
    if not step.total:
        return f"{step.done:,.0f}{what}"
    return f"{step.done:,.0f} of {step.total:,.0f}{what} ({step.done / step.total:.0%})"


def _at_work(progress: RunProgress) -> list[str]:
    return [f"at work: {', '.join(progress.at_work)}"] if progress.at_work else []


@contextmanager
def progress_shown(log: Log = "auto") -> Iterator[RunProgress]:
    """Show the progress on standard error while the block lasts."""
    if log == "auto":
        log = "notebook" if in_notebook() else "bars" if sys.stderr.isatty() else "lines"
    if log == "bars":
        with _bars() as progress:
            yield progress
    elif log == "none":
        yield RunProgress()
    else:
        with _running(_DISPLAYS[log]()) as progress:
            yield progress


def in_notebook() -> bool:
    """Tell whether this process runs the cells of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def announce(what: str, log: Log = "auto") -> None:
    """Show a first line at once, while libraries load."""
    if log == "json":
        _Json.write("step", step=what)
    elif log != "none":
        sys.stderr.write(f"{visible(what)}\n")
        sys.stderr.flush()


def conclude(message: str, progress: RunProgress, log: Log) -> None:
    """Keep the last line of ``--log json``; people read the summary instead."""
    if log == "json":
        _Json.last = {"from_store": progress.from_store, "message": message}


class _LineDisplay(ABC):
    seconds: ClassVar[float]
    """Between two lines about the same step."""

    def __init__(self) -> None:
        self.progress = RunProgress(self.moved)
        self._seen: set[str] = set()
        self._began = self._last = time.monotonic()
        self._turn = threading.Lock()
        self._over = threading.Event()

    @abstractmethod
    def write_step(self, step: Step, *, new: bool) -> None:
        """Write one line about a step; ``new`` is ``True`` for the first."""

    def moved(self, step: Step) -> None:
        with self._turn:
            new = step.name not in self._seen
            if new or time.monotonic() - self._last >= self.seconds or self.ended(step):
                self._seen.add(step.name)
                self._last = time.monotonic()
                self.write_step(step, new=new)

    def ended(self, step: Step) -> bool:  # noqa: ARG002 - for subclasses
        return False

    def run(self) -> None:
        while not self._over.wait(1.0):
            with self._turn:
                step = self.progress.current
                if step and time.monotonic() - self._last >= _SILENT_SECONDS:
                    self._last = time.monotonic()
                    self.write_step(step, new=False)

    def end(self) -> None:
        self._over.set()


@contextmanager
def _running(display: _LineDisplay) -> Iterator[RunProgress]:
    thread = threading.Thread(target=display.run, name="progress", daemon=True)
    thread.start()
    try:
        yield display.progress
    finally:
        display.end()
        thread.join()


class _Lines(_LineDisplay):
    seconds = 5.0

    def write_step(self, step: Step, *, new: bool) -> None:  # noqa: ARG002
        with suppress(OSError):  # its reader is gone
            sys.stderr.write(f"[{clock(time.monotonic() - self._began)}] {describe(step, self.progress)}\n")
            sys.stderr.flush()


class _Notebook(_LineDisplay):
    seconds = 0.5

    def __init__(self) -> None:
        super().__init__()
        self._shown: Any = None

    def write_step(self, step: Step, *, new: bool) -> None:  # noqa: ARG002
        self._show(f"[{clock(time.monotonic() - self._began)}] {describe(step, self.progress)}")

    def end(self) -> None:
        super().end()
        if self._shown is not None:
            self._show(f"done in {clock(time.monotonic() - self._began)}")

    def _show(self, text: str) -> None:
        from IPython.display import display

        data = {"text/plain": text}
        if self._shown is None:
            self._shown = display(data, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._shown.update(data, raw=True)


class _Json(_LineDisplay):
    """Writes JSON, one object a line."""

    seconds = 1.0
    _descriptor = 2
    _one_by_one = threading.Lock()
    last: ClassVar[dict[str, object]] = {}

    def write_step(self, step: Step, *, new: bool) -> None:
        speed = step.mb_per_s
        self.write(
            "step" if new else "progress",
            step=step.name,
            corpus=step.corpus or None,
            tokenizer=", ".join(self.progress.at_work) or step.tokenizer or None,
            done=step.done,
            total=step.total,
            mb_per_s=None if speed is None else float(f"{speed:.4g}"),
            from_store=step.from_store,
        )

    def ended(self, step: Step) -> bool:
        return step.ended is not None

    @classmethod
    def write(cls, event: str, **known: Any) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        data = f"{Event(event=event, time=now, **known).line()}\n".encode()
        with cls._one_by_one, suppress(OSError):  # its reader is gone
            while data:
                data = data[os.write(cls._descriptor, data) :]

    @classmethod
    def move_to(cls, descriptor: int) -> None:
        cls._descriptor = descriptor


_DISPLAYS: Final[dict[str, type[_LineDisplay]]] = {"lines": _Lines, "notebook": _Notebook, "json": _Json}


class _JsonHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        _Json.write("warning" if record.levelno >= logging.WARNING else "log", message=record.getMessage())


def only_json() -> None:
    """Turn everything on standard error, also from native code, into events until this process ends."""
    for name in ("tokbench", "py.warnings"):
        logging.getLogger(name).handlers = [_JsonHandler()]
    logging.captureWarnings(capture=True)
    sys.stderr.flush()
    kept = os.dup(2)
    _Json.move_to(kept)
    reading, writing = os.pipe()
    os.dup2(writing, 2)
    os.close(writing)
    thread = threading.Thread(target=_wrap, args=(reading,), name="standard error", daemon=True)
    thread.start()

    def end() -> None:
        sys.stderr.flush()
        os.dup2(kept, 2)  # closes the writing end of the pipe, so that the thread comes to its end
        thread.join(2.0)
        if _Json.last:
            _Json.write("end", **_Json.last)

    atexit.register(end)


def _wrap(reading: int) -> None:
    with os.fdopen(reading, encoding="utf-8", errors="backslashreplace") as lines:
        for line in lines:
            text = line.rstrip("\n")
            if text:
                _Json.write("error" if text.startswith("error: ") else "output", message=text.removeprefix("error: "))


@contextmanager
def _bars() -> Iterator[RunProgress]:
    from rich import progress as rich
    from rich.console import Console, RenderableType
    from rich.text import Text

    class Speed(rich.ProgressColumn):
        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text(task.fields["rate"] or (f"{speed:,.0f}/s" if speed else ""))

    class Bars(rich.Progress):
        def get_renderables(self) -> Iterator[RenderableType]:
            yield from super().get_renderables()
            yield from (Text(line, style="dim") for line in _at_work(shown))

    columns = (
        rich.TextColumn("{task.description}", markup=False),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        Speed(),
        rich.TimeRemainingColumn(elapsed_when_finished=True),
        rich.TextColumn("{task.fields[stored]}", markup=False),
    )
    tasks: dict[str, rich.TaskID] = {}

    def show(step: Step) -> None:
        rate = f"{step.mb_per_s:.1f} MB/s" if step.mb_per_s else ""
        stored = f"{step.from_store:,} from the store" if step.from_store else ""
        if step.name not in tasks:
            tasks[step.name] = bars.add_task(visible(step.name), total=step.total, rate=rate, stored=stored)
        bars.update(tasks[step.name], completed=step.done, total=step.total, rate=rate, stored=stored)

    shown = RunProgress(show)
    console = Console(stderr=True)
    bars = Bars(*columns, console=console, transient=console.is_terminal)
    with bars:
        yield shown
