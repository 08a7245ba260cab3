"""Plugins that hand over one value each, in every kind of wrapping; ``VALUES`` says which of them have a plain form."""

import datetime as dt
from collections import OrderedDict, UserDict, UserList, UserString, deque
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from tokbench.plugin import (
    BackendSpec,
    BlockType,
    Cell,
    CorpusOutcome,
    CorpusSpec,
    Document,
    Gold,
    LossExample,
    LossSummary,
    Measured,
    Metric,
    MetricFamily,
    NotApplicable,
    Outcome,
    OwnTexts,
    PairComparison,
    PairMatrix,
    StudySpec,
    TimedOutcome,
    hookimpl,
)  # fmt: skip


class ArrayLike:
    """An array of another library."""

    def __init__(self, right):
        self.right = right

    def __array__(self, dtype=None, copy=None):
        return np.array(self.right)


class Unfriendly:
    """Raises whatever is asked of it."""

    def __getattr__(self, name):
        raise RuntimeError(name)

    def __repr__(self):
        raise RuntimeError

    def __iter__(self):
        raise RuntimeError


class Whole(int):
    pass


class Real(float):
    pass


class Text(str):
    __slots__ = ()

    def __str__(self):
        return "another"


class Octets(bytes):
    pass


class Listed(list):
    pass


@dataclass(frozen=True)
class Point:
    x: Any


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


NOTHING = {"None": lambda _: None, "object": lambda _: object(), "class": type, "unfriendly": lambda _: Unfriendly()}
"""Kinds that nothing is made of."""

KEPT = {
    "int": {
        "int": int, "int64": np.int64, "uint16": np.uint16, "0-d": np.array, "Whole": Whole, "array-like": ArrayLike,
        "IntEnum": lambda right: IntEnum("E", {"A": right}).A, "0-d uint8": lambda right: np.array(right, np.uint8),
    },
    "float": {
        "float": float, "float16": np.float16, "float32": np.float32, "float64": np.float64, "longdouble": np.longdouble,
        "0-d": np.array, "Decimal": lambda right: Decimal(str(right)), "Fraction": Fraction, "Real": Real,
        "array-like": ArrayLike, "0-d object": lambda right: np.array(Decimal(right)), "big-endian": lambda r: np.array(r, ">f4"),
    },
    "str": {
        "str": str, "str_": np.str_, "UserString": UserString, "Text": Text, "0-d": np.array,
        "StrEnum": lambda right: StrEnum("E", {"A": right}).A, "mixed": lambda right: Enum("E", {"A": right}, type=str).A,
    },
    "bytes": {
        "bytes": bytes, "bytearray": bytearray, "memoryview": memoryview, "bytes_": np.bytes_, "Octets": Octets,
    },
    "bool": {"bool": bool, "bool_": np.bool_, "0-d": np.array},
    "list": {
        "list": list, "tuple": tuple, "generator": lambda right: (i for i in right), "map": lambda right: map(right.__getitem__, range(len(right))),
        "deque": deque, "UserList": UserList, "array": np.array, "values": lambda right: dict(enumerate(right)).values(),
        "Listed": Listed, "iterator": iter, "array-like": ArrayLike,
    },
    "dict": {"dict": dict, "proxy": MappingProxyType, "UserDict": UserDict, "OrderedDict": OrderedDict},
    "json": {
        "nested": lambda _: {"a": [1, {"b": (None, True, 2.5)}]},
        "keys": lambda _: {np.int64(1): np.uint16(2), np.str_("a"): np.bool_(True), UserString("b"): UserString("c")},
        "numbers": lambda _: [np.float16(2.5), Decimal("0.5"), Fraction(1, 2), np.longdouble(1), IntEnum("E", "A").A],
        "arrays": lambda _: {"i": np.arange(20, dtype=">u2"), "f": np.eye(3), "o": np.array([1, "a"], object), "b": np.ones(9, bool)},
        "dataclass": lambda _: [Point(np.float32(0.5)), Pair(np.int8(1), Point(None))],
        "generator": lambda _: (np.int64(i) for i in range(3)),
        "large": lambda _: [2**70, -(2**63), 1e300],
        "surrogate": lambda _: "half \ud83d",
        "None": lambda _: None,
        "empty": lambda _: {"a": [], "b": {}, "c": "", "d": np.zeros(0), "e": ()},
    },
}  # fmt: skip
"""By type the kinds from which the right value is made."""

JSON = {
    "nested": {"a": [1, {"b": [None, True, 2.5]}]},
    "keys": {"1": 2, "a": True, "b": "c"},
    "numbers": [2.5, 0.5, 0.5, 1.0, 1],
    "arrays": {
        "i": list(range(20)), "f": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], "o": [1, "a"], "b": [True] * 9,
    },
    "dataclass": [{"x": 0.5}, [1, {"x": None}]],
    "generator": [0, 1, 2],
    "large": [2**70, -(2**63), 1e300],
    "surrogate": "half \ud83d",
    "None": None,
    "empty": {"a": [], "b": {}, "c": "", "d": [], "e": []},
}  # fmt: skip
"""The plain forms of these kinds."""

