"""Backends that change the process that they run in; a test puts them on the path as a plugin."""

import decimal
import os
import signal
import threading
import time
from typing import Literal

import numpy as np

import tokbench.plugin
from tokbench.measuring.encoded_shard import EncodedShard

_bincount, _sum = np.bincount, np.sum


def _double_bincount():
    np.bincount = lambda *args, **options: 2 * _bincount(*args, **options)


def _triple_sum():
    np.sum = lambda *args, **options: 3 * _sum(*args, **options)


def _no_ids():
    EncodedShard.count_ids = lambda self, *_: np.zeros(len(self.shard), dtype=np.int64)


def _round():
    decimal.getcontext().prec = 1
    np.seterr(all="raise")


def _move():
    os.chdir("/")
    os.environ.clear()


def _no_logarithm():
    np.log = np.log2 = np.log10 = lambda x, **_: np.zeros_like(x, dtype=float)


HARM = {
    "bincount": _double_bincount,
    "sum": _triple_sum,
    "count_ids": _no_ids,
    "arithmetic": _round,
    "folder": _move,
    "logarithm": _no_logarithm,
}


class HarmOptions(tokbench.plugin.Options):
    """The change, and when it is made."""

    what: Literal["bincount", "sum", "count_ids", "arithmetic", "folder", "logarithm", "late_crash"]
    at: Literal["loading", "encoding"] = "loading"


class Harmful:
    vocab_size = 256

    def __init__(self, options):
        self._what, self._at = options.what, options.at
        if self._at == "loading":
            self._harm()

    def _harm(self):
        if self._what == "late_crash":
            threading.Thread(target=self._crash, daemon=True).start()
        else:
            HARM[self._what]()

    @staticmethod
    def _crash():
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGSEGV)

    def encode(self, text, /):
        if self._at == "encoding":
            self._harm()
        return list(text.encode())

    def decode(self, ids, /):
        return bytes(ids).decode()

    def token_bytes(self, token_id, /):
        return bytes([token_id])


@tokbench.plugin.hookimpl
def register_backends(register):
    spec = tokbench.plugin.BackendSpec(name="harmful", summary="harmful", load=Harmful, load_options=HarmOptions)
    register(spec)
