"""The rule about threads."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from tokbench.testing.findings import Broken, RuleNotApplicable, call_of, raised, shown
from tokbench.testing.under_test import TokenizerUnderTest
from tokbench.tokenizers.contract import EncodesBatch, EncodesWithOffsets, EncodesWithSpecial

_THREADS: Final = 8
_ROUNDS: Final = 3
_MIXED_TEXTS: Final = 16
_NAMES: Final = 2


@dataclass(frozen=True)
class _Call:
    method: str
    argument: Any
    settings: Mapping[str, Any] = field(default_factory=dict)

    def of(self, tokenizer: Any) -> Any:
        """Return the answer; of an exception, its words."""
        try:
            answer = getattr(tokenizer, self.method)(self.argument, **self.settings)
            return [list(part) if hasattr(part, "__iter__") and not isinstance(part, str) else part for part in answer]
        except BaseException as error:  # noqa: BLE001 - panics are not an Exception
            return raised(error)


def threads(subject: TokenizerUnderTest) -> str:
    """Eight threads encode and decode all texts at once, and call all methods with different settings, if allowed."""
    if getattr(subject.tokenizer, "thread_safe", None) is not True:
        raise RuleNotApplicable("it does not claim to be thread-safe")
    texts = subject.working(subject.encodable, lambda text: subject.text(subject.ids(text)))
    calls = [call for text in texts for call in (_Call("encode", text), _Call("decode", subject.ids(text)))]
    calls += [call for text in _some_texts(subject, texts) for call in _mixed_calls(subject, text)]
    expected = [(call, call.of(subject.tokenizer)) for call in calls]
    tokenizer = subject.tokenizer if subject.request.train else subject.request.make(subject.spec)

    def work(number: int) -> Broken | None:
        start = number * len(expected) // _THREADS
        for call, alone in (expected[start:] + expected[:start]) * _ROUNDS:
            if (got := call.of(tokenizer)) != alone:
                words = call_of(call.method, call.argument, **call.settings)
                return Broken(f"{words} in {_THREADS} threads", f"{shown(alone)}, as alone", got)
        return None

    with _quick_switches(), ThreadPoolExecutor(_THREADS) as pool:
        for broken in filter(None, pool.map(work, range(_THREADS))):
            raise broken
    return f"{_THREADS * _ROUNDS * len(expected):,} calls in {_THREADS} threads"


def _some_texts(subject: TokenizerUnderTest, texts: list[str]) -> list[str]:
    names = subject.special_names[:_NAMES]
    spelled = [text for text in texts if any(name in text for name in names)]
    return spelled[:_MIXED_TEXTS] + texts[:: max(1, len(texts) // _MIXED_TEXTS)]


def _mixed_calls(subject: TokenizerUnderTest, text: str) -> Iterator[_Call]:
    if isinstance(subject.tokenizer, EncodesBatch):
        yield _Call("encode_batch", [text])
    if isinstance(subject.tokenizer, EncodesWithOffsets):
        yield _Call("encode_with_offsets", text)
    if isinstance(subject.tokenizer, EncodesWithSpecial):
        names = subject.special_names
        for allowed in ((), names, *([name] for name in names[:_NAMES])):
            yield _Call("encode_with_special", text, {"allowed_special": allowed})


@contextmanager
def _quick_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
