"""Text that engines show: the decoder that is fed id by id, and the spans that they report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from tokbench.plugin import BackendError, DecodesStream, HasDummyPrefix, HasTokenBytes, ReportsSpans, Tokenizer

_UNKNOWN = "\ufffd"


class Shown(NamedTuple):
    """The stream of one text."""

    exact: bool
    """``True`` if all that was shown is what decoding all ids at once gives."""
    replaced: int
    """The U+FFFD that were shown beyond those of decoding all ids at once."""


class Streams(DecodesStream, Tokenizer, Protocol):
    """A tokenizer with a decoder that is fed id by id."""


def stream_of(tokenizer: Streams, ids: Sequence[int]) -> Shown:
    r"""Feed the ids one by one to the decoder of an engine. A decoder that gives up has not shown the text.

    Args:
        tokenizer: the tokenizer.
        ids: the ids of a text.

    >>> class Letters:
    ...     def decode(self, ids):
    ...         return "".join(map(chr, ids))
    ...
    ...     def decode_stream(self, ids):
    ...         yield from (chr(i) if i < 128 else "\ufffd" for i in ids)
    ...         yield ""
    >>> stream_of(Letters(), [104, 105]), stream_of(Letters(), [104, 233])
    (Shown(exact=True, replaced=0), Shown(exact=False, replaced=1))
    """
    decoded, complete = tokenizer.decode(ids), True
    parts = []
    try:
        for part in tokenizer.decode_stream(ids):
            parts.append(part)  # noqa: PERF402 - what was shown before it gave up counts
    except BackendError:
        complete = False
    text = "".join(parts)
    return Shown(complete and text == decoded, max(0, text.count(_UNKNOWN) - decoded.count(_UNKNOWN)))


class SpanCounts(NamedTuple):
    """The spans of one text."""

    exact: int
    """The tokens whose span is their text."""
    trimmed: int
    """The tokens whose span is their text when white space at both ends is left aside."""
    tokens: int
    """The tokens that have a text: their bytes are whole characters."""


def spans_of(tokenizer: Tokenizer, text: str) -> SpanCounts | None:
    """Compare the spans of an engine with the bytes of its ids; ``None`` where it tells one of them only.

    Bytes that the model puts before every text are no text of the first token.
    """
    if not isinstance(tokenizer, ReportsSpans) or not isinstance(tokenizer, HasTokenBytes):
        return None
    prefix = tokenizer.dummy_prefix if isinstance(tokenizer, HasDummyPrefix) else b""
    exact = trimmed = tokens = 0
    for k, (token_id, start, end) in enumerate(zip(*tokenizer.encode_with_spans(text), strict=True)):
        data = tokenizer.token_bytes(int(token_id))
        try:
            token = (data if k else data.removeprefix(prefix)).decode()
        except UnicodeDecodeError:
            continue
        span = text[start:end]
        tokens += 1
        exact += span == token
        trimmed += span.strip() == token.strip()
    return SpanCounts(exact, trimmed, tokens)
