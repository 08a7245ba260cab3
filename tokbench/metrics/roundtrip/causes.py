"""The causes of losses, and the facts about a document that distinguish causes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Cause(StrEnum):
    """The causes of losses, in the order of tests."""

    DECODER = "decoder"
    """The ids have the text's bytes, but ``decode`` returns another text."""
    UNKNOWN = "unknown"
    """The unknown token, as it decodes, replaced text."""
    NFC = "nfc"
    """The text was normalized (Unicode Standard Annex #15)."""
    NFD = "nfd"
    WHITESPACE = "whitespace"
    """White space (or SentencePiece's U+2581) was added, removed, collapsed or replaced; also the dummy prefix.
    """
    CONTROL = "control"
    """Control, format, private-use or unassigned characters, or a U+FFFD of the text, were removed."""
    NFKC = "nfkc"
    """Compatibility characters were replaced, such as a ligature by its letters."""
    NFKD = "nfkd"
    """Compatibility characters were replaced, and marks separated from letters."""
    ACCENTS = "accents"
    """Nonspacing marks were removed."""
    CASING = "casing"
    INVALID_BYTES = "invalid_bytes"
    """The output has U+FFFD, or the text had a lone surrogate, which is not Unicode text."""
    SPECIAL_TOKEN = "special_token"  # noqa: S105 - no password
    """Text that spells a special token is missing."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class LossContext:
    """Facts about a tokenizer and the ids of one document."""

    unknown: str | None = None
    """What the unknown token decodes to; ``None`` if the document has none."""
    special: tuple[str, ...] = ()
    """Listed by the tokenizer. Common names (``<s>``, ``[CLS]``, ``<|…|>``) count for every tokenizer."""
    data: bytes | None = None
    """The bytes of the ids, without the dummy prefix; ``None`` if not known."""
