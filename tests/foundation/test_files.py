"""Files, failures and values: written whole, read after a crash, and plain."""

import bdb
import mmap
import os
import pickle
import re
import subprocess
import sys
from collections import UserDict, UserString, deque
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np
import pytest
from full_disk import NO_BYTECODE

from tokbench.foundation.errors import ContractError, NotWritten, WorkersLost
from tokbench.foundation.failures import HEARTBEAT_BYTES, Heartbeat, attempt, doing, keep_heartbeat, read_heartbeat
from tokbench.foundation.files import remove_unfinished, unfinished_prefix, write_atomically
from tokbench.foundation.plain_values import plain
from tokbench.results.cells import Status

FULL_DISK = """
import resource, sys
from pathlib import Path
from tokbench.foundation.files import write_atomically
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    write_atomically(Path(sys.argv[1]), b"new" * 4096)
except OSError as error:
    print(error.filename)
"""


def test_a_file_is_replaced(tmp_path):
    path = tmp_path / "f"
    for content in (b"old", b"new"):
        write_atomically(path, content)
        assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="it is not known there who is alive")
def test_what_a_killed_process_has_not_finished_is_deleted(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    own = unfinished_prefix(tmp_path / "f")
    assert own == f".f.{os.getpid()}-"
    left = [f".f.{gone.pid}-0a1b.tmp", f".g.json.{gone.pid}-x_1.tmp"]
    stays = [f"{own}0a1b.tmp", f"f.{gone.pid}-0a1b.tmp", f".f.{gone.pid}-0a1b", f".{gone.pid}.tmp"]
    for name in [left[0], *stays]:
        (tmp_path / name).touch()
    (tmp_path / left[1] / "inside").mkdir(parents=True)
    remove_unfinished(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(stays)


@pytest.mark.parametrize("what", ["folder", "pipe", "missing"])
def test_what_cannot_be_written_says_so(tmp_path, what):
    path = tmp_path / ("no" if what == "missing" else "") / "f"
    if what == "folder":
        path.mkdir()
    elif what == "pipe":
        os.mkfifo(path)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(NotWritten, match=re.escape(f"{path}: cannot be written: ")) as raised:
        write_atomically(path, b"new")
    assert pickle.loads(pickle.dumps(raised.value)).args == raised.value.args
    assert sorted(tmp_path.iterdir()) == before


def test_a_link_stays_one(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "f")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "f").read_bytes() == b"new"


def test_a_full_disk_leaves_the_old_file_and_no_other(tmp_path):
    """The largest size of a file acts as a full disk does."""
    path = tmp_path / "f"
    path.write_bytes(b"old")
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, check=True, timeout=60,
        env={**os.environ, **NO_BYTECODE},
    )  # fmt: skip
    assert done.stdout == f"{path}\n"
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.fixture
def memory(monkeypatch):
    monkeypatch.setattr("tokbench.foundation.failures._Now.memory", None)
    monkeypatch.setattr("tokbench.foundation.failures._Now.heartbeat", Heartbeat())
    with mmap.mmap(-1, HEARTBEAT_BYTES) as kept:
        keep_heartbeat(kept)
        yield kept
        monkeypatch.undo()


def said(memory):
    return read_heartbeat(memory)[:3]


def test_notes_nest_and_come_back(memory):
    with doing("encoding", tokenizer="a", place="corpus c"):
        assert said(memory) == ("a", "encoding", "corpus c")
        with doing("decoding"):
            assert said(memory) == ("a", "decoding", "corpus c")
        assert said(memory) == ("a", "encoding", "corpus c")
    assert said(memory) == ("", "", "")


def test_an_exception_ends_the_note_but_the_end_of_the_process_does_not(memory):
    with pytest.raises(ZeroDivisionError), doing("encoding", tokenizer="a"):
        _ = 1 / 0
    assert said(memory) == ("", "", "")
    with pytest.raises(KeyboardInterrupt), doing("encoding", tokenizer="a"):
        raise KeyboardInterrupt
    assert said(memory) == ("a", "encoding", "")


@pytest.mark.parametrize("text", ["corpus c", "é" * 3000, "half \ud83d"])
def test_any_text_fits(memory, text):
    with doing(text, place=text):
        found = read_heartbeat(memory)
    expected = text[:2000].encode("utf-8", "replace").decode()
    assert (found.verb, found.place) == (expected, expected)


def raises(depth):
    return raises(depth - 1) if depth else 1 / 0


def test_a_failure_says_where_the_code_failed_and_can_be_sent():
    failure = attempt(lambda: raises(3), "dividing")
    assert failure.reason == "dividing: ZeroDivisionError: division by zero"
    assert f'File "{__file__}"' in failure.traceback
    assert failure.traceback.endswith("ZeroDivisionError: division by zero\n")
    assert pickle.loads(pickle.dumps(failure)) == failure


def test_quitting_a_debugger_is_an_interrupt():
    def quits():
        raise bdb.BdbQuit

    with pytest.raises(KeyboardInterrupt):
        attempt(quits)


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
