"""A step that must not be left half done: a signal waits for its end, and a Ctrl-C after one does not."""

import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from tokbench.engine.run import uninterrupted

INT, TERM, HUP = signal.SIGINT, signal.SIGTERM, signal.SIGHUP


@pytest.fixture(autouse=True)
def handlers():
    """As in a command: SIGINT and SIGTERM interrupt, SIGHUP is ignored."""
    during = {INT: signal.default_int_handler, TERM: signal.default_int_handler, HUP: signal.SIG_IGN}
    before = {number: signal.signal(number, handler) for number, handler in during.items()}
    yield
    assert {number: signal.signal(number, handler) for number, handler in before.items()} == during


@pytest.mark.parametrize(
    ("signals", "stopped"), [([], False), ([INT], True), ([TERM, TERM], True), ([HUP], False), ([INT, TERM], True)]
)
def test_a_step_is_done_whatever_arrives(signals, stopped):
    assert uninterrupted(lambda: [signal.raise_signal(number) for number in signals] and 7) == (signals and 7, stopped)


@pytest.mark.parametrize("first", [INT, TERM])
def test_a_ctrl_c_after_another_signal_does_not_wait(first):
    steps = []
    with pytest.raises(KeyboardInterrupt):
        uninterrupted(lambda: [steps.append(signal.raise_signal(number)) for number in (first, INT)])
    assert len(steps) == 1


def test_other_threads_have_no_signals():
    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(uninterrupted, lambda: 7).result() == (7, False)
