"""Functions that a test lets a worker process call; each takes a tokenizer, which it leaves alone."""

import logging
import os
import random
import secrets
import signal
import sys
import time
from pathlib import Path

import numpy as np


def state(_):
    """Return what a worker has from the process that started it, and what must differ between workers."""
    umask = os.umask(0)
    os.umask(umask)
    environ = Path("/proc/self/environ").read_bytes()
    return {
        "pid": os.getpid(),
        "session": os.getsid(0),
        "parent": os.getppid(),
        "environment": dict(os.environ),
        "folder": str(Path.cwd()),
        "umask": umask,
        "files": len([*Path("/proc/self/fd").iterdir()]),
        "random": (random.random(), np.random.default_rng().random(), np.random.random(), secrets.token_hex()),  # noqa: NPY002
        "signals": [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)],
        "path": list(sys.path),
        "threads": len([*Path("/proc/self/task").iterdir()]),
        "stdin": sys.stdin.read(),
        "limit": Path("/proc/self/limits").read_text(),
        "main": getattr(sys.modules["__main__"], "__file__", None),
        "handlers": len(logging.getLogger("tokbench").handlers),
        "shows its mark": f"TOKBENCH_WORKER={os.environ['TOKBENCH_WORKER']}".encode() in environ.split(b"\0"),
    }


def leave_a_copy(_):
    """Leave a copy of the worker in a session of its own, with the worker's variables, and let the worker crash."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(writing, str(os.getpid()).encode())
            time.sleep(600)
        os._exit(0)
    Path(os.environ["PYTEST_CURRENT_TEST"]).write_bytes(os.read(reading, 20))
    os.kill(os.getpid(), signal.SIGSEGV)


def kill_parent(_):
    """Kill the process that has started the worker."""
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(600)
