"""Functions that a test lets a worker process call; each takes a tokenizer, which it leaves alone."""

import os
import signal
import time
from pathlib import Path


def process_id(_):
    """Return the id of the worker."""
    return os.getpid()


def leave_a_copy(_):
    """Leave a copy of the worker in a session of its own, with the worker's variables, and let the worker crash."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(writing, str(os.getpid()).encode())
            time.sleep(600)
        os._exit(0)
    Path(os.environ["COPY_TO"]).write_bytes(os.read(reading, 20))
    os.kill(os.getpid(), signal.SIGSEGV)
