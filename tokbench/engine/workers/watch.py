"""A thread of the parent for each worker: it passes on what the worker prints, and looks at its memory."""

from __future__ import annotations

import os
import selectors
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from tokbench.foundation.memory import resident_bytes

OUTPUT_BYTES: Final = 1 << 16
"""Bytes that one tokenizer may print in a run; the rest is left out."""

_TAIL_BYTES: Final = 4_096

_CHUNK: Final = 1 << 16

_MEMORY_CHECK_S: Final = 0.1

_OUTPUT_GRACE_S: Final = 1.0


class WorkerWatch(threading.Thread):
    """Reads the output of a worker as it comes, so that the worker never waits, and ends it at its memory limit.

    Args:
        process: the worker.
        output: by the reading end of a pipe, the file descriptor to pass its output on to, or ``None``.
        at_work: returns the tokenizer that is at work.
        printed: by tokenizer, how many bytes it has printed so far; the watches of all workers share it.
        memory: bytes that it may use, if they are limited.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        output: dict[int, int | None],
        at_work: Callable[[], str],
        printed: dict[str, int],
        memory: int | None,
    ) -> None:
        super().__init__(name="watch of a worker", daemon=True)
        self.too_large = False
        self._process, self._output, self._at_work, self._printed = process, output, at_work, printed
        self._memory = memory
        self._last = b""

    def run(self) -> None:
        with selectors.DefaultSelector() as selector:
            for pipe in self._output:
                selector.register(pipe, selectors.EVENT_READ)
            while selector.get_map():
                for key, _ in selector.select(_MEMORY_CHECK_S if self._memory else None):
                    data = os.read(key.fd, _CHUNK)
                    if data:
                        self._pass_on(data, self._output[key.fd])
                    else:
                        selector.unregister(key.fd)
                        os.close(key.fd)
                if self._memory and not self.too_large and resident_bytes(self._process.pid) > self._memory:
                    self.too_large = True
                    self._process.kill()

    def last_words(self, longest: int) -> str:
        self.join(_OUTPUT_GRACE_S)
        return " ".join(self._last.decode(errors="replace").split())[-longest:]

    def _pass_on(self, data: bytes, to: int | None) -> None:
        self._last = (self._last + data)[-_TAIL_BYTES:]
        if to is None:
            return
        name = self._at_work()
        before = self._printed.get(name, 0)
        self._printed[name] = before + len(data)
        shown = data[: max(0, OUTPUT_BYTES - before)]
        if before <= OUTPUT_BYTES < before + len(data):
            who = f"tokenizer {name!r}" if name else "a worker process"
            shown += f"\n[{who} has printed {OUTPUT_BYTES:,} bytes; the rest is left out]\n".encode()
        with suppress(OSError):  # its reader is gone
            while shown:
                shown = shown[os.write(to, shown) :]
