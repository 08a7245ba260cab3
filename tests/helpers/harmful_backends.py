"""Backends that harm the tokenizers that share a process with them; a test puts them on the path as a plugin."""

import os
import pkgutil
import signal
import threading
import time
from typing import Literal

import tokbench.plugin
from tokbench.foundation.failures import _Now


class Bytes:
    vocab_size = 256
    file_suffix = ".bytes"

    def encode(self, text, /):
        return list(text.encode())

    def decode(self, ids, /):
        return bytes(ids).decode()

    def token_bytes(self, token_id, /):
        return bytes([token_id])


class Slow(Bytes):
    """Bytes that take a while for everything, so that whatever strikes late strikes here."""

    def encode(self, text, /):
        time.sleep(0.05)
        return super().encode(text)

    def decode(self, ids, /):
        time.sleep(0.05)
        return super().decode(ids)

    def token_bytes(self, token_id, /):
        time.sleep(0.05)
        return super().token_bytes(token_id)

    def save(self, path, /):
        path.write_text("slow")


def load_slow(options):
    time.sleep(0.05)
    return Slow()


def train_slow(documents, vocab_size, options, progress):
    """Read all documents; what they were is in the vocabulary's size."""
    tokenizer = Slow()
    for text in documents:
        time.sleep(0.02)
        tokenizer.vocab_size += len(text)
    return tokenizer


class LateOptions(tokbench.plugin.Options):
    """The activity of a tokenizer called ``slow`` during which the process dies, and by which signal."""

    verb: Literal["loading", "training", "encoding", "decoding", "measuring"] = "encoding"
    by: Literal["SIGSEGV", "SIGKILL"] = "SIGSEGV"


class Late(Bytes):
    """Starts a thread that ends the process when its turn has long been over."""

    def __init__(self, options):
        self._options = options

    def _watch(self):
        while not (_Now.heartbeat.tokenizer == "slow" and _Now.heartbeat.verb == self._options.verb):
            time.sleep(0.002)
        os.kill(os.getpid(), signal.Signals[self._options.by])

    def _start(self):
        threading.Thread(target=self._watch, daemon=True).start()

    def encode(self, text, /):
        self._start()
        return super().encode(text)

    def save(self, path, /):
        path.write_text("late")
        self._start()


class ReplaceOptions(tokbench.plugin.Options):
    """A function that is replaced, and when that happens."""

    what: str = "numpy.sum"
    at: Literal["loading", "encoding", "decoding", "timing"] = "encoding"


class Replaces(Bytes):
    """Puts something else in the place of a function when it sees a b, as some libraries do."""

    def __init__(self, options):
        self._options = options
        self._timed = False
        if options.at == "loading":
            self._replace()

    def _replace(self):
        path, _, name = self._options.what.rpartition(".")
        setattr(pkgutil.resolve_name(path), name, lambda *args, **options: 7)

    def encode(self, text, /):
        if "b" in text and (self._options.at == "encoding" or (self._options.at == "timing" and self._timed)):
            self._replace()
        return super().encode(text)

    def decode(self, ids, /):
        if ord("b") in ids and self._options.at == "decoding":
            self._replace()
        return super().decode(ids)

    def warm_up(self):
        self._timed = True


def load_late(options):
    late = Late(options)
    if options.verb == "loading":
        late._start()
    return late


def train_late(documents, vocab_size, options, progress):
    list(documents)
    return Late(options)


@tokbench.plugin.hookimpl
def register_backends(register):
    register(tokbench.plugin.BackendSpec(name="slow", summary="slow", load=load_slow, train=train_slow))
    register(
        tokbench.plugin.BackendSpec(
            name="replaces", summary="replaces a function", load=Replaces, load_options=ReplaceOptions
        )
    )
    register(
        tokbench.plugin.BackendSpec(
            name="late", summary="strikes late", load=load_late, load_options=LateOptions,
            train=train_late, train_options=LateOptions,
        )
    )  # fmt: skip
