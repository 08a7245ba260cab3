"""Plugins that hand over one value each, wrapped or wrong; ``VALUES`` says which of them have a plain form."""

from collections import OrderedDict, UserList, UserString
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum
from itertools import cycle, pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

import tokbench.plugin as tb
from tokbench.corpus.contract import Gold
from tokbench.measuring.metric import LossSummary
from tokbench.plugin.metrics import (
    BlockType,
    Cell,
    CorpusOutcome,
    Measured,
    Metric,
    MetricFamily,
    NotApplicable,
    Outcome,
    StudySpec,
)
from tokbench.results.blocks import LossExample, OwnTexts, PairComparison


class ArrayLike:
    """An array of another library."""

    def __init__(self, right):
        self.right = right

    def __array__(self, dtype=None, copy=None):
        return np.array(self.right)


class Whole(int):
    pass


class Text(str):
    __slots__ = ()

    def __str__(self):
        return "another"


class Pair(NamedTuple):
    one: Any
    two: Any


def recursive(_):
    itself = []
    itself.append(itself)
    return itself


def raising(right):
    yield from right
    raise RuntimeError("in the middle")


def wrapped_json(_):
    return {
        "a": [np.int64(1), (None, np.True_, Decimal("2.5"))],
        3: np.arange(2, dtype=">u2"),
        "p": Pair(2**70, "\ud83d"),
    }


JSON = {"a": [1, [None, True, 2.5]], "3": [0, 1], "p": [2**70, "\ud83d"]}
"""The plain form of it."""

KEPT = {
    "int": (np.int64, np.array, Whole, lambda right: IntEnum("E", {"A": right}).A),
    "float": (np.float16, lambda right: Decimal(str(right)), ArrayLike),
    "str": (np.str_, UserString, Text),
    "bytes": (bytearray, np.bytes_),
    "bool": (np.bool_, np.array),
    "list": (tuple, iter, np.array, UserList, ArrayLike),
    "dict": (MappingProxyType, OrderedDict),
    "json": (wrapped_json,),
}
"""By type what makes another form of the right value."""

REFUSED = {
    "int": (float, str, lambda _: True, lambda _: 10**5000),
    "float": (str, lambda _: float("nan"), lambda _: True, lambda right: [right], lambda _: 10**400),
    "str": (str.encode, lambda _: 0.5, lambda _: object()),
    "bytes": (bytes.decode, list),
    "bool": (int, str),
    "list": (lambda right: set(map(str, right)), raising, str, recursive, lambda right: dict.fromkeys(map(str, right))),
    "dict": (list, str),
    "json": (lambda _: [1.0, float("nan")], lambda _: {1: 2, "1": 3}),
}
"""By type what makes something else of it."""

MEMBERS = {
    "backend": {
        "vocab_size": "int", "encode": "list", "an id": "int", "decode": "str", "decode_batch": "list", "a text": "str",
        "token_bytes": "bytes", "unk_id": "int", "special_ids": "dict", "a special id": "int", "a special name": "str",
        "notes": "list", "a note": "str", "identity": "str", "encoded_by": "str", "dummy_prefix": "bytes", "lossless": "bool",
        "thread_safe": "bool", "file_suffix": "str", "returns": "str",
    },
    "metric": {
        "value": "float", "n": "int", "ci_low": "float", "ci_high": "float", "unit": "str", "no_interval": "str",
        "ratio_of": "list", "reason": "str", "finish": "dict", "raw": "json", "p": "float", "pairs": "list", "tokens": "list",
        "losses": "int", "a loss": "str",
    },
    "timed": {
        "value": "float", "n": "int", "unit": "str", "reason": "str", "in_sample": "float", "cells": "list", "notes": "list",
        "a note": "str",
    },
    "study": {
        "value": "float", "n": "int", "cells": "list", "notes": "list", "a note": "str", "round_trip": "str", "free": "json",
    },
    "source": {
        "text": "str", "group": "str", "key": "str", "origin": "str", "parallel_key": "str", "licence": "str",
        "notes": "list", "a note": "str", "a start": "int", "is punctuation": "bool", "a morpheme": "int",
    },
}  # fmt: skip
"""By sort of plugin the members that hand over a value, with their types."""

