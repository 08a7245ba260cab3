"""Capabilities that show what an engine itself does: its spans in the text, its streams of ids, its counts.

They go with :mod:`tokbench.tokenizers.contract`, which has their sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, Protocol, runtime_checkable

from tokbench.foundation.errors import NoIds
from tokbench.foundation.failures import name_in_reasons
from tokbench.foundation.plain_values import plain
from tokbench.tokenizers.contract import EncodesBatch

__all__ = ["CountsAlone", "CountsTokens", "DecodesStream", "EncodesChat", "NamesOutput", "ReportsSpans", "TokenSpans"]


NO_IDS: Final = "it counts tokens and gives no ids"
"""The reason why much does not apply to a tokenizer that counts alone."""


class TokenSpans(NamedTuple):
    """The ids of one document, and the part of the text that the engine itself reports for each."""

    ids: Sequence[int]
    """The ids, as ``encode`` gives them."""
    starts: Sequence[int]
    """For each id, the code points of the text before its part."""
    ends: Sequence[int]
    """For each id, the code points of the text before the end of its part."""


@runtime_checkable
class ReportsSpans(Protocol):
    """Capability: hands on the spans that its engine reports, right or wrong, unlike ``encode_with_offsets``.

    >>> class Letters:
    ...     def encode_with_spans(self, text: str, /) -> TokenSpans:
    ...         return TokenSpans([ord(c) for c in text], range(len(text)), range(1, len(text) + 1))
    >>> isinstance(Letters(), ReportsSpans)
    True
    """

    def encode_with_spans(self, text: str, /) -> TokenSpans:
        """Return the ids of one text, and the spans of the engine, with nothing mended.

        Raises:
            ValueError: as for ``encode``.
        """


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
        """Yield the text that the engine shows after each id, mostly none or a few characters, and that for the end.

        An engine that has no call for the end, and keeps what is left, yields an empty string there.

        Raises:
            ValueError: an id is not in ``range(vocab_size)``; it may also be a ``BackendError``.
        """


@runtime_checkable
class EncodesChat(Protocol):
    """Capability: encodes a conversation with the chat template of its own model.

    >>> class Letters:
    ...     def encode_chat(self, messages, /, *, reply: bool) -> list[int]:
    ...         text = "".join(f"{message['role']}: {message['content']};" for message in messages)
    ...         return [ord(c) for c in text + "assistant: " * reply]
    >>> isinstance(Letters(), EncodesChat)
    True
    """

    def encode_chat(self, messages: Sequence[Mapping[str, Any]], /, *, reply: bool) -> Sequence[int]:
        """Return the ids of a conversation, special tokens of the template among them.

        Args:
            messages: the messages with ``role`` and ``content``, and with whatever else the template reads, such as
                ``tool_calls``.
            reply: open the reply of the assistant at the end, where the template has a mark for that.

        Raises:
            ValueError: the template refuses the conversation.
        """


@runtime_checkable
class CountsTokens(Protocol):
    """Capability: its engine counts the tokens of texts without making their ids.

    >>> class Letters:
    ...     def count_batch(self, texts: Sequence[str], /) -> list[int]:
    ...         return [len(text) for text in texts]
    >>> isinstance(Letters(), CountsTokens)
    True
    """

    def count_batch(self, texts: Sequence[str], /) -> Sequence[int]:
        """Return the number of tokens of each text, on one thread: as many as ``encode`` gives ids, if it gives any.

        Raises:
            ValueError: a text has a lone surrogate, and the tokenizer does not read it as U+FFFD.
        """


@runtime_checkable
class NamesOutput(Protocol):
    """Capability: says what its engine hands over, if its members do not: see :func:`output_of`.

    >>> class Letters:
    ...     returns = "lists"
    >>> isinstance(Letters(), NamesOutput)
    True
    """

    @property
    def returns(self) -> Literal["arrays", "lists"]:
        """``arrays`` if ids come in buffers, or ``lists`` if each is a Python integer, from which arrays are made."""


def output_of(tokenizer: Any) -> str:
    """Return what the engine of a tokenizer hands over: ``arrays``, ``lists`` or ``counts``.

    Speeds are compared among tokenizers that hand over the same. One that says nothing hands over arrays if it encodes
    batches, else lists.

    >>> import tokbench
    >>> output_of(tokbench.load("utf8_bytes"))
    'arrays'
    """
    if isinstance(tokenizer, CountsAlone):
        return "counts"
    if isinstance(tokenizer, NamesOutput):
        return plain(tokenizer.returns, str, "returns")  # type: ignore[no-any-return]
    return "arrays" if isinstance(tokenizer, EncodesBatch) else "lists"


class CountsAlone:
    """Base of a tokenizer that counts tokens and gives no ids: it has ``vocab_size`` and ``count_batch``.

    Whatever needs ids or text that comes back does not apply to it, and reports say so. Tokens, bytes per token and
    tokens per word are measured as of any other.

    >>> class Letters(CountsAlone):
    ...     vocab_size = 128
    ...
    ...     def count_batch(self, texts: Sequence[str], /) -> list[int]:
    ...         return [len(text) for text in texts]
    >>> Letters().encode("hat")
    Traceback (most recent call last):
    tokbench.foundation.errors.NoIds: it counts tokens and gives no ids
    """

    def encode(self, text: str, /) -> Sequence[int]:
        """Refuse: there are no ids.

        Raises:
            NoIds: always.
        """
        del text
        raise NoIds(NO_IDS)

    def decode(self, ids: Sequence[int], /) -> str:
        """Refuse: there are no ids.

        Raises:
            NoIds: always.
        """
        del ids
        raise NoIds(NO_IDS)


name_in_reasons(
    member
    for protocol in (CountsTokens, DecodesStream, EncodesChat, ReportsSpans)
    for member in vars(protocol)
    if not member.startswith("_")
)
