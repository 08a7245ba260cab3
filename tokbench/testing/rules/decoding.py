"""Rules about ``decode``."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Final

from tokbench.foundation.errors import BackendError
from tokbench.testing.findings import Broken, RuleNotApplicable, call_of, raised, shown
from tokbench.testing.under_test import TokenizerUnderTest, check_small
from tokbench.tokenizers.contract import ClaimsLossless

_SEQUENCES: Final = 300
_LONGEST: Final = 12
_STREAMED: Final = 128  # some engines decode all ids so far after each one


def decode(subject: TokenizerUnderTest) -> str:
    """Every id, the ids of every text and any ids in a row are text."""

    def check(ids: list[int]) -> None:
        call = call_of("decode", ids)
        text = subject.answer("decode", ids, expected="text")
        if not isinstance(text, str):
            raise Broken(call, "a string", text)
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise Broken(call, "Unicode text, with U+FFFD for what is not", text) from error

    single = subject.some_ids()
    subject.working(([token_id] for token_id in single), check)
    subject.working([*_in_a_row(subject.vocab_size)], lambda ids: check_small(ids, check))
    note = subject.each_text(subject.encodable, lambda text: check(subject.ids(text)))
    which = "all" if len(single) == subject.vocab_size else f"{len(single):,} of"
    return f"{which} {subject.vocab_size:,} ids, {_SEQUENCES} random sequences, the ids of {note}"


def _in_a_row(vocab_size: int) -> Iterator[list[int]]:
    draw = random.Random(1)  # noqa: S311 - no secret
    for _ in range(_SEQUENCES):
        yield [draw.randrange(vocab_size) for _ in range(draw.randint(2, _LONGEST))]


def lossless(subject: TokenizerUnderTest) -> str:
    """Every text makes the round trip, if claimed."""
    if not isinstance(subject.tokenizer, ClaimsLossless):
        raise RuleNotApplicable("it does not say whether it is lossless")
    if not subject.lossless:
        raise RuleNotApplicable("it does not claim to be lossless")

    def check(text: str) -> None:
        back = subject.text(subject.ids(text))
        if back != text:
            raise Broken(f"decode(encode({shown(text)}))", shown(text), back)

    return subject.each_text(subject.encodable, check)


def decode_stream(subject: TokenizerUnderTest) -> str:
    """A stream gives a string for each id and one for the end, independent of other streams."""
    tokenizer: Any = subject.tokenizer
    if not hasattr(tokenizer, "decode_stream"):
        raise RuleNotApplicable("it has no decode_stream")

    def check(text: str) -> None:
        ids = subject.ids(text)[:_STREAMED]
        call = f"decode_stream of the first ids of {call_of('encode', text)}"
        try:
            alone = list(tokenizer.decode_stream(ids))
            pairs = list(zip(tokenizer.decode_stream(ids), tokenizer.decode_stream(ids), strict=True))
        except BaseException as error:
            raise Broken(call, "strings", words=raised(error)) from error
        if len(alone) != len(ids) + 1 or not all(isinstance(part, str) for part in alone):
            raise Broken(call, f"{len(ids) + 1} strings, one for each id and one for the end", alone)
        if pairs != [(part, part) for part in alone]:
            raise Broken(f"two of {call} at a time", f"{shown(alone)} from each, as from one alone", pairs)

    for token_id in (subject.vocab_size, -1):
        try:
            answer = list(tokenizer.decode_stream([token_id]))
        except (ValueError, BackendError):
            continue
        except BaseException as error:
            raise Broken(call_of("decode_stream", [token_id]), "a ValueError", words=raised(error)) from error
        raise Broken(call_of("decode_stream", [token_id]), "a ValueError, since there is no such id", answer)
    return subject.each_text(subject.encodable, check)
