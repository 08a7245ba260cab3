"""Backends that break the contract, each in one way; a test puts them on the path as a plugin."""

import ctypes
import os
import re
import subprocess
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np

import tokbench
import tokbench.plugin
from tokbench.tokenizers.contract import CountsAlone


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


class DecodesFew(Bytes):
    def decode_batch(self, encoded, /):
        return [bytes(encoded.ids[: encoded.offsets[1]].tolist()).decode()]


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


class BadBatch(Bytes):
    def encode_batch(self, texts, /):
        import numpy as np

        return tokbench.plugin.Encoded(np.zeros(3, dtype=np.uint32), np.zeros(1, dtype=np.int64))


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


class Counts(CountsAlone):
    """Counts the bytes, and gives no ids."""

    vocab_size = 256

    def count_batch(self, texts, /):
        return [len(text.encode()) for text in texts]


class CountsWrong(Counts):
    """Counts one byte too many beside a b."""

    def count_batch(self, texts, /):
        return [len(text.encode()) + ("b" in text) for text in texts]


class Complains(Bytes):
    """Prints a line on standard error that is not all text."""

    def encode(self, text, /):
        os.write(2, b"\xff\xfe complaint\n")
        return super().encode(text)


def changes_text(options):
    """Do something to a file while the run is on: ``CHANGES`` has its path and what becomes of it."""
    path, how = os.environ["CHANGES"].split("=")
    text = Path(path)
    if how == "gone":
        text.unlink()
    else:
        text.write_bytes({"edited": b"e\n", "longer": text.read_bytes() + b"aa\n", "latin-1": b"caf\xe9\n"}[how])
    return Bytes()


def crashes_to_load(options):
    segfault()


def hangs_to_load(options):
    time.sleep(600)


def hangs_to_train(documents, vocab_size, options, progress):
    for k in range(6000):
        progress(k, 6000)
        time.sleep(0.1)


def stops_the_training(documents, vocab_size, options, progress):
    raise KeyboardInterrupt


def trains_what_cannot_travel(documents, vocab_size, options, progress):
    tokenizer = Bytes()
    tokenizer.lock = threading.Lock()
    return tokenizer


def fails_to_train(documents, vocab_size, options, progress):
    for _ in documents:
        pass
    raise tokbench.BackendError("the text is too thin")


def saved(kind, documents, vocab_size, options, progress):
    return kind()


class SavesNothing(Bytes):
    file_suffix = ".ids"

    def save(self, path, /):
        pass


class SavesFolder(SavesNothing):
    def save(self, path, /):
        path.mkdir()
        (path / "part").write_text("one of several")


class SavesHalf(SavesNothing):
    def save(self, path, /):
        path.write_text("the first half")
        raise OSError("no room for the second")


class SavesWhole(SavesNothing):
    def save(self, path, /):
        path.write_text("all")


SAVED = (SavesNothing, SavesFolder, SavesHalf, SavesWhole)
LOADED = [
    kind
    for kind in list(globals().values())
    if isinstance(kind, type) and issubclass(kind, (Bytes, Counts)) and kind not in SAVED
]


def spec_of(step, name="", requires=(), **steps):
    return tokbench.plugin.BackendSpec(name=name or step.__name__, summary="faulty", requires=requires, **steps)


@tokbench.plugin.hookimpl
def register_backends(register):
    for kind in SAVED:
        register(spec_of(kind, train=partial(saved, kind)))
    for kind in LOADED:
        register(spec_of(kind, load=lambda options, kind=kind: kind()))
    for step in (crashes_to_load, hangs_to_load, changes_text):
        register(spec_of(step, load=step))
    for step in (fails_to_train, hangs_to_train, stops_the_training, trains_what_cannot_travel):
        register(spec_of(step, train=step))
    register(spec_of(None, "NeedsMore", ("no-such-thing",), load=lambda options: Bytes()))
