"""Rules about input that must be refused with an exception of the right type."""

from __future__ import annotations

from typing import Any, Final

from tokbench.foundation.errors import BackendError
from tokbench.testing.findings import Broken, call_of, raised
from tokbench.testing.under_test import TokenizerUnderTest
from tokbench.tokenizers.batch import from_lists
from tokbench.tokenizers.contract import DecodesBatch, HasTokenBytes

_NO_TEXT: Final[tuple[Any, ...]] = (None, b"x", 5, ["x"])
_NO_IDS: Final[tuple[Any, ...]] = (None, "x", "1", ["x"], [None])
_UINT32: Final = 1 << 32


def ids_out_of_range(subject: TokenizerUnderTest) -> str:
    """``decode``, ``decode_batch`` and ``token_bytes`` refuse ids that do not exist."""
    right, names = (ValueError, BackendError), "ValueError or BackendError"
    size, tokenizer = subject.vocab_size, subject.tokenizer
    outside = (size, size + 1, -1, _UINT32, 1 << 64)
    calls: list[tuple[str, Any]] = [("decode", ids) for bad in outside for ids in ([bad], [0, bad])]
    if isinstance(tokenizer, HasTokenBytes):
        calls += [("token_bytes", bad) for bad in outside]
    if isinstance(tokenizer, DecodesBatch):
        calls += [("decode_batch", from_lists([[0, bad]])) for bad in (size, _UINT32 - 1) if size <= bad < _UINT32]
    for method, argument in calls:
        _refused(subject, method, argument, right, names)
    return ", ".join(sorted({method for method, _ in calls}))


def wrong_types(subject: TokenizerUnderTest) -> str:
    """``encode`` refuses anything but a string, and ``decode`` anything but integers."""
    right, names = (TypeError, ValueError, AttributeError, BackendError), "TypeError, ValueError or AttributeError"
    for argument in _NO_TEXT:
        _refused(subject, "encode", argument, right, names)
    for argument in _NO_IDS:
        _refused(subject, "decode", argument, right, names)
    return f"{len(_NO_TEXT)} times no text, {len(_NO_IDS)} times no ids"


def _refused(
    subject: TokenizerUnderTest, method: str, argument: Any, right: tuple[type[Exception], ...], names: str
) -> None:
    call = call_of(method, argument)
    try:
        answer = subject.call(method, argument)
    except right:
        return
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise Broken(call, names, words=raised(error)) from error
    raise Broken(call, names, answer)
