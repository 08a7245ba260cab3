"""Backends that break the contract, each in one way, and some that harm, lose text or take their time; a plugin."""

import ctypes
import decimal
import os
import re
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

import tokbench
import tokbench.plugin
from tokbench.measuring.encoded_shard import EncodedShard
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
        return tokbench.plugin.Encoded(np.zeros(3, dtype=np.uint32), np.zeros(1, dtype=np.int64))


class RaisesKeyboardInterrupt(Bytes):
    def encode(self, text, /):
        if "b" in text:
            raise KeyboardInterrupt
        return super().encode(text)


def segfault():
    return ctypes.string_at(0)


class CrashesInEncode(Bytes):
    def token_bytes(self, token, /):
        return bytes([token])

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


class FaultOptions(tokbench.plugin.Options):
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


class FailsAt(Bytes):
    """Fails in one way at one step."""

    file_suffix = ".faulty"

    def __init__(self, options):
        self._at, self._fault = options.at, options.fault

    def encode(self, text, /):
        return fail(self._fault) if self._at == "encode" and "b" in text else super().encode(text)

    def decode(self, ids, /):
        return fail(self._fault) if self._at == "decode" and ord("b") in ids else super().decode(ids)

    def save(self, path, /):
        if self._at == "save" and self._fault != "type":
            fail(self._fault)
        if self._at != "save":
            path.write_text("faulty")


def load_fault(options):
    return fail(options.fault) if options.at == "load" else FailsAt(options)


def train_fault(documents, vocab_size, options, progress):
    list(documents)
    return fail(options.fault) if options.at == "train" else FailsAt(options)


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


def _crash_later():
    threading.Thread(target=lambda: (time.sleep(0.3), fail("crash")), daemon=True).start()


HARM = {
    "bincount": _double_bincount,
    "sum": _triple_sum,
    "count_ids": _no_ids,
    "arithmetic": _round,
    "folder": _move,
    "logarithm": _no_logarithm,
    "late_crash": _crash_later,
}


class HarmOptions(tokbench.plugin.Options):
    """The change, and when it is made."""

    what: Literal["bincount", "sum", "count_ids", "arithmetic", "folder", "logarithm", "late_crash"]
    at: Literal["loading", "encoding"] = "loading"


class Harmful(Bytes):
    """Changes the process that it runs in."""

    def __init__(self, options):
        self._harm = HARM[options.what] if options.at == "encoding" else None
        if options.at == "loading":
            HARM[options.what]()

    def encode(self, text, /):
        if self._harm:
            self._harm()
        return super().encode(text)

    def token_bytes(self, token_id, /):
        return bytes([token_id])


class Slow(Bytes):
    """Takes its time and says where it works, so that a test can disturb it in the middle."""

    def encode(self, text, /):
        if record := os.environ.get("ENCODED_TO"):
            with Path(record).open("a", encoding="ascii") as file:
                file.write(f"{os.getppid()}\n")
            time.sleep(0.2)
        return super().encode(text)


class RewrittenOptions(tokbench.plugin.Options):
    old: str = ""
    new: str = ""
    single: int = 0


class Rewritten:
    """UTF-8 bytes of a rewritten text, two a token but for the first few, which are tokens of their own."""

    vocab_size = 1 << 17

    def __init__(self, options):
        self.options = options

    def encode(self, text, /):
        if self.options.old:
            text = text.replace(self.options.old, self.options.new)
        data, cut = text.encode(), self.options.single
        pairs = [0x100 + int.from_bytes(data[k : k + 2], "big") for k in range(cut, len(data) - 1, 2)]
        return [*data[:cut], *pairs, *(data[-1:] if (len(data) - cut) % 2 else b"")]

    def decode(self, ids, /):
        parts = (bytes([k]) if k < 0x100 else (k - 0x100).to_bytes(2, "big") for k in ids)
        return b"".join(parts).decode("utf-8", "replace")


BYTES_EACH = 20
"""Bytes of memory that ``hungry`` takes for each byte of its text."""
_CHILD = "import sys; kept = b'x' * int(sys.argv[1]); print(); sys.stdout.flush(); sys.stdin.read()"


class HungryOptions(tokbench.plugin.Options):
    below: bool = False


def train_hungry(documents, vocab_size, options, progress):
    size = BYTES_EACH * sum(len(text.encode()) for text in documents)
    if options.below:
        arguments = [sys.executable, "-S", "-c", _CHILD, str(size)]
        with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            child.stdout.readline()
            try:
                child.wait(0.5)  # some looks at it
            except subprocess.TimeoutExpired:
                child.stdin.close()
    else:
        assert len(b"x" * size) == size
    return Bytes()


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
    fault = {"load_options": FaultOptions, "train": train_fault, "train_options": FaultOptions}
    register(spec_of(None, "fault", load=load_fault, **fault))
    register(spec_of(None, "harmful", load=Harmful, load_options=HarmOptions))
    register(spec_of(None, "rewritten", load=Rewritten, load_options=RewrittenOptions, main="old"))
    register(spec_of(None, "hungry", train=train_hungry, train_options=HungryOptions))
    time.sleep(float(os.environ.get("SLOW_START", "0")))
    register(spec_of(None, "slow", load=lambda options: Slow()))
