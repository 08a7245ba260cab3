"""Inspects a vocabulary without a corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from typing import Any, Final

from tokbench.foundation.failures import Failure, attempt
from tokbench.inspect.fragments import can_be_text
from tokbench.inspect.reach import unreached
from tokbench.inspect.tokens import TokenKind, TokenListing, junk, list_tokens, script_of
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
class InspectedToken:
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
    tokens: list[InspectedToken]


@dataclass(frozen=True, slots=True)
class Inspection:
    """The result of inspecting a vocabulary."""

    vocab_size: int
    findings: list[Finding] = field(default_factory=list)
    """Errors first."""
    kinds: dict[str, int] = field(default_factory=dict)
    """Add up to ``vocab_size``."""
    scripts: dict[str, int] = field(default_factory=dict)
    """Text, by its script."""
    longest: list[InspectedToken] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        return any(finding.severity == Severity.ERROR for finding in self.findings)

    @property
    def unreachable(self) -> set[int]:
        """Ids that no text gave, special tokens aside."""
        return {token.id for finding in self.findings if finding.rule in _UNREACHED for token in finding.tokens}


_RULES: Final = {
    "special token from text": (Severity.ERROR, "ordinary text that spells their names produces them"),
    "not as in the file": (Severity.ERROR, "the library encodes these otherwise than the file says"),
    "unreachable": (Severity.ERROR, "none of the texts tried produces these ids, in any context"),
    "no text found": (
        Severity.WARNING,
        "partial UTF-8: no text was found that completes it and produces these ids",
    ),
    "junk": (Severity.WARNING, "long repeats of one character, or very long tokens"),
    "undecodable": (
        Severity.NOTE,
        "they decode to U+FFFD, as half a character does, so no text is known to test them with",
    ),
    "never UTF-8": (Severity.NOTE, "bytes that no UTF-8 text has, such as 0xFF"),
    "twin": (Severity.NOTE, "never produced: another id has the same bytes, as with byte fallback"),
    "duplicate": (Severity.NOTE, "several ids have the same bytes"),
    "special": (Severity.NOTE, "special tokens, which ordinary text does not produce"),
    "gap": (Severity.NOTE, "ids without any bytes: not used"),
}


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
    ordinary = {i: listing.data[i] for i, kind in enumerate(listing.kinds) if kind in _ORDINARY}
    texts = {i: data.decode() for i, data in ordinary.items() if listing.kinds[i] != TokenKind.FRAGMENT}
    fragments = {i: data for i, data in ordinary.items() if i not in texts}
    found: dict[str, list[InspectedToken]] = {rule: [] for rule in _RULES}
    for rule, token in chain(
        _of_special(tokenizer, listing),
        _unreachable(tokenizer, listing, ordinary, unreached(tokenizer, texts, fragments)),
        _of_bytes(listing, ordinary),
    ):
        found[rule].append(token)
    return Inspection(
        vocab_size=len(listing.data),
        findings=[Finding(rule, *_RULES[rule], tokens) for rule, tokens in found.items() if tokens],
        kinds=_counted(kind.value for kind in listing.kinds),
        scripts=_counted(map(script_of, texts.values())),
        longest=[
            token_of(listing, i, f"{len(ordinary[i])} bytes")
            for i in sorted(ordinary, key=lambda i: -len(ordinary[i]))[:_LONGEST]
        ],
    )


def _counted(names: Any) -> dict[str, int]:
    return dict(Counter(names).most_common())


def token_of(listing: TokenListing, token: int, remark: str = "") -> InspectedToken:
    """Return an id with its text, or bytes that are not UTF-8."""
    data = listing.data[token]
    return InspectedToken(
        token, data.decode() if listing.kinds[token] != TokenKind.FRAGMENT else f"bytes {data.hex(' ')}", remark
    )


def _unreachable(
    tokenizer: Tokenizer, listing: TokenListing, ordinary: dict[int, bytes], lost: set[int]
) -> Iterator[tuple[str, InspectedToken]]:
    """Leave out ids whose bytes another id has. Names: Land and Bartolo 2024, "Fishing for Magikarp"."""
    reached = {data for i, data in ordinary.items() if i not in lost}
    for i in sorted(lost):
        data = listing.data[i]
        if _REPLACEMENT in data:
            yield "undecodable", token_of(listing, i)
        elif data in reached:
            yield "twin", token_of(listing, i)
        elif not can_be_text(data):
            yield "never UTF-8", token_of(listing, i)
        elif listing.kinds[i] == TokenKind.FRAGMENT:
            yield "no text found", token_of(listing, i)
        else:
            instead = attempt(lambda data=data: list(tokenizer.encode(data.decode())))  # type: ignore[misc]
            remark = instead.reason if isinstance(instead, Failure) else f"its text is encoded as {instead}"
            yield "unreachable", token_of(listing, i, remark)


def _of_bytes(listing: TokenListing, ordinary: dict[int, bytes]) -> Iterator[tuple[str, InspectedToken]]:
    by_data: dict[bytes, list[int]] = {}
    for i, data in ordinary.items():
        by_data.setdefault(data, []).append(i)
        if remark := junk(data):
            yield "junk", token_of(listing, i, remark)
    for first, *others in by_data.values():
        if others:
            more = f" and {len(others) - _MOST_TWINS:,} more" if len(others) > _MOST_TWINS else ""
            yield "duplicate", token_of(listing, first, f"also {', '.join(map(str, others[:_MOST_TWINS]))}{more}")


def _of_special(tokenizer: Tokenizer, listing: TokenListing) -> Iterator[tuple[str, InspectedToken]]:
    """Yield special tokens, those that ordinary text with their names gives, gaps, and faults of the file."""
    for name, i in sorted(listing.special.items(), key=lambda item: item[1]):
        yield "special", InspectedToken(i, name)
        ids = attempt(lambda name=name: list(tokenizer.encode(name)))  # type: ignore[misc]
        if not isinstance(ids, Failure) and i in ids:
            yield "special token from text", InspectedToken(i, name, f"{name!r} is encoded as {ids}")
    for i, kind in enumerate(listing.kinds):
        if kind == TokenKind.GAP:
            yield "gap", token_of(listing, i)
    faults: dict[int, str] = getattr(tokenizer, "file_faults", {})  # by id, where a backend compares its file
    for i, fault in sorted(faults.items()):
        yield "not as in the file", token_of(listing, i, fault)
