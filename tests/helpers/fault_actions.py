"""A backend and a metric that are sound but for one fault at one step, for the matrix of faults.

``RAISES``, ``ANSWERS``, ``STATE`` and ``ENDS`` have what they do, and ``STEPS`` where.
"""

import builtins
import ctypes
import decimal
import json
import locale
import os
import random
import signal
import subprocess
import sys
import threading
import time
from itertools import pairwise

import numpy as np

import tokbench
import tokbench.tokenizers.batch
from tokbench.plugin import BackendSpec, Measured, Metric, MetricFamily, Offsets, Options, from_lists, hookimpl

AT = "b"
"""Text, or an id, with it is struck; no other is."""


class Panic(BaseException):
    """An error of a native library, which is not an ``Exception``."""


class Unprintable(Exception):  # noqa: N818 - one of several faults
    def __str__(self):
        raise self

    __repr__ = __str__


class Unpicklable(Exception):  # noqa: N818 - one of several faults
    def __init__(self):
        super().__init__("a lock is in it")
        self.lock = threading.Lock()


def raises(error):
    raise error


def recurses():
    recurses()


def segfault():
    return ctypes.string_at(0)


RAISES = {
    "exception": lambda: raises(ValueError("out of luck")),
    "panic": lambda: raises(Panic("index out of bounds")),
    "generator_exit": lambda: raises(GeneratorExit()),
    "stop_iteration": lambda: raises(StopIteration(3)),
    "recursion": recurses,
    "memory_error": lambda: raises(MemoryError("no room")),
    "unprintable": lambda: raises(Unprintable()),
    "unpicklable": lambda: raises(Unpicklable()),
    "megabyte": lambda: raises(tokbench.BackendError("long " * 200_000)),
}
"""Exceptions that a process survives."""


def late_crash():
    threading.Thread(target=lambda: (time.sleep(0.02), segfault()), daemon=True).start()


def eats_memory():
    taken = []
    while True:
        taken.append(np.ones(5_000_000))
        time.sleep(0.01)


def writes_junk():
    """Write to every file descriptor that others have opened."""
    for number in range(3, 64):
        try:
            os.set_blocking(number, False)
            os.write(number, b"\x00\x00\x00\x09junk junk junk" * 20)
        except OSError:
            pass


ENDS = {
    "ctrl_c": lambda: raises(KeyboardInterrupt()),
    "exits": lambda: sys.exit(3),
    "exits_at_once": lambda: os._exit(3),
    "segfault": segfault,
    "sigkill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "late_crash": late_crash,
    "closes_files": lambda: os.closerange(3, 256),
    "opens_others": lambda: (os.closerange(3, 256), [os.open("/dev/null", os.O_RDWR) for _ in range(64)]),
    "writes_junk": writes_junk,
    "wipes_modules": sys.modules.clear,
}
"""Ends of a process, or damages that leave it unfit for the tokenizers that follow."""

SLOW = {
    "hangs": lambda: time.sleep(600),
    "stops": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "eats_memory": eats_memory,
}
"""Actions that only a limit ends."""


def patches(module, name, value):
    """Return an action that puts something else in the place of a function."""

    def patch():
        setattr(module, name, value)

    return patch


_LEN, _PROCESS = len, os.getpid()


def forks():
    """Return twice, but never in a copy, or the copies would fill the machine if nothing ended them."""
    if os.getpid() == _PROCESS:
        os.fork()


def leaves_child():
    subprocess.Popen(["sleep", "600"])


def prints():
    sys.stdout.write("out " * 100_000)
    os.write(2, b"\xff\xfe\n" * 100_000)


