"""A backend and a metric that write down what they are asked; a test puts them on the path as a plugin."""

import hashlib
import os
import signal
import time
from pathlib import Path

import numpy as np

from tokbench.plugin import BackendSpec, Encoded, Options, hookimpl
from tokbench.plugin.metrics import Measured, Metric, MetricFamily
from tokbench.tokenizers.batch import offsets_of


def note(what, number=1, of=""):
    """Write a line: what was done to how much of which text, by which process."""
    digest = hashlib.sha256(of.encode()).hexdigest()
    with Path(os.environ["COUNTED"]).open("a", encoding="utf-8") as file:
        file.write(f"{what} {number} {digest} {os.getpid()}\n")


def noted():
    """Return the lines of all notes, and forget them."""
    path = Path(os.environ["COUNTED"])
    lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    path.unlink(missing_ok=True)
    return lines


def counted(what):
    """Return the sum of what was noted, and forget it."""
    return sum(int(number) for name, number, _, _ in noted() if name == what)


def die_once():
    """End the process, if a file says so."""
    file = Path(os.environ.get("DIE_ONCE", os.devnull))
    if file.is_file():
        file.unlink()
        os.kill(os.getpid(), signal.SIGKILL)


class CountingOptions(Options):
    name: str = "one"
    identity: str | None = None
    slow: float = 0.0
    path: Path | None = None


class Counting:
    """A byte is a token; what is encoded is noted by the name of the tokenizer."""

    vocab_size = 256
    file_suffix = ".counting"

    def __init__(self, options):
        self.options = options
        if options.identity is not None:
            self.identity = options.identity

    def encode(self, text, /):
        return self.encode_batch([text]).ids.tolist()

    def encode_batch(self, texts, /):
        die_once()
        time.sleep(self.options.slow)
        note(f"encoded:{self.options.name}", len(texts), "\n".join(texts))
        data = [text.encode() for text in texts]
        return Encoded(
            np.frombuffer(b"".join(data), dtype=np.uint8).astype(np.uint32), offsets_of(map(len, data), len(data))
        )

    def save(self, path, /):
        path.write_text("bytes", encoding="utf-8")

    def token_bytes(self, token_id, /):
        return bytes([token_id])

    def decode(self, ids, /):
        return bytes(ids).decode(errors="replace")


def train(documents, vocab_size, options, progress):
    size = sum(map(len, documents))
    time.sleep(options.slow)
    note(f"trained:{options.name}", size)
    progress(1, 1)
    return Counting(options)


class Origins:
    """Keeps the origin of the last document, so that its state rests on the place of the shard."""

    def __init__(self, options):
        self.options = options

    def map(self, encoded):
        note("mapped")
        return encoded.shard.first + len(encoded.shard), encoded.shard.origins[-1]

    def merge(self, one, other):
        return max(one, other)

    def finish(self, state):
        return {"last_document": Measured(state[0], n=1)}

    def raw(self, state):
        return list(state)


VALUE = Metric(id="last_document", unit="document", direction="none", formula="max", definition="The last document.")


@hookimpl
def register_backends(register):
    options = {"load_options": CountingOptions, "train_options": CountingOptions}
    register(BackendSpec(name="counting", summary="counts", load=Counting, train=train, **options))


@hookimpl
def register_metrics(register):
    version = int(os.environ.get("ORIGINS_VERSION", "1"))
    register(MetricFamily(name="origins", summary="origins", values=(VALUE,), text=Origins, version=version))
