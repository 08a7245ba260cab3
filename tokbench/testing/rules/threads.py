"""The rule about threads."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from tokbench.testing.findings import Broken, RuleNotApplicable, call_of, raised, shown
from tokbench.testing.under_test import TokenizerUnderTest
from tokbench.tokenizers.contract import EncodesChat, EncodesWithSpecial, ThreadSafe

_THREADS: Final = 8
_ROUNDS: Final = 3
_MIXED_TEXTS: Final = 16
_NAMES: Final = 2


def threads(subject: TokenizerUnderTest) -> str:
    """Eight threads encode and decode all texts at once, and call all methods with different settings, if allowed."""
    if not isinstance(subject.tokenizer, ThreadSafe):
        raise RuleNotApplicable("it does not say whether it is thread-safe")
    if subject.tokenizer.thread_safe is not True:
        raise RuleNotApplicable("it does not claim to be thread-safe")
    texts = subject.working(subject.encodable, lambda text: subject.text(subject.ids(text)))
    calls = [call for text in texts for call in _plain_calls(subject, text)]
    calls += [call for text in _some_texts(subject, texts) for call in _mixed_calls(subject, text)]
    expected = [answer for call in calls if isinstance(answer := _answer(call, subject.tokenizer), _Answer)]
    tokenizer = subject.tokenizer if subject.request.train else subject.request.make(subject.spec)
    broken: list[Broken] = []

    def work(number: int) -> None:
        start = number * len(expected) // _THREADS
        for call, value in (expected[start:] + expected[:start]) * _ROUNDS:
            got = _answer(call, tokenizer)
            if not isinstance(got, _Answer) or got.value != value:
                words = shown(got.value) if isinstance(got, _Answer) else raised(got)
                broken.append(Broken(f"{call.words} in {_THREADS} threads", f"{shown(value)}, as alone", words=words))
            if broken:
                return

    _run(work)
    if broken:
        raise broken[0]
    return f"{_THREADS * _ROUNDS * len(expected):,} calls in {_THREADS} threads"


class _Call(NamedTuple):
    words: str
    make: Callable[[Any], Any]


class _Answer(NamedTuple):
    call: _Call
    value: Any


def _answer(call: _Call, tokenizer: Any) -> _Answer | BaseException:
    try:
        return _Answer(call, call.make(tokenizer))
    except BaseException as error:  # noqa: BLE001 - panics are not an Exception
        return error


def _some_texts(subject: TokenizerUnderTest, texts: list[str]) -> list[str]:
    names = subject.special_names[:_NAMES]
    spelled = [text for text in texts if any(name in text for name in names)]
    return spelled[:_MIXED_TEXTS] + texts[:: max(1, len(texts) // _MIXED_TEXTS)]


def _plain_calls(subject: TokenizerUnderTest, text: str) -> tuple[_Call, _Call]:
    return _call("encode", text), _call("decode", subject.ids(text))


def _mixed_calls(subject: TokenizerUnderTest, text: str) -> list[_Call]:
    arguments: dict[str, Any] = {
        "encode_batch": [text],
        "encode_with_offsets": text,
        "encode_with_spans": text,
        "decode_stream": subject.ids(text),
    }
    calls = [_call(name, argument) for name, argument in arguments.items() if hasattr(subject.tokenizer, name)]
    if isinstance(subject.tokenizer, EncodesWithSpecial):
        names = subject.special_names
        allowed = [(), names, *([name] for name in names[:_NAMES])]
        calls += [_call("encode_with_special", text, allowed_special=each) for each in allowed]
    if isinstance(subject.tokenizer, EncodesChat):
        messages = [{"role": "user", "content": text}]
        calls += [_call("encode_chat", messages, reply=reply) for reply in (False, True)]
    return calls


def _call(method: str, argument: Any, **settings: Any) -> _Call:
    def make(tokenizer: Any) -> list[Any]:
        answer = getattr(tokenizer, method)(argument, **settings)
        return [list(part) if hasattr(part, "__iter__") and not isinstance(part, str) else part for part in answer]

    return _Call(call_of(method, argument, *settings.values()), make)


def _run(work: Callable[[int], None]) -> None:
    barrier = threading.Barrier(_THREADS)

    def begin(number: int) -> None:
        barrier.wait()
        work(number)

    with _quick_switches():
        running = [threading.Thread(target=begin, args=(number,), daemon=True) for number in range(_THREADS)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()


@contextmanager
def _quick_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