STATE = {
    "changes_folder": lambda: os.chdir("/"),
    "changes_environment": lambda: os.environ.update(HOME="/nowhere", OWN_VARIABLE="1"),
    "clears_environment": os.environ.clear,
    "recursion_limit": lambda: sys.setrecursionlimit(150),
    "signal_handlers": lambda: [signal.signal(number, signal.SIG_IGN) for number in (signal.SIGTERM, signal.SIGCHLD)],
    "locale": lambda: locale.setlocale(locale.LC_ALL, "C"),
    "seterr": lambda: np.seterr(all="raise"),
    "decimal": lambda: setattr(decimal.getcontext(), "prec", 2),
    "seeds": lambda: (random.seed(1), np.random.seed(1)),  # noqa: NPY002 - what libraries do
    "warnings_as_errors": lambda: __import__("warnings").simplefilter("error"),
    "no_stdout": lambda: setattr(sys, "stdout", None),
    "search_path": sys.path.clear,
    "no_garbage": lambda: __import__("gc").disable(),
    "leaves_child": leaves_child,
    "forks": forks,
    "prints": prints,
}
"""Changes of the settings of the process of all tokenizers, which do not end it."""

PATCHES = {
    "patches_numpy": patches(np, "cumsum", lambda values, **_: np.asarray([0])),
    "patches_numpy_late": patches(np, "diff", lambda values, **_: np.zeros(max(_LEN(values) - 1, 0), np.int64)),
    "patches_tokbench": patches(tokbench.tokenizers.batch, "check_encoded", lambda *_: raises(ValueError("patched"))),
    "patches_builtins": patches(builtins, "len", lambda values: _LEN(values) + 1),
    "patches_json": patches(json, "dumps", lambda *_, **__: "{}"),
}
"""Changes of the code that all tokenizers use."""

ANSWERS = {
    "none": lambda right: None,
    "text": lambda right: "a",
    "generator": lambda right: (part for part in (None,)),
    "object": lambda right: object(),
    "floats": lambda right: np.array([0.5, 1.5]),
    "booleans": lambda right: np.array([True, False]),
    "objects": lambda right: np.array([None, "a"], dtype=object),
    "texts": lambda right: ["a", "b"],
    "nested": lambda right: [[1, 2], [3]],
    "boolean": lambda right: True,
    "nan": lambda right: float("nan"),
    "infinite": lambda right: float("inf"),
    "negative": lambda right: -1,
    "huge": lambda right: 10**400,
    "unprintable_value": lambda right: UnprintableValue(),
}
"""Answers of a wrong type; each takes the right answer."""


class UnprintableValue:
    def __repr__(self):
        raise ValueError("no text for this")


IDS = {
    "ids_huge": lambda right: [*right, 10**400],
    "ids_negative": lambda right: [*right, -1],
    "ids_nan": lambda right: [*right, float("nan")],
    "ids_true": lambda right: [*right, True],
    "ids_beyond": lambda right: [*right, 10**6],
    "ids_few": lambda right: right[:-1],
    "ids_many": lambda right: [*right, 97, 97],
    "ids_very_many": lambda right: [*right, *[97] * 2_000_000],
    "ids_signed": lambda right: np.array(right, dtype=np.int16) - 200,
    "ids_numpy": lambda right: np.array(right, dtype=np.int64),
    "ids_of_numpy": lambda right: [np.int64(number) for number in right],
    "ids_tuple": tuple,
}
"""Answers for ``encode`` with ids that are none, or that are of another text, or that are right in another form."""

ACTIONS = {"nothing": lambda: None, **RAISES, **ENDS, **SLOW, **STATE, **PATCHES}


class FaultyOptions(Options):
    """The step at which a fault happens, and its name."""

    at: str = "nothing"
    action: str = "nothing"


def struck(options, at, right):
    """Do what is to be done at a step, and return the answer."""
    if options.at != at:
        return right
    answer = ANSWERS.get(options.action) or IDS.get(options.action)
    if answer:
        return answer(right)
    ACTIONS[options.action]()
    return right


def member(name, right):
    """Return a property that is struck, under its own name, as tracebacks show it."""

    def get(self):
        return struck(self.options, name, right)

    get.__code__ = get.__code__.replace(co_name=name)
    return property(get)


