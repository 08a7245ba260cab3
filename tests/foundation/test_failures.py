"""Read the heartbeat of a process after it has died, and turn exceptions into failures."""

import bdb
import mmap
import pickle

import pytest

from tokbench.foundation.failures import HEARTBEAT_BYTES, Heartbeat, attempt, doing, keep_heartbeat, read_heartbeat


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
