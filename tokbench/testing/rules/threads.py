"""Rules about threads."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, NamedTuple

from tokbench.testing.findings import Broken, RuleNotApplicable, call_of, raised, shown
from tokbench.testing.under_test import TokenizerUnderTest
from tokbench.tokenizers.contract import (
    EncodesBatch,
    EncodesWithOffsets,
    EncodesWithSpecial,
    ThreadSafe,
    Tokenizer,
)
from tokbench.tokenizers.engine_contract import DecodesStream, EncodesChat, ReportsSpans

_THREADS: Final = 8
_ROUNDS: Final = 3
_MIXED_TEXTS: Final = 16
_NAMES: Final = 2
_PLAIN: Final = 2


def threads(subject: TokenizerUnderTest) -> str:
    """Eight threads encode and decode all texts at once, if allowed."""
    _check_claim(subject)
    texts = subject.working(subject.encodable, lambda text: subject.text(subject.ids(text)))
    expected = {text: (subject.ids(text), subject.text(subject.ids(text))) for text in texts}
    tokenizer = subject.tokenizer if subject.request.train else subject.request.make(subject.spec)
    broken: list[Broken] = []

    def work(number: int) -> None:
        start = number * len(texts) // _THREADS
        for text in (texts[start:] + texts[:start]) * _ROUNDS:
            difference = _difference(tokenizer, text, *expected[text])
            if difference:
                broken.append(difference)
            if broken:
                return

    _run(work)
    if broken:
        raise broken[0]
    return f"{_THREADS} threads, {_ROUNDS} rounds of {len(texts):,} texts"


def threads_mixed(subject: TokenizerUnderTest) -> str:
    """Eight threads call all methods with different settings at once, if allowed."""
    _check_claim(subject)
    texts = subject.working(_some_texts(subject), lambda text: subject.text(subject.ids(text)))
    calls = [call for text in texts for call in (*_plain_calls(subject, text), *_calls(subject, text))]
    if len(calls) == _PLAIN * len(texts):
        raise RuleNotApplicable("it has no methods for texts and ids but encode and decode")
    expected = [answer for call in calls if isinstance(answer := _answer(call), _Answer)]
    raising: list[Broken] = []
    changed: list[Broken] = []

    def work(number: int) -> None:
        start = number * len(expected) // _THREADS
        for answer in (expected[start:] + expected[:start]) * _ROUNDS:
            got = _answer(answer.call)
            wanted = f"{shown(answer.value)}, as one thread gets"
            if not isinstance(got, _Answer):
                raising.append(Broken(answer.call.words, wanted, words=raised(got)))
            elif got.value != answer.value:
                changed.append(Broken(answer.call.words, wanted, got.value))

    _run(work)
    made = _THREADS * _ROUNDS * len(expected)
    if raising or changed:
        first = [*raising, *changed][0]
        count = (
            f"of {made:,} calls in {_THREADS} threads {len(raising):,} raised and {len(changed):,} gave other answers"
        )
        raise Broken(first.call, first.expected, words=f"{first.got}; {count}")
    return f"{made:,} calls in {_THREADS} threads"


class _Call(NamedTuple):
    words: str
    make: Callable[[], Any]


class _Answer(NamedTuple):
    call: _Call
    value: Any


def _answer(call: _Call) -> _Answer | BaseException:
    try:
        return _Answer(call, call.make())
    except BaseException as error:  # noqa: BLE001 - panics are not an Exception
        return error


def _some_texts(subject: TokenizerUnderTest) -> list[str]:
    names = subject.special_names[:_NAMES]
    spelled = [text for text in subject.encodable if any(name in text for name in names)]
    return spelled[:_MIXED_TEXTS] + subject.encodable[:: max(1, len(subject.encodable) // _MIXED_TEXTS)]


def _plain_calls(subject: TokenizerUnderTest, text: str) -> tuple[_Call, _Call]:
    tokenizer, ids = subject.tokenizer, subject.ids(text)
    return (
        _Call(call_of("encode", text), lambda: list(tokenizer.encode(text))),
        _Call(call_of("decode", ids), lambda: tokenizer.decode(ids)),
    )


def _calls(subject: TokenizerUnderTest, text: str) -> Iterator[_Call]:
    tokenizer, ids = subject.tokenizer, subject.ids(text)
    if isinstance(tokenizer, EncodesBatch):
        yield _Call(
            call_of("encode_batch", [text]), lambda: [column.tolist() for column in tokenizer.encode_batch([text])]
        )
    if isinstance(tokenizer, EncodesWithSpecial):
        for allowed in _allowed(subject):
            words = f"encode_with_special({shown(text)}, allowed_special={sorted(allowed)})"
            yield _Call(words, partial(_listed, tokenizer.encode_with_special, text, allowed_special=allowed))
    if isinstance(tokenizer, EncodesWithOffsets):
        yield _Call(call_of("encode_with_offsets", text), lambda: [*map(list, tokenizer.encode_with_offsets(text))])
    if isinstance(tokenizer, ReportsSpans):
        yield _Call(call_of("encode_with_spans", text), lambda: [*map(list, tokenizer.encode_with_spans(text))])
    if isinstance(tokenizer, DecodesStream):
        yield _Call(call_of("decode_stream", ids), lambda: list(tokenizer.decode_stream(ids)))
    if isinstance(tokenizer, EncodesChat):
        messages = [{"role": "user", "content": text}]
        for reply in (False, True):
            words = f"encode_chat({shown(messages)}, reply={reply})"
            yield _Call(words, partial(_listed, tokenizer.encode_chat, messages, reply=reply))


def _listed(method: Callable[..., Any], argument: Any, **settings: Any) -> list[Any]:
    return list(method(argument, **settings))


def _allowed(subject: TokenizerUnderTest) -> list[frozenset[str]]:
    names = subject.special_names
    return [frozenset(), frozenset(names), *(frozenset({name}) for name in names[:_NAMES])]


def _check_claim(subject: TokenizerUnderTest) -> None:
    if not isinstance(subject.tokenizer, ThreadSafe):
        raise RuleNotApplicable("it does not say whether it is thread-safe")
    if subject.tokenizer.thread_safe is not True:
        raise RuleNotApplicable("it does not claim to be thread-safe")


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


def _difference(tokenizer: Tokenizer, text: str, ids: list[int], decoded: str) -> Broken | None:
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
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
