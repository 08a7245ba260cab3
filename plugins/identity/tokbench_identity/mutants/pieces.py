"""Pieces of text in which ways to be wrong show: of a vocabulary, and of all kinds of characters."""

# ruff: noqa: RUF001 - characters that look alike are meant

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Final

from tokbench.plugin import HasTokenBytes, Tokenizer

# fmt: off
_KINDS: Final = (
    "a", "A", "z", "Z", "s", "ſ", "K", "ß", "é", "ñ", "É", "ǅ", "ʰ", "ª", "ж", "Ж", "中", "の", "한", "ก", "ก", "ं",
    "म", "ा", "α", "Ω", "أ", "א", "0", "٣", "९", "１", "½", "²", "Ⅷ", "〇", "'", "’", ",", ".", "_", "-", "/", "(",
    '"', "!", "<", ">", "=", "&", "%", "#", "@", "$", "€", "+", "©", "😀", "\t", "\n", "\r", " ", "\xa0", "\u3000",
    "\u2003", "\u2028", "\x85", "\x0b", "\x0c", "\x1c", "\u0301", "\u064b", "\u094d", "\u200b", "\u200d", "\xad",
    "\ufeff", "\ufe0f", "\x00", "\x7f", "\ue000", "\ufffd", "\U0010ffff", "\u0378", "▁", "e\u0301", "ﬁ", "Å", "각", "ｶﾞ",
    "👩\u200d💻", "🇩🇪", "𝒳", "İ", "𐐀",
)
_FORMS: Final = (
    "'s", "'S", "'ſ", "'t", "'T", "'re", "'RE", "'Re", "'ve", "'VE", "'m", "'M", "'ll", "'LL", "'d", "'D", "’s",
    "don't", "WE'RE", "x's", "I'M", "été's", "12", "123", "1234", "12345", "123456", "٣٤٥", "½¼", "²³", "ab", "aB",
    "AB", "ABc", "camelCase", "HTTPServer", "naïve", "STRASSE", "中文", "ขอ", "한국어", "मात\u094dरा", "abc123", "3rd",
    "  ", "   ", "    ", "\n\n", "\r\n", "\r\n\r\n", " \n", "\n ", "\t\t", " \t", "\n\t", "  \n  ", " \r", "\xa0 ",
    " a", " A", "  a", " 1", "\ta", "\u3000a", "\xa0a", " '", " '\u0301", "'\n", "/\n", "\n/", ".\n", ".\n\n",
    "!\n/", "\n/'s", "...", "!!!", "==", "->", "</", "<p>", "://", "__init__", "_a", "-a", "a_b", "#!", " //", " /*",
    "*/\n", "a\u0301", "\u0301a", ".\u0301", " \u0301", "1\u0301", "\u0301\u0301", "A\u0301b", "\\n", "&amp;",
    "</w>", "Ġa", "##a", "<s>", "</s>", "<unk>", "<|endoftext|>", "<0x0A>", "\u200b\u200b", "<|im_end|>", "[UNK]",
    "▁▁",
)
# fmt: on

SOME_KINDS: Final = "aAzZ019 \n\r\t'.,-_/(\"!{<éßſİЖж中の한กमा़٣Ⅷ½\u0301\u200b\u200d\u00a0\u3000😀€\x00\x85\ue000\ufffd"
"""Characters of all kinds that splits and normalizers know: letters of several scripts, digits, marks, spaces."""


_BLOCK: Final = 128
_AT_PLACE: Final = 600

_ENDS: Final = tuple(f"x{one}{other}x" for one in ("'s", "'S", "'ſ", "'t", "'ll", "'D") for other in ("'Re", "'ſ"))
"""Two contractions in a row: what does not take the first one takes another part of the second."""


def shape(text: str) -> str:
    """Return the kinds of a text's characters, short runs of digits counted.

    >>> shape(" Hello12")
    ' ABB00'
    """
    made = ""
    for char in text:
        kind = _kind(char)
        longest = 4 if kind in "0 \n" else 2
        made += "" if made.endswith(kind * longest) else kind
    return made


@cache
def _kind(char: str) -> str:
    if char in "\n\r\t /'_":
        return char
    category = unicodedata.category(char)
    narrow = char.isascii()
    if category[0] == "L":
        return ("A" if narrow else "Ä") if category == "Lu" else ("B" if narrow else "ß" if category == "Ll" else "中")
    if category[0] == "N":
        return "0" if narrow else "٣"
    return {"M": "\u0301", "Z": "\u00a0", "C": "\x00"}.get(category[0], "." if narrow else "…")


def pieces_of(tokenizers: Iterable[Tokenizer], most: int = 150) -> list[str]:
    """Return characters of all kinds, and the first token of each of the most frequent shapes."""
    counts: dict[str, list[str]] = {}
    for tokenizer in tokenizers:
        for text in texts_of(tokenizer):
            counts.setdefault(shape(text), []).append(text)
    common = sorted(counts.values(), key=len, reverse=True)[:most]
    return list(dict.fromkeys([*_KINDS, *_FORMS, *_ENDS, *(texts[0] for texts in common)]))


def texts_of(tokenizer: Tokenizer) -> Iterator[str]:
    """Yield the text of each id that is one."""
    if not isinstance(tokenizer, HasTokenBytes):
        return
    for k in range(tokenizer.vocab_size):
        try:
            if text := tokenizer.token_bytes(k).decode():
                yield text
        except UnicodeDecodeError:
            continue


def joins(pieces: list[str], count: int, least: int = 2, most: int = 5, seed: int = 0) -> Iterator[str]:
    """Yield texts of some pieces each, always the same."""
    chosen = random.Random(seed)  # noqa: S311 - nothing secret
    yield from ("".join(chosen.choices(pieces, k=chosen.randint(least, most))) for _ in range(count))


def over(texts: Sequence[str], pieces: list[str]) -> Iterator[str]:
    """Yield texts with pieces at each place: tokens that cross the cut in which two splits differ."""
    for text in texts:
        for at in range(len(text) + 1):
            yield from (f"{text[:at]}{piece}{text[at:]}" for piece in pieces)
            yield from (f"{text[:at]}{joined}{text[at:]}" for joined in joins(pieces, _AT_PLACE, most=3))


def broad_texts(pieces: list[str]) -> list[str]:
    """Return three long texts, for mistakes that are in no list: all pieces twice, and characters of all blocks."""
    blocks: dict[tuple[int, str], str] = {}
    for point in (*range(0xA0, 0xD800), *range(0xF900, 0x20000)):
        category = unicodedata.category(chr(point))
        if category[0] != "C":
            blocks.setdefault((point // _BLOCK, category), chr(point))
    return [" ".join(pieces), "".join(reversed(pieces)), "".join(blocks.values())]


def probe_texts() -> list[str]:
    """Return texts of all kinds, to try a model on."""
    pieces = [*_KINDS, *_FORMS]
    return [*pieces, *joins(pieces, 600, 2, 6)]
