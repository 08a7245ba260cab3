"""Trainers that take a known amount of memory, for each byte of their text; their plugin, too."""

import subprocess
import sys

import tokbench.plugin
from tokbench.plugin import Options

BYTES_EACH = 20
"""Bytes of memory for each byte of text."""
_CHILD = "import sys; kept = b'x' * int(sys.argv[1]); print(); sys.stdout.flush(); sys.stdin.read()"


class Bytes:
    vocab_size = 256

    def encode(self, text, /):
        return list(text.encode())

    def decode(self, ids, /):
        return bytes(ids).decode("utf-8", "replace")


class HungryOptions(Options):
    below: bool = False


def train(documents, _vocab_size, options, _progress):
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


@tokbench.plugin.hookimpl
def register_backends(register):
    register(tokbench.plugin.BackendSpec(name="hungry", summary="hungry", train=train, train_options=HungryOptions))
