"""Inspects a vocabulary without a corpus."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from tokbench.foundation.failures import Failure, attempt
from tokbench.inspect.fragments import can_be_text
from tokbench.inspect.reach import unreached
from tokbench.inspect.tokens import Listing, TokenKind, junk, list_tokens, script_of
from tokbench.tokenizers.contract import Tokenizer

_LONGEST: Final = 10
_MOST_TWINS: Final = 4
_REPLACEMENT: Final = "\ufffd".encode()
_UNREACHED: Final = ("unreachable", "no text found", "undecodable", "never UTF-8", "twin")
_ORDINARY: Final = frozenset(TokenKind) - {TokenKind.SPECIAL, TokenKind.UNKNOWN, TokenKind.GAP}


class Severity(StrEnum):
    """An error wastes ids or breaks the contract, a warning may, a note is not a fault."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Token:
    """One id in a finding: its text or bytes, and a remark."""

    id: int
    text: str
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """All ids that break a rule."""

    rule: str
    severity: Severity
    message: str
    tokens: list[Token]


@dataclass(frozen=True, slots=True)
class Inspection:
    """The result of inspecting a vocabulary."""

    vocab_size: int
    findings: list[Finding] = field(default_factory=list)
    """Errors first."""
    kinds: dict[str, int] = field(default_factory=dict)
    """Add up to ``vocab_size``."""
    scripts: dict[str, int] = field(default_factory=dict)
    """Text, by the script of its letters."""
    longest: list[Token] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        return any(finding.severity == Severity.ERROR for finding in self.findings)

    @property
    def unreachable(self) -> set[int]:
        """Ids that no text gave, special tokens aside."""
        return {token.id for finding in self.findings if finding.rule in _UNREACHED for token in finding.tokens}


def examine(tokenizer: Tokenizer) -> Inspection:
    """Inspect every id of a tokenizer.

    >>> import tokbench
    >>> health = examine(tokbench.load("utf8_bytes"))
    >>> [(finding.rule, finding.severity.value, len(finding.tokens)) for finding in health.findings]
    [('never UTF-8', 'note', 13)]
    >>> health.kinds["fragment"], health.failed
    (128, False)
    """
    listing = list_tokens(tokenizer)
    lost = _unreached(tokenizer, listing)
    findings = [
        _spelled_special(tokenizer, listing),
        _not_as_in_file(tokenizer, listing),
        *_unreachable(tokenizer, listing, lost),
        _duplicates(listing),
        _junk(listing),
        *_not_ordinary(listing),
    ]
    order = list(Severity)
    text = [i for i, kind in enumerate(listing.kinds) if kind in _ORDINARY - {TokenKind.FRAGMENT}]
    ordinary = [i for i, kind in enumerate(listing.kinds) if kind in _ORDINARY]
    return Inspection(
        vocab_size=len(listing.data),
        findings=sorted(
            (finding for finding in findings if finding.tokens), key=lambda finding: order.index(finding.severity)
        ),
        kinds=_counted(kind.value for kind in listing.kinds),
        scripts=_counted(script_of(listing.data[i].decode()) for i in text),
        longest=[
            token_of(listing, i, f"{len(listing.data[i])} bytes")
            for i in sorted(ordinary, key=lambda i: -len(listing.data[i]))[:_LONGEST]
        ],
    )


def _counted(names: Any) -> dict[str, int]:
    return dict(Counter(names).most_common())


def token_of(listing: Listing, token: int, remark: str = "") -> Token:
    """Return an id with its text, or bytes that are not UTF-8."""
    data = listing.data[token]
    return Token(
        token, data.decode() if listing.kinds[token] != TokenKind.FRAGMENT else f"bytes {data.hex(' ')}", remark
    )


def _unreached(tokenizer: Tokenizer, listing: Listing) -> set[int]:
    ordinary = {i: listing.data[i] for i, kind in enumerate(listing.kinds) if kind in _ORDINARY}
    fragments = {i: data for i, data in ordinary.items() if listing.kinds[i] == TokenKind.FRAGMENT}
    texts = {i: data.decode() for i, data in ordinary.items() if i not in fragments}
    return unreached(tokenizer, texts, fragments)