class Faulty:
    """Bytes and an end, with every capability that decides no number but the bytes of ids."""

    file_suffix = ".faulty"
    vocab_size = member("vocab_size", 257)
    special_ids = member("special_ids", {"<end>": 256})
    unk_id = member("unk_id", None)
    lossless = member("lossless", True)
    notes = member("notes", ())
    identity = member("identity", "of bytes")
    encoded_by = member("encoded_by", "bytes")
    merges = member("merges", ())
    dummy_prefix = member("dummy_prefix", b"")

    def __init__(self, options):
        self.options = options

    def encode(self, text, /):
        ids = list(text.encode())
        if AT in text and self.options.action == "deletes_artefact":
            self.saved.unlink(missing_ok=True)
        return struck(self.options, "encode", ids) if AT in text else ids

    def decode(self, ids, /):
        text = bytes(number for number in ids if number < 256).decode(errors="replace")
        return struck(self.options, "decode", text) if ord(AT) in ids else text

    def save(self, path, /):
        path.write_text("all")
        self.saved = path.parent.parent / path.name
        struck(self.options, "save", None)

    def warm_up(self):
        struck(self.options, "warm_up", None)

    def __getstate__(self):
        return struck(self.options, "pickle", self.__dict__)


class FaultyBytes(Faulty):
    def token_bytes(self, token_id, /):
        right = bytes([token_id]) if token_id < 256 else b""
        return struck(self.options, "token_bytes", right) if token_id == ord(AT) else right


class FaultyBatches(FaultyBytes):
    def encode_batch(self, texts, /):
        right = from_lists([list(text.encode()) for text in texts])
        if not any(AT in text for text in texts):
            return right
        if self.options.action in IDS:
            answer = struck(self.options, "encode_batch", right.ids.tolist())
            return right if answer is right else right._replace(ids=np.array(answer))
        return struck(self.options, "encode_batch", right)

    def decode_batch(self, encoded, /):
        ids, offsets = encoded.ids.tolist(), encoded.offsets.tolist()
        right = [Faulty.decode(self, ids[a:b]) for a, b in pairwise(offsets)]
        return struck(self.options, "decode_batch", right) if ord(AT) in ids else right


class FaultyOffsets(Faulty):
    def encode_with_offsets(self, text, /):
        ids = list(text.encode())
        right = Offsets(ids, list(range(1, len(ids) + 1)))
        return struck(self.options, "offsets", right) if AT in text else right


def kind_of(at):
    if at in {"encode_batch", "decode_batch"}:
        return FaultyBatches
    return FaultyOffsets if at == "offsets" else FaultyBytes


def load(options):
    return struck(options, "load", kind_of(options.at)(options))


def train(documents, vocab_size, options, progress):
    list(documents)
    return struck(options, "train", kind_of(options.at)(options))


class Hooks:
    """A metric that counts ids, and that a tokenizer can make fail."""

    def __init__(self, options):
        pass

    def map(self, shard):
        options = getattr(shard.tokenizer, "options", FaultyOptions())
        options = options if isinstance(options, FaultyOptions) else FaultyOptions()
        state = [len(shard.ids), options.at, options.action]
        return struck(options, "map", state) if any(AT in text for text in shard.shard.texts) else state

    def merge(self, one, other):
        state = [one[0] + other[0], *other[1:]]
        return struck(FaultyOptions(at=one[1], action=one[2]), "merge", state)

    def finish(self, state):
        return struck(FaultyOptions(at=state[1], action=state[2]), "finish", {"counted": Measured(state[0], n=1)})

    def raw(self, state):
        return struck(FaultyOptions(at=state[1], action=state[2]), "raw", state[0])


@hookimpl
def register_metrics(register):
    counted = Metric(id="counted", unit="ids", direction="none", formula="sum", definition="Ids.")
    register(MetricFamily(name="hooks", summary="ids", values=(counted,), options=Options, text=Hooks))


@hookimpl
def register_backends(register):
    register(
        BackendSpec(
            name="faulty", summary="faulty", load=load, load_options=FaultyOptions, train=train, train_options=FaultyOptions
        )
    )  # fmt: skip
