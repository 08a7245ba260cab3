"""What the metrics here ask of a tokenizer beyond the contract; a tokenizer has it as soon as it has the member."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, runtime_checkable


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
