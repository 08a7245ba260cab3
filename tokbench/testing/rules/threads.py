"""The rule about threads: several threads at a time get the same answers as one."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tokbench.testing.findings import Broken, RuleNotApplicable, call_of, raised, shown
from tokbench.testing.under_test import TokenizerUnderTest
from tokbench.tokenizers.contract import ThreadSafe, Tokenizer

_THREADS: Final = 8
_ROUNDS: Final = 3


def threads(subject: TokenizerUnderTest) -> str:
    """Eight threads encode and decode all texts at a time, if that is allowed.

    A tokenizer that can be loaded is loaded anew, so that its first calls are at a time, too.
    """
    if not isinstance(subject.tokenizer, ThreadSafe):
        raise RuleNotApplicable("it does not say whether it is thread-safe")
    if subject.tokenizer.thread_safe is not True:
        raise RuleNotApplicable("it does not claim to be thread-safe")
    texts = subject.working(subject.encodable, lambda text: subject.text(subject.ids(text)))
    expected = {text: (subject.ids(text), subject.text(subject.ids(text))) for text in texts}
    tokenizer = subject.tokenizer if subject.request.train else subject.request.make(subject.spec)
    broken: list[Broken] = []
    barrier = threading.Barrier(_THREADS)

    def work(number: int) -> None:
        start = number * len(texts) // _THREADS
        barrier.wait()
        for text in (texts[start:] + texts[:start]) * _ROUNDS:
            difference = _difference(tokenizer, text, *expected[text])
            if difference:
                broken.append(difference)
            if broken:
                return

    with _quick_switches():
        running = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(_THREADS)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    if broken:
        raise broken[0]
    return f"{_THREADS} threads, {_ROUNDS} rounds of {len(texts):,} texts"


def _difference(tokenizer: Tokenizer, text: str, ids: list[int], decoded: str) -> Broken | None:
    """Return the difference from the answers that one thread gets, if there is one."""
    call = f"{call_of('encode', text)}, then decode, in {_THREADS} threads"
    try:
        got = list(tokenizer.encode(text)), tokenizer.decode(ids)
    except BaseException as error:  # noqa: BLE001 - panics are not an Exception
        return Broken(call, f"{shown(ids)}, as one thread gets", words=raised(error))
    if got == (ids, decoded):
        return None
    return Broken(call, f"{shown((ids, decoded))}, as one thread gets", got)


@contextmanager
def _quick_switches() -> Iterator[None]:
    """Let Python change threads as often as it can, so that what can go wrong does."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
