"""Text that engines show: streams and spans."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from tokbench.plugin import BackendError, HasTokenBytes, Tokenizer
from tokbench.tokenizers.contract import HasDummyPrefix


@runtime_checkable
class ReportsSpans(Protocol):
    """Capability: hands on the spans that its engine reports, right or wrong, unlike ``encode_with_offsets``."""

    def encode_with_spans(self, text: str, /) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
        """Return the ids of one text, and where their spans begin and end; raises as ``encode`` does."""


@runtime_checkable
class DecodesStream(Protocol):
    """Capability: its engine has a decoder that is fed id by id, as text is shown while a model writes.

    >>> class Letters:
    ...     def decode_stream(self, ids: Iterable[int], /) -> Iterator[str]:
    ...         yield from map(chr, ids)
    ...         yield ""  # nothing is left for the end
    >>> isinstance(Letters(), DecodesStream), list(Letters().decode_stream([104, 105]))
    (True, ['h', 'i', ''])
    """

    def decode_stream(self, ids: Iterable[int], /) -> Iterator[str]:
        """Yield what the engine shows after each id, and at the end (an empty string without a call for it).

        Raises:
            ValueError: an id is not in ``range(vocab_size)``; may be a ``BackendError``.
        """


_UNKNOWN = "\ufffd"


class Shown(NamedTuple):
    """The stream of one text."""

    exact: bool
    """Whether it is what decoding all ids at once gives."""
    replaced: int
    """U+FFFD beyond decoding all ids at once."""


class Streams(DecodesStream, Tokenizer, Protocol):
    """A tokenizer that decodes id by id."""


def stream_of(tokenizer: Streams, ids: Sequence[int]) -> Shown:
    r"""Feed the ids one by one to an engine's decoder. A decoder that raises has not shown the text.

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
    trimmed: int
    """But for white space at both ends."""
    tokens: int
    """Tokens whose bytes are whole characters."""


def spans_of(tokenizer: Tokenizer, text: str) -> SpanCounts | None:
    """Compare spans with the bytes of ids; ``None`` without both. A prefix of every text is not part of a token."""
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
