"""Lists every id with its bytes, kind and script."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache, partial
from typing import Final

import regex

from tokbench.foundation.failures import Failure, attempt
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

_OTHERS: Final = (
    "Adlam Ahom Anatolian_Hieroglyphs Avestan Balinese Bamum Bassa_Vah Batak Beria_Erfe Bhaiksuki Brahmi Braille "
    "Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee Chorasmian Coptic Cuneiform "
    "Cypriot Cypro_Minoan Deseret Dives_Akuru Dogra Duployan Egyptian_Hieroglyphs Elbasan Elymaic Garay Glagolitic "
    "Gothic Grantha Gunjala_Gondi Gurung_Khema Hanifi_Rohingya Hanunoo Hatran Imperial_Aramaic Inscriptional_Pahlavi "
    "Inscriptional_Parthian Javanese Jurchen Kaithi Kawi Kayah_Li Kharoshthi Khitan_Small_Script Khojki Khudawadi "
    "Kirat_Rai Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian Mahajani Makasar Mandaic Manichaean Marchen "
    "Masaram_Gondi Medefaidrin Meetei_Mayek Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian "
    "Mro Multani Nabataean Nag_Mundari Nandinagari New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong Ogham Ol_Chiki "
    "Ol_Onal Old_Hungarian Old_Italic Old_North_Arabian Old_Permic Old_Persian Old_Sogdian Old_South_Arabian "
    "Old_Turkic Old_Uyghur Osage Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Proto_Cuneiform "
    "Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Seal Sharada Shavian Siddham Sidetic SignWriting Sogdian "
    "Sora_Sompeng Soyombo Sundanese Sunuwar Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Tai_Yo "
    "Takri Tangsa Tangut Tifinagh Tirhuta Todhri Tolong_Siki Toto Tulu_Tigalari Ugaritic Vai Vithkuqi Wancho "
    "Warang_Citi Yezidi Yi Zanabazar_Square"
).split()
"""The other scripts of Unicode 18, those of limited use and those of history; an older ``regex`` lacks some."""


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
class TokenListing:
    """A vocabulary, id by id."""

    data: list[bytes]
    kinds: list[TokenKind]
    special: dict[str, int]
    unk_id: int | None


def list_tokens(tokenizer: Tokenizer) -> TokenListing:
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
    return TokenListing(data, [marked.get(i) or kind_of(token) for i, token in enumerate(data)], special, unk_id)


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
    match = _any_script().match(char)
    return str(match.lastgroup) if match else ""


@cache
def _any_script() -> regex.Pattern[str]:
    groups = [rf"(?P<{name}>\p{{Script={name}}})" for name in _IN_USE + _OTHERS]
    known = [group for group in groups if not isinstance(attempt(partial(regex.compile, group)), Failure)]
    return regex.compile("|".join(known))


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
