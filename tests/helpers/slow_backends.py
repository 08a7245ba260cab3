"""A backend that takes its time and says where it works, so that a test can disturb it in the middle; its plugin, too."""

import os
import time
from pathlib import Path

import tokbench.plugin


class SlowBytes:
    vocab_size = 256

    def encode(self, text, /):
        record = os.environ.get("ENCODED_TO")
        if record:
            with Path(record).open("a", encoding="ascii") as file:
                file.write(f"{os.getppid()}\n")
            time.sleep(0.2)
        return list(text.encode())

    def decode(self, ids, /):
        return bytes(ids).decode("utf-8", "replace")


@tokbench.plugin.hookimpl
def register_backends(register):
    time.sleep(float(os.environ.get("SLOW_START", "0")))
    register(tokbench.plugin.BackendSpec(name="slow", summary="slow", load=lambda options: SlowBytes()))
