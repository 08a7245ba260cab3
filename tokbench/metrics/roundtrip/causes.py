"""The causes of losses, and the facts about a document that distinguish causes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Cause(StrEnum):
    """The cause why a text did not come back, in the order in which a change is tested for them.

    Attributes:
        DECODER: the bytes of the ids are those of the text, and ``decode`` makes another text of them.
        UNKNOWN: the unknown token stands there, as it decodes.
        NFC, NFD: the text came back in that normal form (Unicode Standard Annex #15).
        WHITESPACE: white space (or U+2581, by which SentencePiece writes it) was added, removed, collapsed or
            replaced by other white space, the dummy prefix among it.
        CONTROL: control, format, private-use or unassigned characters, or a U+FFFD of the text, were removed.
        NFKC, NFKD: compatibility characters were replaced, such as a ligature by its letters.
        ACCENTS: nonspacing marks were removed.
        CASING: capitals and small letters were not kept apart.
        INVALID_BYTES: U+FFFD came back, or the text had a lone surrogate, which is no Unicode text.
        SPECIAL_TOKEN: text that spells a special token is gone.
        OTHER: none of these.
    """

    DECODER = "decoder"
    UNKNOWN = "unknown"
    NFC = "nfc"
    NFD = "nfd"
    WHITESPACE = "whitespace"
    CONTROL = "control"
    NFKC = "nfkc"
    NFKD = "nfkd"
    ACCENTS = "accents"
    CASING = "casing"
    INVALID_BYTES = "invalid_bytes"
    SPECIAL_TOKEN = "special_token"  # noqa: S105 - no password
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class LossContext:
    """The facts about a tokenizer and the ids of one document that help to find a cause.

    Attributes:
        unknown: the text that the unknown token decodes to; ``None`` if the document has no unknown token.
        special: the names of the special tokens that the tokenizer lists. Common names (``<s>``, ``[CLS]``, ``<|…|>``
        and the like) count as special for every tokenizer.
        data: the bytes of the document's ids, without the dummy prefix; ``None`` if the tokenizer does not tell them.
    """

    unknown: str | None = None
    special: tuple[str, ...] = ()
    data: bytes | None = None
