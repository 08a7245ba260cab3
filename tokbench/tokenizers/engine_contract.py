"""Capabilities that show what an engine itself does: its chats, spans and counts.

:mod:`tokbench.tokenizers.contract` has their sentences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, Protocol, runtime_checkable

from tokbench.foundation.errors import NoIds
from tokbench.foundation.failures import name_in_reasons
from tokbench.foundation.plain_values import plain
from tokbench.tokenizers.contract import EncodesBatch

__all__ = ["CountsAlone", "CountsTokens", "EncodesChat", "NamesOutput", "TokenSpans"]


NO_IDS: Final = "it counts tokens and gives no ids"
"""Why much does not apply to a tokenizer that counts alone."""


class TokenSpans(NamedTuple):
    """The ids of one document, and the spans of the engine."""

    ids: Sequence[int]
    starts: Sequence[int]
    """Code points before each span."""
    ends: Sequence[int]
    """Code points before the end of each span."""


@runtime_checkable
class EncodesChat(Protocol):
    """Capability: encodes a conversation with the chat template of its own model."""

    def encode_chat(self, messages: Sequence[Mapping[str, Any]], /, *, reply: bool) -> Sequence[int]:
        """Return the ids of a conversation, with the template's special tokens.

        Args:
            messages: with ``role``, ``content``, and more that the template reads, such as ``tool_calls``.
            reply: open the assistant's reply, where the template has a mark for it.

        Raises:
            ValueError: the template refuses the conversation.
        """


@runtime_checkable
class CountsTokens(Protocol):
    """Capability: its engine counts the tokens of texts without making their ids."""

    def count_batch(self, texts: Sequence[str], /) -> Sequence[int]:
        """Return the tokens of each text, on one thread: as many as ``encode`` gives ids, if any."""


@runtime_checkable
class NamesOutput(Protocol):
    """Capability: says what its engine hands over, if its members do not: see :func:`output_of`."""

    @property
    def returns(self) -> Literal["arrays", "lists"]:
        """``arrays`` if ids come in buffers, or ``lists`` if each is a Python integer."""


def output_of(tokenizer: Any) -> str:
    """Return ``arrays``, ``lists`` or ``counts``; by default ``arrays`` if it encodes batches, else ``lists``.

    Speeds are compared among tokenizers with the same output.
    """
    if isinstance(tokenizer, CountsAlone):
        return "counts"
    if isinstance(tokenizer, NamesOutput):
        return plain(tokenizer.returns, str, "returns")  # type: ignore[no-any-return]
    return "arrays" if isinstance(tokenizer, EncodesBatch) else "lists"


class CountsAlone:
    """Base of a tokenizer that only counts tokens: it has ``vocab_size`` and ``count_batch``.

    Tokens, bytes per token and tokens per word are measured; whatever needs ids does not apply.
    """

    def encode(self, _text: str, /) -> Sequence[int]:
        raise NoIds(NO_IDS)

    def decode(self, _ids: Sequence[int], /) -> str:
        raise NoIds(NO_IDS)


name_in_reasons(("count_batch", "decode_stream", "encode_chat", "encode_with_spans"))
