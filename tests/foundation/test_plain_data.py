"""Plain data: what is written comes back exactly, and what somebody else wrote is refused, and runs no code."""

import json
import math
import sys
from collections import Counter
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Any, Literal, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tokbench.foundation.declared_types import fits
from tokbench.foundation.plain_data import DEEPEST, NotPlain, packed, unpacked


class Cause(StrEnum):
    CASE = "case"


class Level(Enum):
    HIGH = (1, 2)


class Pair(NamedTuple):
    name: str
    counts: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Sums:
    columns: dict[str, NDArray[np.float64]]
    by_cause: Counter[Cause] = field(default_factory=Counter)
    pairs: tuple[Pair, ...] = ()
    level: Level | None = None
    unit: Literal["word", "byte"] = "word"


class Undeclared:
    def __init__(self):
        self.x = 1


simple = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.binary()
)
keys = st.none() | st.booleans() | st.integers() | st.text() | st.binary() | st.tuples(st.text(), st.integers())
values = st.recursive(
    simple | st.frozensets(keys, max_size=4),
    lambda inner: (
        st.lists(inner, max_size=4) | st.tuples(inner, inner) | st.dictionaries(keys, inner, max_size=4)
        | st.sets(keys, max_size=4)
    ),
    max_leaves=20,
)  # fmt: skip


