"""SIGTERM and SIGHUP stop a command as Ctrl-C does: results so far are written, and no process is left."""

from __future__ import annotations

import os
import signal
import stat
import sys
from types import FrameType
from typing import Final, TextIO

_SIGNALS: Final = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class Interruption:
    """Remembers the signal that stopped the command."""

    exit_code = 128 + signal.SIGINT
    """128 plus the number of the signal: 130 for SIGINT, 143 for SIGTERM, 129 for SIGHUP."""


def stop_on_signals() -> None:
    """Let SIGTERM and SIGHUP raise KeyboardInterrupt, as SIGINT does.

    A signal that is ignored at the start stays ignored: SIGHUP under ``nohup``, SIGINT in the background of a script.
    """
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)


def _stop(number: int, _frame: FrameType | None) -> None:
    for other in _SIGNALS:  # a second one must not keep the reports from being written
        signal.signal(other, signal.SIG_IGN)
    Interruption.exit_code = 128 + number
    if number == getattr(signal, "SIGHUP", None):
        for stream in (sys.stdout, sys.stderr):
            # Not isatty: a terminal that is closed is none any more, and writing to it fails.
            if stream is not None and stat.S_ISCHR(os.fstat(stream.fileno()).st_mode):
                leave(stream)
    raise KeyboardInterrupt


def leave(stream: TextIO) -> None:
    """Let everything that is still written to a stream vanish."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
