"""Lists every id with its bytes, kind and script."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

import regex

from tokbench.foundation.files import is_utf8
from tokbench.tokenizers.contract import HasSpecialTokens, HasTokenBytes, HasUnknown, Tokenizer

REPEATS: Final = 8
"""Of a character, in junk."""

LONG: Final = 64
"""Longer tokens, in bytes, are junk."""

_RUN: Final = regex.compile(rf"(\S)\1{{{REPEATS - 1},}}")
_KINDS: Final = {
    "white space": regex.compile(r"\p{White_Space}+"),
    "word start": regex.compile(r" [\p{L}\p{M}]+"),
    "word inside": regex.compile(r"[\p{L}\p{M}]+"),
    "digits": regex.compile(r" ?\p{N}+"),
    "punctuation": regex.compile(r" ?[\p{P}\p{S}]+"),
}
_IN_USE: Final = (
    "Latin Han Cyrillic Arabic Hangul Hiragana Katakana Devanagari Hebrew Greek Thai Bengali Tamil Telugu Kannada "
    "Malayalam Gujarati Gurmukhi Oriya Sinhala Armenian Georgian Khmer Lao Myanmar Tibetan Ethiopic Thaana Bopomofo"
).split()
"""The recommended scripts of UAX #31."""

_LIMITED_USE: Final = "Mongolian Syriac Cherokee Canadian_Aboriginal Tifinagh Yi".split()


class TokenKind(StrEnum):
    """The kinds of ids; the first that matches."""

    SPECIAL = "special"
    UNKNOWN = "unknown"
    GAP = "gap"
    """An unused id without bytes."""
    FRAGMENT = "fragment"
    """Bytes that are not UTF-8."""
    WHITE_SPACE = "white space"
    WORD_START = "word start"
    """A space, then letters and marks."""
    WORD_INSIDE = "word inside"
    """Letters and marks."""
    DIGITS = "digits"
    """Also with a space before."""
    PUNCTUATION = "punctuation"
    """Also symbols; also with a space before."""
    MIXED = "mixed"


@dataclass(frozen=True)
class Listing:
    """A vocabulary, id by id."""

    data: list[bytes]
    kinds: list[TokenKind]
    special: dict[str, int]
    unk_id: int | None


def list_tokens(tokenizer: Tokenizer) -> Listing:
    """List all ids; without bytes, decode each by itself.

    >>> import tokbench
    >>> listing = list_tokens(tokbench.load("utf8_bytes"))
    >>> listing.data[65], [listing.kinds[i].value for i in (32, 65, 0xE2)]
    (b'A', ['white space', 'word inside', 'fragment'])
    """
    special = dict(tokenizer.special_ids) if isinstance(tokenizer, HasSpecialTokens) else {}
    unk_id = tokenizer.unk_id if isinstance(tokenizer, HasUnknown) else None
    ids = range(tokenizer.vocab_size)
    if isinstance(tokenizer, HasTokenBytes):
        data = [tokenizer.token_bytes(i) for i in ids]
    else:
        data = [tokenizer.decode([i]).encode("utf-8", "surrogatepass") for i in ids]
    marked = dict.fromkeys(special.values(), TokenKind.SPECIAL)
    if unk_id is not None:
        marked[unk_id] = TokenKind.UNKNOWN
    return Listing(data, [marked.get(i) or kind_of(token) for i, token in enumerate(data)], special, unk_id)


@lru_cache(maxsize=1 << 18)
def kind_of(data: bytes) -> TokenKind:
    r"""Return the kind of an ordinary id.

    >>> [kind_of(data).value for data in (b" the", b"ing", b" 1984", b"();", b"\n\n", b"x1", b"\xe2\x82", b"")]
    ['word start', 'word inside', 'digits', 'punctuation', 'white space', 'mixed', 'fragment', 'gap']
    """
    if not data:
        return TokenKind.GAP
    if not is_utf8(data):
        return TokenKind.FRAGMENT
    text = data.decode()
    return TokenKind(next((kind for kind, pattern in _KINDS.items() if pattern.fullmatch(text)), "mixed"))


def script_of(text: str) -> str:
    r"""Return the Unicode script of the characters; ``none`` if all are common, ``several`` for several scripts.

    A mark or letter that several scripts share has that of the characters around it, and alone its only script of those
    in wide use, such as Arabic for a fatha.

    >>> script_of(" naïve"), script_of("タワー"), script_of("東京タワー"), script_of(" 42"), script_of("\u093f")
    ('Latin', 'Katakana', 'several', 'none', 'Devanagari')
    >>> script_of("\u064e"), script_of("e\u0301"), script_of("\u0301")
    ('Arabic', 'Latin', 'none')
    """
    scripts = set(map(_script, text)) - {""} or set(map(_script_of_shared, text)) - {""}
    return "none" if not scripts else scripts.pop() if len(scripts) == 1 else "several"


@lru_cache(maxsize=1 << 17)
def _script(char: str) -> str:
    if regex.match(r"[\p{Common}\p{Inherited}\p{Unknown}]", char):
        return ""
    return next((name for name in _IN_USE + _LIMITED_USE if regex.match(rf"\p{{Script={name}}}", char)), "other")


@lru_cache
def _script_of_shared(char: str) -> str:
    if not regex.match(r"[\p{L}\p{M}]", char):
        return ""
    names = [name for name in _IN_USE if regex.match(rf"\p{{Script_Extensions={name}}}", char)]
    return names[0] if len(names) == 1 else ""


def junk(data: bytes) -> str:
    """Return why a token is junk: a repeated character but white space, or very long.

    >>> junk(b"========"), junk(b" " * 16), junk(b"word" * 17)
    ("'=' 8 times in a row", '', '68 bytes')
    """
    text = data.decode(errors="replace")
    run = _RUN.search(text)
    if run and run[1] != "\ufffd":
        return f"{run[1]!r} {len(run[0])} times in a row"
    return f"{len(data)} bytes" if len(data) > LONG and not text.isspace() else ""
