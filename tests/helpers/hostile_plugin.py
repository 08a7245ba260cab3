"""A plugin that fails in one way at one place: ``TOKBENCH_TEST_FAULT`` is ``FAULT at PLACE``; without it all is well."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

import numpy as np
from pydantic import field_validator

from tokbench.plugin import CorpusSpec, Document, Options
from tokbench.plugin.metrics import (
    BlockType,
    CorpusOutcome,
    Measured,
    Metric,
    MetricFamily,
    StudySpec,
    ask_each,
)

FAULTS = (
    "raise", "exit", "zero", "interrupt", "crash", "hang", "memory", "type", "untold", "patch", "closed", "child",
)  # fmt: skip
PLACES = (
    "import", "late", "options", "open", "documents", "map", "merge", "finish", "raw", "corpus", "study", "section",
    "format", "command",
)  # fmt: skip


class UntoldError(Exception):
    def __str__(self):
        raise RuntimeError("no text")


class Odd:
    """Of no type that anything takes."""


def fault(place, sound):
    """Return what is sound, unless this is the place."""
    what, _, at = os.environ.get("TOKBENCH_TEST_FAULT", "").partition(" at ")
    if at != place:
        return sound
    return {
        "raise": lambda: 1 / 0,
        "exit": lambda: os._exit(0),
        "zero": lambda: sys.exit(0),
        "interrupt": interrupt,
        "crash": lambda: os.kill(os.getpid(), signal.SIGSEGV),
        "hang": lambda: time.sleep(1000),
        "memory": eat,
        "type": Odd,
        "untold": untold,
        "patch": lambda: patch(sound),
        "closed": lambda: closed(sound),
        "child": lambda: child(sound),
    }[what]()


def interrupt():
    raise KeyboardInterrupt


def untold():
    raise UntoldError


def eat():
    blocks = []
    while len(blocks) < 400:
        blocks.append(b"x" * 10_000_000)
        time.sleep(0.01)


def patch(sound):
    bincount, total = np.bincount, np.sum
    np.bincount = lambda *given, **named: 2 * bincount(*given, **named)
    np.sum = lambda *given, **named: 2 * total(*given, **named)
    return sound


def closed(sound):
    os.closerange(3, 200)
    return sound


def child(sound):
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(20)"])
    return sound


fault("import", None)


class HostileOptions(Options):
    value: str = "x"

    @field_validator("value")
    @classmethod
    def check(cls, value):
        return fault("options", value)


def values(state):
    return {"hostile": Measured(state, n=1)}


class Texts:
    def __init__(self, options):
        pass

    def map(self, encoded):
        return fault("map", int(np.sum(encoded.tokens)))

    def merge(self, one, other):
        return fault("merge", one + other)

    def finish(self, state):
        return fault("finish", values(state))

    def raw(self, state):
        return fault("raw", state)


class Corpora(Texts):
    map = lambda self, encoded: int(np.sum(encoded.tokens))  # noqa: E731 - no fault here
    merge = lambda self, one, other: one + other  # noqa: E731
    raw = lambda self, state: state  # noqa: E731
    finish = None

    def finish_corpus(self, states):
        found = {place: {"hostile_corpus": Measured(state, n=1)} for place, state in states.states.items()}
        found |= {(name, "*"): {"hostile_corpus": Measured(1, n=1)} for name in states.tokenizers}
        return fault("corpus", CorpusOutcome(found))


class Two:
    """A source of few texts in two groups."""

    licence = ""

    def documents(self):
        for k in range(40):
            yield fault("documents", Document(f"text {k}", "ab"[k % 2], str(k), f"here:{k}"))


@dataclass(frozen=True)
class Block:
    tokens: dict[str, int]


BLOCK = BlockType(study="hostile", kind=Block)


def count(tokenizer, text):
    return len(tokenizer.encode(text))


def run(context, options):
    answers = ask_each(context, "counting", count, text="an Egg")
    return fault("study", answers.outcome(Block({**answers.values})))


def section(tables):
    from tokbench.plugin.report import Paragraph, Section

    block = tables.results.studies.get(BLOCK)
    said = f"Tokens: {block.tokens if block else 'none'}"
    return fault("section", Section("hostile", "Of the hostile plugin", [Paragraph(said)]))


def render(results):
    return fault("format", f"{len(results.cells)} cells")


def number(name):
    return Metric(name, "tokens", "none").means("sum of tokens", "Tokens.")


SPECS = [
    CorpusSpec(name="hostile", summary="few texts", open=lambda options: fault("open", Two()), options=HostileOptions),
    MetricFamily(name="hostile", summary="tokens", values=(number("hostile"),), text=Texts, options=HostileOptions),
    MetricFamily(name="hostile_corpus", summary="tokens", values=(number("hostile_corpus"),), text=Corpora),
    StudySpec(name="hostile", title="hostility", summary="asks", key="study.hostile", run=run, block=BLOCK),
]  # fmt: skip


def late_specs():
    from tokbench.plugin.report import ReporterSpec, SectionSpec

    specs = [
        SectionSpec(name="hostile", place=145, build=section),
        ReporterSpec(name="hostile", summary="a number", filename="hostile.txt", render=render),
    ]
    return fault("late", specs)
