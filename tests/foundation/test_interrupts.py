"""A step that must not be left half done: a signal waits for its end, and a Ctrl-C after one does not."""

import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from tokbench.foundation.interrupts import uninterrupted

INT, TERM, HUP = signal.SIGINT, signal.SIGTERM, signal.SIGHUP


class Stopped(KeyboardInterrupt):
    """What the handler of SIGTERM raises here."""


@pytest.fixture(autouse=True)
def handlers():
    """As in a command: SIGINT and SIGTERM interrupt, SIGHUP is ignored."""

    def stop(number, frame):
        raise Stopped

    before = {number: signal.getsignal(number) for number in (INT, TERM, HUP)}
    during = {INT: signal.default_int_handler, TERM: stop, HUP: signal.SIG_IGN}
    for number, handler in during.items():
        signal.signal(number, handler)
    yield
    assert {number: signal.getsignal(number) for number in during} == during
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize(
    ("signals", "stopped"),
    [([], False), ([INT], True), ([TERM], True), ([HUP], False), ([TERM, TERM], True), ([INT, TERM], True)],
)
def test_a_step_is_done_whatever_arrives(signals, stopped):
    steps = []

    def step():
        for number in signals:
            signal.raise_signal(number)
        steps.append("done")
        return 7

    assert uninterrupted(step) == (7, stopped)
    assert steps == ["done"]


@pytest.mark.parametrize("first", [INT, TERM])
def test_a_ctrl_c_after_another_signal_does_not_wait(first):
    steps = []

    def step():
        signal.raise_signal(first)
        steps.append("begun")
        signal.raise_signal(INT)
        steps.append("done")

    with pytest.raises(KeyboardInterrupt):
        uninterrupted(step)
    assert steps == ["begun"]


def test_what_a_step_raises_passes():
    with pytest.raises(ZeroDivisionError):
        uninterrupted(lambda: 1 / 0)


def test_other_threads_have_no_signals():
    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(uninterrupted, lambda: 7).result() == (7, False)
