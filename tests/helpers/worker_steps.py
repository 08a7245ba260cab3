"""Functions that a test lets a worker process call; each takes a tokenizer, which it leaves alone."""

import os
import signal
import stat
import time
from dataclasses import dataclass
from pathlib import Path

from tokbench.plugin.metrics import Job


def process_id(_):
    """Return the id of the worker."""
    return os.getpid()


def leave_a_copy(_):
    """Leave a copy of the worker, and let the worker crash."""
    child = os.fork()
    if child == 0:
        time.sleep(600)
    Path(os.environ["COPY_TO"]).write_text(str(child), encoding="ascii")
    os.kill(os.getpid(), signal.SIGSEGV)


def write_junk(_):
    """Write something to every socket of the process, as code with a stale file descriptor does."""
    for number in range(3, 256):
        try:
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                os.write(number, b"\xff" * 100)
        except OSError:
            continue


@dataclass(frozen=True)
class AsksForMore(Job):
    """Asks for texts that it does not have."""

    @property
    def tokenizers(self):
        return ("bytes",)

    def run(self, context):
        yield list(context.texts("more"))
