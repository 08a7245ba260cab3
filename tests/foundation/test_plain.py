"""The door for values: exact types come out, with nothing lost."""

from collections import UserDict, UserString, deque
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np
import pytest

from tokbench.foundation.errors import ContractError, WorkersLost
from tokbench.foundation.plain_values import plain
from tokbench.results.cells import Status


class Pair(NamedTuple):
    one: int
    two: float | None = None


@dataclass(frozen=True)
class Point:
    x: Any


def exact(value):
    """Return a value with the types of all that is in it."""
    if isinstance(value, dict):
        return {key: exact(item) for key, item in value.items()}
    inner = [exact(item) for item in value] if isinstance(value, list | tuple) else value
    return type(value).__name__, inner


@pytest.mark.parametrize(
    ("value", "expected", "right"),
    [
        (np.str_("a\0"), str, "a\0"),
        (np.bytes_(b"a\0"), bytes, b"a\0"),
        (np.array(7, np.uint8), int, 7),
        (np.longdouble(0.5), float, 0.5),
        (3, float, 3.0),
        (Fraction(1, 2), float, 0.5),
        (Decimal("0.5"), Any, 0.5),
        (memoryview(b"ab"), bytes, b"ab"),
        (deque([1, 2]), list[int], [1, 2]),
        ({"a": 1}.values(), list[int], [1]),
        (UserDict({np.str_("a"): 1}), dict[str, int], {"a": 1}),
        ([Point(np.float32(0.5))], Any, [{"x": 0.5}]),
        (None, float | None, None),
        ("failed", Status, Status.FAILED),
        (UserString("b"), Literal["a", "b"], "b"),
        (np.array([[1, 2], [3, 4]], ">i8"), list[list[int]], [[1, 2], [3, 4]]),
        (np.array([[1, 2], [3, 4]]), tuple[tuple[int, int], ...], ((1, 2), (3, 4))),
        ((np.int8(1), "a"), tuple[int, str], (1, "a")),
        ([Pair(np.int8(1), np.float16(2))], list[Pair], [Pair(1, 2.0)]),
        ({"a": np.array([], int)}, dict[str, list[int]], {"a": []}),
        ([], list[Pair], []),
        ((i for i in [True]), Any, [True]),
        (Enum("E", {"A": 2.5}).A, Any, 2.5),
    ],
)
def test_the_plain_form_has_exact_types(value, expected, right):
    made = plain(value, expected, "it")
    assert (made, exact(made)) == (right, exact(right))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((1, 2, 3), tuple[int, int]),
        ([(1, 2), (3,)], list[tuple[int, int]]),
        ([1, 2.0], list[int]),
        ([1.0, float("inf")], list[float]),
        (Pair(1, "2"), Pair),
        ((1, 2.0), Pair),
        ("c", Literal["a", "b"]),
        ("done", Status),
        (1 + 0j, float),
        (Decimal("NaN"), float),
        (10**400, int),
        (True, int),
        (b"a", str),
        ("ab", list[str]),
        ({1, 2}, Any),
        ({1: 2, "1": 3}, Any),
        ({(1, 2): 3}, Any),
        (np.array([1.0, np.nan]), Any),
    ],
)
def test_what_has_no_such_form_is_refused(value, expected):
    with pytest.raises(ContractError, match="it"):
        plain(value, expected, "it")


def test_what_stops_a_run_passes_through():
    def lost():
        yield 1
        raise WorkersLost("gone")

    with pytest.raises(WorkersLost):
        plain(lost(), list[int], "it")


def test_a_plain_record_is_the_same_object():
    pair = Pair(1, 2.0)
    assert plain(pair, Pair, "it") is pair