_WHILE_MEASURED = {"encode", "an id", "decode", "decode_batch", "a text", "token_bytes"}
"""The members of a backend that are asked when it is measured; all others are looked at when it is loaded."""


@dataclass(frozen=True)
class Handed:
    """A value that a plugin hands over."""

    sort: str
    member: str
    fate: str
    number: int
    make: Any

    @property
    def name(self):
        return f"{self.sort}{self.number:03}"

    def __call__(self, member, right):
        """Return the right value of a member, or what is made of it if it is the member of this value."""
        return self.make(right) if member == self.member else right


def values():
    """Yield two values of each member, one of each fate; members of a type take turns with what is made of it."""
    turns = {
        fate: {type_: cycle(makes) for type_, makes in kinds.items()} for fate, kinds in (("kept", KEPT), ("", REFUSED))
    }
    for sort, members in MEMBERS.items():
        for member, type_ in members.items():
            early = sort == "source" or (sort == "backend" and member not in _WHILE_MEASURED)
            yield sort, member, "kept", next(turns["kept"][type_])
            yield sort, member, "early" if early else "late", next(turns[""][type_])


VALUES = [Handed(sort, member, fate, number, make) for number, (sort, member, fate, make) in enumerate(values())]


class Letters:
    """Three ids: a, b and c."""

    def __init__(self, hands):
        self.vocab_size = hands("vocab_size", 3)
        self.encode = lambda text: hands("encode", [hands("an id", "abc".index(char)) for char in text])
        self.decode = lambda ids: hands("decode", "".join("abc"[i] for i in ids))
        optional = {
            "unk_id": lambda: hands("unk_id", 2),
            "special_ids": lambda: hands("special_ids", {hands("a special name", "<s>"): hands("a special id", 2)}),
            "notes": lambda: hands("notes", [hands("a note", "one"), "two"]),
            **{name: lambda name=name: hands(name, "lists") for name in ("identity", "encoded_by", "returns")},
            **{name: lambda name=name: hands(name, True) for name in ("lossless", "thread_safe")},
            "dummy_prefix": lambda: hands("dummy_prefix", b"a"),
            "token_bytes": lambda: lambda token: hands("token_bytes", b"abc"[token : token + 1]),
            "decode_batch": lambda: lambda encoded: hands("decode_batch", self.texts(encoded, hands)),
        }
        holders = {
            "a special name": "special_ids",
            "a special id": "special_ids",
            "a note": "notes",
            "a text": "decode_batch",
        }
        member = holders.get(hands.member, hands.member)
        if member in optional:
            setattr(self, member, optional[member]())
        if member == "file_suffix":
            self.save, self.file_suffix = lambda path: path.write_text("abc"), hands("file_suffix", ".abc")

    def texts(self, encoded, hands):
        ids, ends = encoded.ids.tolist(), encoded.offsets.tolist()
        return [hands("a text", "".join("abc"[i] for i in ids[start:end])) for start, end in pairwise(ends)]


class Metrics:
    """Gives one value for each group."""

    def __init__(self, hands):
        self.hands = hands

    def map(self, encoded):
        return len(encoded.shard)

    def merge(self, one, other):
        return one + other

    def raw(self, state):
        return self.hands("raw", [state])

    def finish(self, state):
        if self.hands.member == "reason":
            return {self.hands.name: NotApplicable(self.hands("reason", "why"))}
        return self.hands("finish", {self.hands.name: measured(self.hands)})

    def loss(self, state):
        example = LossExample(origin=self.hands("a loss", "here"), position=1, expected="a", got="b")
        summary = LossSummary(self.hands("losses", 3), example, [])
        return summary if self.hands.member in {"losses", "a loss"} else None