REFUSED = {
    "int": {
        **NOTHING, "float": float, "float64": np.float64, "Decimal": Decimal, "Fraction": Fraction, "str": str,
        "bool": lambda _: True, "bool_": lambda _: np.True_, "complex": complex, "nan": lambda _: float("nan"),
        "list": lambda right: [right], "1-d": lambda right: np.array([right]), "huge": lambda _: 10**5000,
    },
    "float": {
        **NOTHING, "str": str, "bytes": lambda right: str(right).encode(), "complex": complex, "nan": lambda _: float("nan"),
        "inf": lambda _: np.float16("inf"), "Decimal NaN": lambda _: Decimal("NaN"), "huge": lambda _: 10**400,
        "bool": lambda _: True, "list": lambda right: [right], "1-d": lambda right: np.array([right]),
        "UserString": lambda right: UserString(str(right)), "time": lambda _: np.timedelta64(1, "s"),
    },
    "str": {
        **NOTHING, "bytes": str.encode, "bytearray": lambda right: bytearray(right.encode()), "int": len, "list": list,
        "float": lambda _: 0.5, "path": Path, "dict": lambda right: {right: right}, "date": lambda _: dt.date(2026, 1, 1),
        "array": lambda right: np.array([right]),
    },
    "bytes": {**NOTHING, "str": lambda right: right.decode(), "int": len, "list": list, "array": lambda right: np.frombuffer(right, "u1")},
    "bool": {**NOTHING, "int": int, "str": str, "float": float, "list": lambda right: [right], "array": lambda right: np.array([right])},
    "list": {
        **NOTHING, "dict": lambda right: dict.fromkeys(map(str, right)), "set": lambda right: set(map(str, right)), "int": len, "str": str,
        "bytes": lambda _: b"ab", "raises": raising, "recursive": recursive, "rows": lambda right: [right], "UserString": UserString,
        "None in it": lambda right: [*right, None],
    },
    "dict": {**NOTHING, "list": list, "str": str, "pairs": lambda right: list(right.items()), "values": lambda right: right.values()},
    "json": {
        **NOTHING, "nan": lambda _: [1.0, float("nan")], "bytes": lambda _: {"a": b"b"}, "set": lambda _: {1, 2}, "complex": lambda _: 1j,
        "recursive": recursive, "tuple keys": lambda _: {(1, 2): 3}, "same keys": lambda _: {1: 2, "1": 3}, "function": lambda _: len,
        "inf array": lambda _: np.array([np.inf] * 9), "date": lambda _: np.datetime64("2026-01-01"), "raises": lambda _: raising([1]),
        "huge": lambda _: 10**5000,
    },
}  # fmt: skip
"""By type the kinds from which it is not made. ``None`` and the like come in for members that are JSON."""
del REFUSED["json"]["None"], REFUSED["bool"]["array"], REFUSED["json"]["object"]
REFUSED["json"]["an object"] = lambda _: {"a": [object()]}