def _unreachable(tokenizer: Tokenizer, listing: Listing, lost: set[int]) -> list[Finding]:
    """Leave out ids whose bytes another id has. Names: Land and Bartolo 2024, "Fishing for Magikarp"."""
    reached = {data for i, data in enumerate(listing.data) if listing.kinds[i] in _ORDINARY and i not in lost}
    undecodable, never, twins, fragments, dead = [], [], [], [], []
    for i in sorted(lost):
        data = listing.data[i]
        if _REPLACEMENT in data:
            undecodable.append(token_of(listing, i))
        elif data in reached:
            twins.append(token_of(listing, i))
        elif not can_be_text(data):
            never.append(token_of(listing, i))
        elif listing.kinds[i] == TokenKind.FRAGMENT:
            fragments.append(token_of(listing, i))
        else:
            instead = attempt(lambda data=data: list(tokenizer.encode(data.decode())))  # type: ignore[misc]
            remark = instead.reason if isinstance(instead, Failure) else f"its text gives {instead}"
            dead.append(token_of(listing, i, remark))
    return [
        Finding("unreachable", Severity.ERROR, "no text that was tried gives these ids, in no context", dead),
        Finding(
            "no text found",
            Severity.WARNING,
            "bytes that are not UTF-8 alone, and no text that completes them was found to give these ids",
            fragments,
        ),
        Finding(
            "undecodable",
            Severity.NOTE,
            "they decode to U+FFFD, as half a character does, so that no text is known in which to look for them",
            undecodable,
        ),
        Finding("never UTF-8", Severity.NOTE, "bytes that no UTF-8 text has, such as 0xFF", never),
        Finding(
            "twin",
            Severity.NOTE,
            "never given, since another id stands for the same bytes, as with byte fallback",
            twins,
        ),
    ]


def _duplicates(listing: Listing) -> Finding:
    by_data: dict[bytes, list[int]] = {}
    for i, data in enumerate(listing.data):
        if listing.kinds[i] in _ORDINARY:
            by_data.setdefault(data, []).append(i)
    tokens = [token_of(listing, ids[0], _also(ids[1:])) for ids in by_data.values() if len(ids) > 1]
    return Finding("duplicate", Severity.NOTE, "several ids stand for the same bytes", tokens)


def _also(ids: list[int]) -> str:
    more = f" and {len(ids) - _MOST_TWINS:,} more" if len(ids) > _MOST_TWINS else ""
    return f"also {', '.join(map(str, ids[:_MOST_TWINS]))}{more}"


def _junk(listing: Listing) -> Finding:
    remarks = ((i, junk(data)) for i, data in enumerate(listing.data) if listing.kinds[i] in _ORDINARY)
    tokens = [token_of(listing, i, remark) for i, remark in remarks if remark]
    return Finding("junk", Severity.WARNING, "long repeats of one character, or very long tokens", tokens)


def _not_ordinary(listing: Listing) -> list[Finding]:
    special = [Token(i, name) for name, i in sorted(listing.special.items(), key=lambda item: item[1])]
    gaps = [token_of(listing, i) for i, kind in enumerate(listing.kinds) if kind == TokenKind.GAP]
    return [
        Finding("special", Severity.NOTE, "special tokens, which ordinary text does not give", special),
        Finding("gap", Severity.NOTE, "ids without any bytes: not used", gaps),
    ]


def _not_as_in_file(tokenizer: Tokenizer, listing: Listing) -> Finding:
    faults: dict[int, str] = getattr(tokenizer, "file_faults", {})  # by id, where a backend compares its file
    tokens = [replace(token_of(listing, i), remark=fault) for i, fault in sorted(faults.items())]
    return Finding("not as in the file", Severity.ERROR, "the library gives these ids otherwise than the file", tokens)


def _spelled_special(tokenizer: Tokenizer, listing: Listing) -> Finding:
    """Find special tokens that ordinary text with their names gives."""
    tokens = []
    for name, i in listing.special.items():
        ids = attempt(lambda name=name: list(tokenizer.encode(name)))  # type: ignore[misc]
        if not isinstance(ids, Failure) and i in ids:
            tokens.append(Token(i, name, f"{name!r} is encoded as {ids}"))
    return Finding(
        "special token from text", Severity.ERROR, "ordinary text that spells their names gives them", tokens
    )
