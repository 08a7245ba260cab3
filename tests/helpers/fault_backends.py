"""A backend that fails in one way at one step; a test puts this file on the path as a plugin."""

import os
import signal
import time
from typing import Literal

from tokbench.plugin import BackendSpec, Options, hookimpl


class FaultOptions(Options):
    """The step at which it fails, and how."""

    at: Literal["load", "train", "encode", "decode", "save"]
    fault: Literal["crash", "hang", "exception", "type", "memory", "sigkill"]


def fail(fault):
    """Fail; what is returned is of no type that any step returns."""
    if fault in {"crash", "sigkill"}:
        os.kill(os.getpid(), signal.SIGSEGV if fault == "crash" else signal.SIGKILL)
    if fault == "hang":
        time.sleep(600)
    if fault == "exception":
        raise ArithmeticError("on purpose")
    blocks = []
    while fault == "memory":
        blocks.append(b"x" * 50_000_000)
        time.sleep(0.02)
    return 3.5


class Faulty:
    vocab_size = 256
    file_suffix = ".faulty"

    def __init__(self, options):
        self._at, self._fault = options.at, options.fault

    def encode(self, text, /):
        return fail(self._fault) if self._at == "encode" and "b" in text else list(text.encode())

    def decode(self, ids, /):
        return fail(self._fault) if self._at == "decode" and ord("b") in ids else bytes(ids).decode()

    def save(self, path, /):
        if self._at == "save" and self._fault != "type":
            fail(self._fault)
        if self._at != "save":
            path.write_text("faulty")


def load(options):
    return fail(options.fault) if options.at == "load" else Faulty(options)


def train(documents, vocab_size, options, progress):
    list(documents)
    return fail(options.fault) if options.at == "train" else Faulty(options)


@hookimpl
def register_backends(register):
    register(
        BackendSpec(
            name="fault", summary="fails", load=load, load_options=FaultOptions, train=train, train_options=FaultOptions
        )
    )
