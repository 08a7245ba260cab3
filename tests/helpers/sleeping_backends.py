"""An engine of known cost: it sleeps for every byte, so that neither its speed nor a test of it depends on the load."""

import time

from pydantic import Field

import tokbench.plugin


class SleepingOptions(tokbench.plugin.Options):
    us_per_byte: float = Field(default=6.0, ge=0, description="microseconds that encoding a byte takes")


class SleepingBytes:
    vocab_size = 256

    def __init__(self, options):
        self._seconds = options.us_per_byte / 1e6

    def encode(self, text, /):
        return list(text.encode())

    def encode_batch(self, texts, /):
        due = time.perf_counter() + sum(map(len, texts)) * self._seconds  # the texts are ASCII
        encoded = tokbench.plugin.from_lists([self.encode(text) for text in texts])
        time.sleep(max(0.0, due - time.perf_counter()))
        return encoded

    def decode(self, ids, /):
        return bytes(ids).decode("utf-8", "replace")


@tokbench.plugin.hookimpl
def register_backends(register):
    spec = tokbench.plugin.BackendSpec(
        name="sleeping", summary="sleeps for every byte", load=SleepingBytes, load_options=SleepingOptions
    )
    register(spec)