MEMBERS = {
    "backend": {
        "vocab_size": "int", "encode": "list", "an id": "int", "decode": "str", "decode_batch": "list", "a text": "str",
        "token_bytes": "bytes", "unk_id": "int", "special_ids": "dict", "a special id": "int", "a special name": "str",
        "notes": "list", "a note": "str", "identity": "str", "encoded_by": "str", "dummy_prefix": "bytes", "lossless": "bool",
        "thread_safe": "bool", "file_suffix": "str", "returns": "str",
    },
    "metric": {
        "value": "float", "n": "int", "ci_low": "float", "ci_high": "float", "unit": "str", "no_interval": "str",
        "ratio_of": "list", "reason": "str", "finish": "dict", "raw": "json", "matrix": "list", "a row": "list",
        "a number": "float", "likeness": "bool", "p": "float", "pairs": "list", "tokens": "list", "within": "str",
        "losses": "int", "a loss": "str",
    },
    "timed": {
        "value": "float", "n": "int", "unit": "str", "reason": "str", "in_sample": "float", "cells": "list", "notes": "list",
        "a note": "str", "processes": "int", "by_group": "bool",
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

_MAY_BE_NONE = {"unk_id", "ci_low", "ci_high", "in_sample", "a number", "a row"}
_NO_KEYS = {"0-d", "array-like", "list", "dict", "array", "bytearray"}
_WHILE_MEASURED = {"encode", "an id", "decode", "decode_batch", "a text", "token_bytes"}
"""The members of a backend that are asked when it is measured; all others are looked at when it is loaded."""


@dataclass(frozen=True)
class Handed:
    """A value that a plugin hands over."""

    sort: str
    member: str
    kind: str
    fate: str
    number: int

    @property
    def name(self):
        return f"{self.sort}{self.number}"

    def __call__(self, member, right):
        """Return the right value of a member, in the wrapping of this value if it is this member's."""
        if member != self.member:
            return right
        kinds = (KEPT if self.fate == "kept" else REFUSED)[MEMBERS[self.sort][member]]
        return kinds[self.kind](right)


def values():
    for sort, members in MEMBERS.items():
        for member, type_ in members.items():
            early = sort == "source" or (sort == "backend" and member not in _WHILE_MEASURED)
            fates = [
                *((kind, "kept") for kind in KEPT[type_]),
                *((kind, "early" if early else "late") for kind in REFUSED[type_]),
            ]
            for kind, fate in fates:
                allowed = "None" in kind.split() and member in _MAY_BE_NONE
                if not allowed and not (member == "a special name" and kind in _NO_KEYS):
                    yield sort, member, kind, fate


VALUES = [Handed(*value, number) for number, value in enumerate(values())]


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
        return LossSummary(self.hands("losses", 3), example, []) if self.hands.member in {"losses", "a loss"} else None


def measured(hands):
    low, high = hands("ci_low", 2.0), hands("ci_high", 3.0)
    ratio_of = hands("ratio_of", ("one", "two"))
    return Measured(
        hands("value", 2.5), hands("n", 3), low, high, hands("unit", "u"), hands("no_interval", ""), ratio_of
    )


class Comparing(Metrics):
    """Gives a pair and a matrix, too."""

    def finish_corpus(self, states):
        hands, (name, other, *_) = self.hands, states.tokenizers
        rows = hands(
            "matrix", [hands("a row", [hands("a number", 0.5)]), [0.5, None][: 1 if hands.member == "matrix" else 2]]
        )
        matrix = PairMatrix(
            metric=hands.name, corpus=states.corpus, of="tokenizers", within=hands("within", "*"), names=[name, other],
            values=rows, likeness=hands("likeness", True),
        )  # fmt: skip
        pair = PairComparison(
            corpus=states.corpus, group="*", tokenizer=name, other=other, tokens=hands("tokens", (1, 2)), difference=-0.5,
            ci_low=None, ci_high=None, n=3, p=hands("p", 0.5),
        )  # fmt: skip
        values = {(tokenizer, "*"): {hands.name: Measured(2.5, 3)} for tokenizer in states.tokenizers}
        return CorpusOutcome(values, hands("pairs", [pair]), [matrix])


class Timed:
    def __init__(self, hands):
        self.hands = hands
        self.processes = hands("processes", 1)
        self.by_group = hands("by_group", False)

    def measure(self, tokenizers, texts, progress):
        return TimedOutcome(cells(self.hands, sorted(tokenizers)), self.hands("notes", [self.hands("a note", "slow")]))

    def combine(self, outcomes):
        return outcomes[0]


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
            yield Document(
                hands("text", text), hands("group", "g"), hands("key", str(number)), hands("origin", f"here:{number}"), gold,
                hands("parallel_key", str(number)),
            )  # fmt: skip


def metric(hands):
    whole = hands.member in COMPARING
    return Metric(id=hands.name, unit="u", direction="none", formula="f", definition="d", whole=whole)


@hookimpl
def register_backends(register):
    for hands in VALUES:
        if hands.sort == "backend":
            spec = {"name": hands.name, "summary": hands.member, "load": lambda options, hands=hands: Letters(hands)}
            register(BackendSpec(**spec))
    register(
        BackendSpec(name="letters", summary="", load=lambda options: Letters(Handed("backend", "", "", "kept", -1)))
    )


COMPARING = {"matrix", "a row", "a number", "likeness", "p", "pairs", "tokens", "within"}


@hookimpl
def register_metrics(register):
    for hands in VALUES:
        spec = {"name": hands.name, "summary": hands.member, "values": (metric(hands),)}
        if hands.sort == "metric":
            kind = Comparing if hands.member in COMPARING else Metrics
            register(MetricFamily(**spec, text=lambda options, hands=hands, kind=kind: kind(hands)))
        elif hands.sort == "timed":
            register(MetricFamily(**spec, timed=lambda options, hands=hands: Timed(hands)))


@hookimpl
def register_studies(register):
    for hands in VALUES:
        if hands.sort == "study":
            register(
                StudySpec(
                    name=hands.name, title=hands.name, summary="", run=lambda context, options, hands=hands: study(hands),
                    key=f"study.{hands.name}", block=BlockType(study=hands.name, kind=Block),
                )
            )  # fmt: skip


@hookimpl
def register_corpora(register):
    for hands in VALUES:
        if hands.sort == "source":
            spec = {"name": hands.name, "summary": hands.member, "open": lambda options, hands=hands: Texts(hands)}
            register(CorpusSpec(**spec))
