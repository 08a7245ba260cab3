"""Rules about bytes and token ends."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

from tokbench.testing.findings import Broken, RuleNotApplicable, call_of, shown
from tokbench.testing.under_test import TokenizerUnderTest, is_id
from tokbench.tokenizers.contract import (
    EncodesWithOffsets,
    HasDummyPrefix,
    HasMerges,
    HasSpecialTokens,
    HasTokenBytes,
)

_FEWEST: Final = 2


def token_bytes(subject: TokenizerUnderTest) -> str:
    """Every id has bytes, and a text's ids have the bytes of the decoded text."""
    tokenizer = subject.tokenizer
    if not isinstance(tokenizer, HasTokenBytes):
        raise RuleNotApplicable("it has no token_bytes")
    prefix = tokenizer.dummy_prefix if isinstance(tokenizer, HasDummyPrefix) else b""
    if not isinstance(prefix, bytes):
        raise Broken("dummy_prefix", "bytes", prefix)

    def bytes_of(token_id: int) -> bytes:
        data = subject.answer("token_bytes", token_id, expected="bytes")
        if not isinstance(data, bytes):
            raise Broken(call_of("token_bytes", token_id), "bytes", data)
        return data

    def check(text: str) -> None:
        ids = subject.ids(text)
        decoded = subject.text(ids)
        parts = list(map(bytes_of, ids))
        whole = b"".join(parts)
        # The prefix may be there or not: an unknown token at the start has taken its place.
        if decoded not in {data.decode(errors="replace") for data in (whole, whole.removeprefix(prefix))}:
            without = f" after dummy_prefix {prefix!r}" if prefix else ""
            raise Broken(f"token_bytes of {call_of('encode', text)}", f"the bytes of {shown(decoded)}{without}", parts)

    for token_id in subject.some_ids():
        bytes_of(token_id)
    return f"{len(subject.some_ids()):,} ids, {subject.each_text(subject.encodable, check)}"


def offsets(subject: TokenizerUnderTest) -> str:
    """Each token has an end in the text, in order; if lossless, they cut the text into the tokens' bytes."""
    tokenizer = subject.tokenizer
    if not isinstance(tokenizer, EncodesWithOffsets):
        raise RuleNotApplicable("it has no encode_with_offsets")
    exact = subject.lossless and isinstance(tokenizer, HasTokenBytes) and not getattr(tokenizer, "dummy_prefix", b"")

    def check(text: str) -> None:
        expected, data = subject.ids(text), text.encode()
        call = call_of("encode_with_offsets", text)
        answer = subject.answer("encode_with_offsets", text, expected="Offsets(ids, ends)")
        if not isinstance(answer, tuple) or len(answer) != 2:  # noqa: PLR2004
            raise Broken(call, "Offsets(ids, ends)", answer)
        ids, ends = map(list, answer)
        if ids != expected:
            raise Broken(call, f"ids {shown(expected)}, as encode gives", ids)
        _check_ends(call, ends, len(ids), len(data))
        if subject.lossless and ends and ends[-1] != len(data):
            raise Broken(call, f"a last end of {len(data)}, since the text has so many bytes", ends)
        if exact:
            _check_parts(subject, call, ids, [data[start:end] for start, end in pairwise([0, *ends])])

    return subject.each_text(subject.encodable, check)


def _check_ends(call: str, ends: Sequence[int], tokens: int, length: int) -> None:
    if len(ends) != tokens or not all(map(is_id, ends)):
        raise Broken(call, f"{tokens} integers as ends, one for each id", ends)
    if list(ends) != sorted(ends) or (ends and not 0 <= ends[0] <= ends[-1] <= length):
        raise Broken(call, f"ends that never fall, from 0 to {length}, the bytes of the text", ends)


def _check_parts(subject: TokenizerUnderTest, call: str, ids: Sequence[int], parts: Sequence[bytes]) -> None:
    for token_id, part in zip(ids, parts, strict=True):
        data = subject.answer("token_bytes", token_id, expected="bytes")
        if data != part:
            raise Broken(call, f"an end that gives id {token_id} its bytes {data!r}", part)


def spans(subject: TokenizerUnderTest) -> str:
    """Each id has a start and an end in the text, right or wrong."""
    if not hasattr(subject.tokenizer, "encode_with_spans"):
        raise RuleNotApplicable("it has no encode_with_spans")

    def check(text: str) -> None:
        expected, call = subject.ids(text), call_of("encode_with_spans", text)
        answer = subject.answer("encode_with_spans", text, expected="TokenSpans(ids, starts, ends)")
        if not isinstance(answer, tuple) or len(answer) != 3:  # noqa: PLR2004
            raise Broken(call, "TokenSpans(ids, starts, ends)", answer)
        ids, starts, ends = map(list, answer)
        if ids != expected:
            raise Broken(call, f"ids {shown(expected)}, as encode gives", ids)
        if len(starts) != len(ids) or len(ends) != len(ids) or not all(map(is_id, starts + ends)):
            raise Broken(call, f"{len(ids)} integers as starts and as ends, one for each id", (starts, ends))
        if not all(0 <= start <= end <= len(text) for start, end in zip(starts, ends, strict=True)):
            raise Broken(call, f"spans from 0 to {len(text)}, the code points of the text", (starts, ends))

    return subject.each_text(subject.encodable, check)


def merges(subject: TokenizerUnderTest) -> str:
    """Every merge has the bytes of an id that is not special, and its parts are units or made before."""
    tokenizer = subject.tokenizer
    if not isinstance(tokenizer, HasTokenBytes):
        raise RuleNotApplicable("it has no token_bytes")
    if not isinstance(tokenizer, HasMerges) or not hasattr(tokenizer, "merges"):
        raise RuleNotApplicable("it has no merges, or none that come in order of rank")
    given = tokenizer.merges
    special = set(tokenizer.special_ids.values()) if isinstance(tokenizer, HasSpecialTokens) else set()
    data = [subject.answer("token_bytes", i, expected="bytes") for i in range(subject.vocab_size)]
    ids = {data[i]: i for i in reversed(range(len(data))) if i not in special}
    made = [_made(subject, rank, parts, data, ids) for rank, parts in enumerate(given)]
    first = {token_id: rank for rank, token_id in reversed(list(enumerate(made)))}
    for rank, parts in enumerate(given):
        if first[made[rank]] != rank:
            raise Broken(f"merges[{rank}]", f"an id that merges[{first[made[rank]]}] does not make already", parts)
        for part in parts:
            if first.get(part, -1) >= rank:
                raise Broken(f"merges[{rank}]", f"parts made before, and id {part} is by merges[{first[part]}]", parts)
    return f"{len(made):,} merges"


def _made(subject: TokenizerUnderTest, rank: int, parts: Any, data: Sequence[bytes], ids: dict[bytes, int]) -> int:
    if not isinstance(parts, tuple) or len(parts) < _FEWEST or not subject.are_ids(parts):
        raise Broken(f"merges[{rank}]", "a tuple of two ids or more", parts)
    whole = b"".join(data[part] for part in parts)
    if whole not in ids:
        raise Broken(f"merges[{rank}]", f"parts whose bytes are those of an id; none has {shown(whole)}", parts)
    return ids[whole]
