"""Backends that break the contract, each in one way; a test puts them on the path as a plugin."""

import ctypes
import os
import re
import signal
import subprocess
import threading
import time
from pathlib import Path

import numpy as np

import tokbench
import tokbench.plugin


class Bytes:
    vocab_size = 256

    def encode(self, text, /):
        return list(text.encode())

    def decode(self, ids, /):
        return bytes(ids).decode()


class DecodeRaises(Bytes):
    def decode(self, ids, /):
        msg = "cannot\ngo back"
        raise ValueError(msg)


class OutOfRange(Bytes):
    def encode(self, text, /):
        return [300 if byte == ord("b") else byte for byte in text.encode()]


class Negative(Bytes):
    def encode(self, text, /):
        return [-1 for _ in text]


class Floats(Bytes):
    def encode(self, text, /):
        return [0.5 for _ in text]


class Panic(BaseException):
    """An error of a native library, which is not an ``Exception``."""


class Panics(Bytes):
    def encode(self, text, /):
        if "b" in text:
            raise Panic("index out of bounds")
        return super().encode(text)


class NoDecode:
    vocab_size = 3

    def encode(self, text, /):
        return []


class BadBatch(Bytes):
    def encode_batch(self, texts, /):
        import numpy as np

        return tokbench.plugin.Encoded(np.zeros(3, dtype=np.uint32), np.zeros(1, dtype=np.int64))


class PressesCtrlC(Bytes):
    def encode(self, text, /):
        if "b" in text:
            os.kill(os.getppid(), signal.SIGINT)
            time.sleep(60)
        return super().encode(text)


class RaisesKeyboardInterrupt(Bytes):
    def encode(self, text, /):
        if "b" in text:
            raise KeyboardInterrupt
        return super().encode(text)


def segfault():
    return ctypes.string_at(0)


class CrashesInEncode(Bytes):
    def encode(self, text, /):
        return segfault() if "b" in text else super().encode(text)


class CrashesInBatch(Bytes):
    def encode_batch(self, texts, /):
        return segfault()


class CrashesOnSeveral(Bytes):
    def encode_batch(self, texts, /):
        return segfault() if len(texts) > 1 else tokbench.plugin.Encoded(*map(np.array, ([7], [0, 1])))


class CrashesInDecode(Bytes):
    def decode(self, ids, /):
        return segfault() if ord("b") in ids else super().decode(ids)


class Hangs(Bytes):
    """In a loop of native code that lets nobody else run."""

    def encode(self, text, /):
        return re.match(r"(a|a)*c", "a" * 64).start() if "b" in text else super().encode(text)


class Sleeps(Bytes):
    def decode(self, ids, /):
        if ord("b") in ids:
            time.sleep(600)
        return super().decode(ids)


class Exits(Bytes):
    def encode(self, text, /):
        return os._exit(3) if "b" in text else super().encode(text)


class Kills(Bytes):
    def encode(self, text, /):
        return os.kill(os.getpid(), signal.SIGKILL) if "b" in text else super().encode(text)


class Leaks(Bytes):
    """Starts a process of its own and hangs."""

    def encode(self, text, /):
        child = subprocess.Popen(["sleep", "600"])
        Path(os.environ["LEAKS_TO"]).write_text(f"{os.getpid()} {child.pid}")
        time.sleep(600)


class OtherIds(Bytes):
    """Bytes, but a and c change places beside a b."""

    def encode(self, text, /):
        swapped = {ord("a"): ord("c"), ord("c"): ord("a")} if "b" in text else {}
        return [swapped.get(byte, byte) for byte in text.encode()]


def crashes_to_load(options):
    segfault()


def hangs_to_load(options):
    time.sleep(600)


def crashes_to_train(documents, vocab_size, options, progress):
    progress(1, 10)
    segfault()


def hangs_to_train(documents, vocab_size, options, progress):
    for k in range(6000):
        progress(k, 6000)
        time.sleep(0.1)


def trains_what_cannot_travel(documents, vocab_size, options, progress):
    tokenizer = Bytes()
    tokenizer.lock = threading.Lock()
    return tokenizer


def fails_to_train(documents, vocab_size, options, progress):
    for _ in documents:
        pass
    raise tokbench.BackendError("the text is too thin")


@tokbench.plugin.hookimpl
def register_backends(register):
    kinds = [DecodeRaises, OutOfRange, Negative, Floats, Panics, NoDecode, BadBatch, PressesCtrlC]
    kinds += [
        RaisesKeyboardInterrupt,
        CrashesInEncode,
        CrashesInBatch,
        CrashesOnSeveral,
        CrashesInDecode,
        Hangs,
        Sleeps,
        Exits,
        Kills,
    ]
    kinds += [Bytes, Leaks, OtherIds]
    for kind in kinds:
        register(
            tokbench.plugin.BackendSpec(name=kind.__name__, summary="faulty", load=lambda options, kind=kind: kind())
        )
    for step in (crashes_to_load, hangs_to_load):
        register(tokbench.plugin.BackendSpec(name=step.__name__, summary="faulty", load=step))
    for step in (fails_to_train, crashes_to_train, hangs_to_train, trains_what_cannot_travel):
        register(tokbench.plugin.BackendSpec(name=step.__name__, summary="faulty", train=step))
    register(
        tokbench.plugin.BackendSpec(
            name="NeedsMore", summary="faulty", load=lambda options: Bytes(), requires=("no-such-thing",)
        )
    )
