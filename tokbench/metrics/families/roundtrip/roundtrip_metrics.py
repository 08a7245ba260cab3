"""The definitions of what the family ``roundtrip`` measures."""

from __future__ import annotations

from typing import Final

from tokbench.plugin import HasUnknown, Metric, Role

__all__ = ["VALUES"]

_ORDER: Final = (
    "A document counts once, for one cause: the decoder's, if the bytes of the ids are those of the text; else the "
    "first rewriting that alone turns text and result into the same; else the cause of the first changed stretch of "
    "a shortest edit, tested in the order unknown token, fewest rewritings together, invalid bytes, special token. "
    "Rewritings are tested in the order NFC, NFD, white space, control characters, NFKC, NFKD, accents, casing."
)
_FIRST: Final = "loss_unknown"

_LOSSES: Final = {
    "loss_unknown": ("the unknown token stands there", ""),
    "loss_normalization": (
        "the text came back in a Unicode normal form",
        "Of the losses, the report tells NFC, NFD, NFKC and NFKD apart.",
    ),
    "loss_whitespace": (
        "white space was added, removed, collapsed or replaced",
        "A dummy prefix that decoding does not take back is among them, and U+2581 where it came back as a space.",
    ),
    "loss_casing": ("capitals and small letters were not kept apart", ""),
    "loss_accents": ("nonspacing marks were removed", ""),
    "loss_control": (
        "control, format, private-use or unassigned characters were removed",
        "A U+FFFD of the text counts among them.",
    ),
    "loss_invalid_bytes": ("U+FFFD came back for text", "So do documents with a lone surrogate."),
    "loss_special_token": (
        "text that spells a special token is gone",
        "Names of special tokens are those that the tokenizer tells, and common ones such as <s> and <|…|>.",
    ),
    "loss_decoder": ("the bytes of the ids are those of the text, but not what decode makes of them", ""),
    "loss_other": ("none of the other causes explains it", ""),
}

VALUES: Final = (
    Metric(
        id="roundtrip_exact",
        unit="share of documents",
        direction="higher",
        formula="documents with decode(encode(x)) = x / documents",
        definition="Share of documents that come back exactly, every document tested.",
        role=Role.ROUND_TRIP,
    ),
    Metric(
        id="cer",
        unit="edits/char",
        direction="lower",
        formula="Σ edit distance(x, decode(encode(x))) / Σ code points of x",
        definition=(
            "Character error rate: Levenshtein distance in code points, over the whole text. For documents of more "
            "than 65,536 characters it is summed up over windows of 2,048: never too small, and too large only where a "
            "text repeats itself."
        ),
    ),
    Metric(
        id="whitespace_fidelity",
        unit="share of white space",
        direction="higher",
        formula="Σ white-space code points of x that a shortest edit of x into decode(encode(x)) keeps / Σ all of them",
        definition=(
            "Share of the white space that comes back where it was: code points with the Unicode property White_Space, "
            "each by itself. White space that is added lowers nothing here; the character error rate counts it."
        ),
    ),
    Metric(
        id="unk_rate",
        unit="share of tokens",
        direction="lower",
        formula="unknown tokens / tokens",
        definition="Share of tokens that are the unknown token. A low token count is not good where this is high.",
        needs=(HasUnknown,),
        role=Role.UNKNOWN,
    ),
    *(
        Metric(
            id=name,
            unit="documents",
            direction="none",
            formula=f"documents lost because {why}",
            definition=f"{_ORDER if name == _FIRST else f'Every loss has one cause, see {_FIRST}.'} {more}".strip(),
        )
        for name, (why, more) in _LOSSES.items()
    ),
)
