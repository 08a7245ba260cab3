"""The causes of losses, and the facts that distinguish them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class LossKind(StrEnum):
    """In the order of tests."""

    DECODER = "decoder"
    """The ids have the text's bytes."""
    UNKNOWN = "unknown"
    """The unknown token, as decoded, replaced text."""
    NFC = "nfc"
    NFD = "nfd"
    WHITESPACE = "whitespace"
    """White space, U+2581 or the dummy prefix was added, removed, collapsed or replaced."""
    CONTROL = "control"
    """Control, format, private-use or unassigned characters, or U+FFFD, were removed."""
    NFKC = "nfkc"
    NFKD = "nfkd"
    ACCENTS = "accents"
    CASING = "casing"
    INVALID_BYTES = "invalid_bytes"
    """The output has U+FFFD, or the text had a lone surrogate."""
    SPECIAL_TOKEN = "special_token"  # noqa: S105 - no password
    """Text that spells one is missing."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class LossContext:
    """Facts about a tokenizer and a document's ids."""

    unknown: str | None = None
    """As decoded; ``None`` if the document has none."""
    special: tuple[str, ...] = ()
    """Common names (``<s>``, ``[CLS]``, ``<|…|>``) always count."""
    data: bytes | None = None
    """Bytes of the ids, without the dummy prefix, if known."""