def same(one, other):
    """Compare values by type and content, the bits of floats included."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return one.hex() == other.hex()
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


@given(values)
@example(frozenset([b"\x00\x00\x00\x01\x00\x00\x00", False, b""]))
def test_values_come_back_with_their_types(value):
    data = packed(value)
    assert same(unpacked(data), value)
    assert packed(unpacked(data)) == data


@pytest.mark.parametrize("kind", ["u1", "u2", "<u4", ">i8", "f4", "f8", "?"])
@pytest.mark.parametrize("shape", [(), (0,), (7,), (2, 3), (0, 3)])
def test_arrays_come_back_with_type_and_shape_and_can_be_written_to(kind, shape):
    array = np.arange(math.prod(shape)).reshape(shape).astype(kind)
    back = unpacked(packed([array, array]))
    assert back[0].dtype == array.dtype
    assert np.array_equal(back[0], array)
    assert back[0].shape == shape
    assert back[0].flags.writeable
    assert len(packed([array] * 5)) < len(packed(array)) + 100  # one array is kept once


def test_numbers_of_numpy_keep_their_type():
    back = unpacked(packed((np.int64(5), np.float32(0.1), np.bool_(True))))
    assert [type(number) for number in back] == [np.int64, np.float32, np.bool_]
    assert back == (5, np.float32(0.1), True)


def test_classes_come_back():
    made = Sums(
        columns={"tokens": np.array([0.1, 2.0])}, by_cause=Counter({Cause.CASE: 3}),
        pairs=(Pair("a", np.array([1])),), level=Level.HIGH,
    )  # fmt: skip
    back = unpacked(packed(made), Sums)
    assert type(back) is Sums
    assert back.columns["tokens"].tolist() == [0.1, 2.0]
    assert back.by_cause == made.by_cause
    assert type(back.by_cause) is Counter
    assert back.pairs[0].name == "a"
    assert back.pairs[0].counts.tolist() == [1]
    assert (back.level, back.unit) == (Level.HIGH, "word")


def test_what_has_no_plain_form_is_refused():
    class Local(NamedTuple):
        x: int

    grown = Sums(columns={})
    object.__setattr__(grown, "more", 1)
    deep = []
    for _ in range(DEEPEST + 5):
        deep = [deep]
    for value in (Undeclared(), Local(1), grown, deep, math.nan, np.array([math.inf]), np.array([None]), print, int):
        with pytest.raises(NotPlain):
            packed([value])
    with pytest.raises(NotPlain, match=r"Pair\.name is not what it is declared to be, but int"):
        packed(Pair(5, np.array([1])))
    with pytest.raises(NotPlain, match=r"Pair\.counts"):
        packed(Pair("a", np.array([0.5])))


def crafted(value, arrays=(), classes=(), body=b""):
    return json.dumps({"arrays": arrays, "classes": classes, "value": value}).encode() + b"\n" + body


PAIR = [f"{__name__}:Pair", ["name", "counts"]]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not JSON"),
        (b"\x80\x04]\x94.", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"arrays":[],"classes":[],"value":' + b'{"t":[' * 200 + b"]}" * 200 + b"}\n", "nested too deeply"),
        (b'{"arrays":[],"classes":[],"value":NaN}\n', "NaN stands where a number is due"),
        (b'{"arrays":[],"classes":[],"value":-Infinity}\n', "-Infinity stands where"),
        (b"[]\n", "does not describe a value"),
        (b'{"value": 1}\n', "does not describe a value"),
        (crafted({"z": 1}), "contradict"),
        (crafted({"t": 5}), "contradict"),
        (crafted({"m": 5}), "contradict"),
        (crafted({"d": [[[], 1]]}), "contradict"),
        (crafted({"a": 0}), "contradict"),
        (crafted({"a": 0}, [["u1", [10**12]]]), "longer than the file"),
        (crafted({"a": 0}, [["u1", [-1]]]), "no type of numbers"),
        (crafted({"a": 0}, [["O", [1]]], body=bytes(8)), "no type of numbers"),
        (crafted({"a": 0}, [["bytes", 8]], body=bytes(8)), "contradict"),
        (crafted(1, body=bytes(8)), "shorter than the file"),
        (crafted({"a": 0}, [["<f8", [1]]], body=np.array([math.nan]).tobytes()), "NaN stands"),
        (crafted({"x": ["O", 1]}), "contradict"),
        (crafted({"c": [0]}, classes=[["os:system", []]]), "no class of the run"),
        (crafted({"c": [0, 1]}, classes=[["subprocess:Popen", ["args"]]]), "other fields of subprocess:Popen"),
        (crafted({"c": [0]}, classes=[["subprocess:Popen", []]]), "contradict"),
        (crafted({"c": [0]}, classes=[["antigravity:Secret", []]]), "no class of the run"),
        (crafted({"c": [0, "a"]}, classes=[PAIR]), "contradict"),
        (crafted({"c": [0, "a", [1]]}, classes=[PAIR]), r"Pair\.counts is not what it is declared to be, but list"),
        (crafted({"c": [0, "a", 1]}, classes=[[PAIR[0], ["name"]]]), "other fields"),
        (crafted({"e": [0, "LOW"]}, classes=[[f"{__name__}:Cause", []]]), "contradict"),
        (crafted({"e": [0, "CASE"]}, classes=[PAIR]), "contradict"),
    ],
)  # fmt: skip
def test_crafted_data_are_refused(data, words):
    with pytest.raises(NotPlain, match=words):
        unpacked(data)
    assert "antigravity" not in sys.modules


def test_a_value_of_another_type_is_refused():
    with pytest.raises(NotPlain, match="another value than"):
        unpacked(packed({"a": 1.5}), dict[str, int])
    assert unpacked(packed({"a": 1}), dict[str, int]) == {"a": 1}


@pytest.mark.parametrize(
    ("kind", "fitting", "other"),
    [
        (int, [1, np.int64(1)], [True, 1.0, "1", None]),
        (float, [1, 0.5, np.float64(1)], [True, "1"]),
        (bool, [True], [1]),
        (str | None, ["", None], [b"", 0]),
        (Literal["a", 1], ["a", 1], ["b", True]),
        (tuple[int, str], [(1, "a")], [(1,), [1, "a"], (1, 2)]),
        (tuple[int, ...], [(), (1, 2)], [("a",), [1]]),
        (list[list[int]], [[[1]], []], [[1], ["a"]]),
        (dict[str, float], [{"a": 1.0}], [{1: 1.0}, {"a": "b"}]),
        (Counter[str], [Counter("ab")], [{"a": 1}]),
        (frozenset[str], [frozenset("a")], [{"a"}, frozenset([1])]),
        (NDArray[np.unsignedinteger[Any]], [np.array([1], "u2")], [np.array([1]), [1]]),
        (NDArray[Any], [np.array([1])], [1]),
        (Cause, [Cause.CASE], ["case"]),
        (Any, [1, None, object()], []),
    ],
)  # fmt: skip
def test_declared_types(kind, fitting, other):
    test = fits(kind)
    assert all(map(test, fitting))
    assert not any(map(test, other))