def measured(hands):
    low, high = hands("ci_low", 2.0), hands("ci_high", 3.0)
    ratio_of = hands("ratio_of", ("one", "two"))
    return Measured(
        hands("value", 2.5), hands("n", 3), low, high, hands("unit", "u"), hands("no_interval", ""), ratio_of
    )


class Comparing(Metrics):
    """Gives a pair, too."""

    def finish_corpus(self, states):
        hands, (name, other, *_) = self.hands, states.tokenizers
        pair = PairComparison(
            corpus=states.corpus, group="*", tokenizer=name, other=other, tokens=hands("tokens", (1, 2)), difference=-0.5,
            ci_low=None, ci_high=None, n=3, p=hands("p", 0.5),
        )  # fmt: skip
        values = {(tokenizer, "*"): {hands.name: Measured(2.5, 3)} for tokenizer in states.tokenizers}
        return CorpusOutcome(values, hands("pairs", [pair]))


class Timed:
    def __init__(self, hands):
        self.hands = hands

    def measure(self, tokenizers, texts, progress):
        notes = self.hands("notes", [self.hands("a note", "slow")])
        return Outcome(cells=cells(self.hands, sorted(tokenizers)), notes=notes)


def cells(hands, names):
    made = [
        Cell(
            name, "c", "*", hands.name, hands("value", 2.5), hands("unit", "u"), None, None, hands("n", 3),
            reason=hands("reason", ""), in_sample=hands("in_sample", 0.5),
        )
        for name in names
    ]  # fmt: skip
    return hands("cells", made)


@dataclass(frozen=True)
class Block:
    free: Any
    count: int = 1


def study(hands):
    own = OwnTexts(metric="m", tokenizer="one", round_trip=hands("round_trip", "exact"))
    return Outcome(
        block=Block(hands("free", 1)),
        cells=cells(hands, ["one"]),
        notes=hands("notes", [hands("a note", "slow")]),
        own_texts=[own],
    )


class Texts:
    def __init__(self, hands):
        self.hands = hands
        self.licence = hands("licence", "free")
        if hands.member in {"notes", "a note"}:
            self.notes = hands("notes", [hands("a note", "old")])

    def documents(self):
        hands = self.hands
        words = ((hands("a start", 0), 2), (2, 3))
        gold = Gold(words, (hands("is punctuation", False), True), (hands("a morpheme", 1),))
        for number, text in enumerate(("aac", "acb")):
            yield tb.Document(
                hands("text", text), hands("group", "g"), hands("key", str(number)), hands("origin", f"here:{number}"), gold,
                hands("parallel_key", str(number)),
            )  # fmt: skip


COMPARING = {"p", "pairs", "tokens"}


def of(sort):
    return [hands for hands in VALUES if hands.sort == sort]


@tb.hookimpl
def register_backends(register):
    for hands in [*of("backend"), Handed("backend", "", "kept", -1, None)]:
        name = hands.name if hands.member else "letters"
        register(tb.BackendSpec(name=name, summary="", load=lambda options, hands=hands: Letters(hands)))


@tb.hookimpl
def register_metrics(register):
    for hands in of("metric") + of("timed"):
        whole = hands.member in COMPARING
        metric = Metric(id=hands.name, unit="u", direction="none", formula="f", definition="d", whole=whole)
        kind = Timed if hands.sort == "timed" else Comparing if whole else Metrics
        make = {"make" if kind is Timed else "text": lambda options, hands=hands, kind=kind: kind(hands)}
        study = "speed" if kind is Timed else ""
        register(MetricFamily(name=hands.name, summary="", values=(metric,), study=study, **make))


@tb.hookimpl
def register_studies(register):
    for hands in of("study"):
        spec = {"name": hands.name, "title": hands.name, "summary": "", "key": f"study.{hands.name}"}
        block = BlockType(study=hands.name, kind=Block)
        register(StudySpec(**spec, run=lambda context, options, hands=hands: study(hands), block=block))


@tb.hookimpl
def register_corpora(register):
    for hands in of("source"):
        register(tb.CorpusSpec(name=hands.name, summary="", open=lambda options, hands=hands: Texts(hands)))
