"""The causes of losses, and the facts about a document that distinguish causes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Cause(StrEnum):
    """The cause why a text did not come back, in the order in which a change is tested for them."""

    DECODER = "decoder"
    """The bytes of the ids are those of the text, and ``decode`` makes another text of them."""
    UNKNOWN = "unknown"
    """The unknown token stands there, as it decodes."""
    NFC = "nfc"
    """The text came back in that normal form (Unicode Standard Annex #15)."""
    NFD = "nfd"
    """The text came back in that normal form."""
    WHITESPACE = "whitespace"
    """White space (or U+2581, by which SentencePiece writes it) was added, removed, collapsed or replaced by other
    white space, the dummy prefix among it."""
    CONTROL = "control"
    """Control, format, private-use or unassigned characters, or a U+FFFD of the text, were removed."""
    NFKC = "nfkc"
    """Compatibility characters were replaced, such as a ligature by its letters."""
    NFKD = "nfkd"
    """Compatibility characters were replaced, and characters with marks were taken apart."""
    ACCENTS = "accents"
    """Nonspacing marks were removed."""
    CASING = "casing"
    """Capitals and small letters were not kept apart."""
    INVALID_BYTES = "invalid_bytes"
    """U+FFFD came back, or the text had a lone surrogate, which is no Unicode text."""
    SPECIAL_TOKEN = "special_token"  # noqa: S105 - no password
    """Text that spells a special token is gone."""
    OTHER = "other"
    """None of these."""


@dataclass(frozen=True, slots=True)
class LossContext:
    """The facts about a tokenizer and the ids of one document that help to find a cause."""

    unknown: str | None = None
    """The text that the unknown token decodes to; ``None`` if the document has no unknown token."""
    special: tuple[str, ...] = ()
    """The names of the special tokens that the tokenizer lists. Common names (``<s>``, ``[CLS]``, ``<|…|>`` and the
    like) count as special for every tokenizer."""
    data: bytes | None = None
    """The bytes of the document's ids, without the dummy prefix; ``None`` if the tokenizer does not tell them."""
