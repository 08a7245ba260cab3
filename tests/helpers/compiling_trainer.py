"""A trainer that compiles a function for this machine, and writes down how each training went; its plugin, too."""

import json
import os
from pathlib import Path

from faulty_backends import Bytes

import tokbench.plugin
from tokbench.foundation.jit import compilations, compiled
from tokbench.plugin import Options


class CompilingOptions(Options):
    log: Path


def train(documents, _vocab_size, options, _progress):
    texts = 0
    try:
        for text in documents:
            texts += 1
            if texts == 1:
                compiled(_sum)(len(text), 1)
    finally:
        with options.log.open("a") as log:
            log.write(json.dumps({"process": os.getpid(), "texts": texts, "compiled": compilations()}) + "\n")
    return Bytes()


def _sum(one, other):
    return one + other


@tokbench.plugin.hookimpl
def register_backends(register):
    spec = tokbench.plugin.BackendSpec(
        name="compiling", summary="compiling", train=train, train_options=CompilingOptions
    )
    register(spec)
