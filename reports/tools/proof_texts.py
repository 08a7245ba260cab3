"""The texts on which a published name must give the ids of its model: always the same, made from what ships."""

from __future__ import annotations

import itertools
import random
import unicodedata
from collections.abc import Sequence

from tokbench.sources.sample import SampleOptions, SampleSource

_RUN = 20
"""The longest run of spaces, line ends or digits."""
_JOINED = 500
"""Texts joined at random from the made ones."""
_SURROUNDED = 300
"""The number of pieces that are tried with text around them: among the first by id are all kinds."""

_WORDS = "the Straße naïve été Привет नमस्ते ক্ষমতা ภาษาไทย 日本語 한국어 עברית العَرَبِيَّة አማርኛ Việt".split()
_CONTRACTIONS = ("'s", "'S", "'t", "'re", "'RE", "'ve", "'m", "'ll", "'LL", "'d", "’s", "'ſ")
_TAGS = (
    *("<html>", "<table><td>", "</td></tr>", "<h1>Title</h1>", "<b>bold</b>", "<img src='a.png'/>", "<br/>", "<TABLE>"),
    "<a href=x>",
)
_EMOJI = ("👩‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽", "🇩🇪🇫🇷", "🤷🏿‍♀️", "❤️", "1️⃣")
_MIXED = "Python和C++ Ωmega-3 x²+y²≠z³ №5 ½kg ﬁn K Å ㎏ １２３ ٣٤٥ १२३ Ⅷ \u202eabc\u202c a\ufeffb \ue000".split()
_ODD = (
    *("\u2581", "\u2581\u2581a", "a\u2581b", "\u2581 \u2581", "Ġ", "##ing", "</w>", "@@"),
    *("<0x0A>", "<unk>", "[UNK]", "<s>", "</s>", "\ufffd", "\U0010ffff"),
)
_SPACES = (
    *("\u00a0", "\u2003", "\u3000", "\u200b", "\u200d", "\u2028", "\u0085", "\t"),
    *("\r", "\r\n", "\n", "\x0b", "\x0c", " "),
)


def proof_texts(pieces: Sequence[str] = ()) -> list[str]:
    """Return the texts, at least 2,000, without duplicates.

    Args:
        pieces: the pieces of the vocabulary that ordinary text gives whole, such as ``<table>`` in Gemma's, by id: each
            is tried alone, the first also after a space, twice and within a word.
    """
    made = [*_made(), *itertools.chain.from_iterable(map(_around, pieces[:_SURROUNDED])), *pieces[_SURROUNDED:]]
    chance = random.Random(42)
    joined = (chance.choice(("", " ", "\n")).join(chance.choices(made, k=chance.randint(2, 6))) for _ in range(_JOINED))
    shipped = (
        document.text
        for part in ("all", "conversations")
        for document in SampleSource(SampleOptions(part=part)).documents()
    )
    return list(dict.fromkeys([*shipped, *made, *joined]))


def _around(piece: str) -> tuple[str, ...]:
    return piece, f" {piece}", f"x{piece}y", f"{piece}{piece}", f"  {piece} \n", f"{piece}\u0301 {piece[:-1]}"


def _made() -> list[str]:
    texts = [*_WORDS, *_TAGS, *_EMOJI, *_MIXED, *_ODD]
    texts += [unicodedata.normalize(form, word) for word in (*_WORDS, *_MIXED) for form in ("NFD", "NFC", "NFKC")]
    texts += [char + mark for char in "aeinouAEO>=<" for mark in "\u0301\u0308\u0302\u0323\u0338"]
    texts += ["\u1112\u1161\u11ab", "\u1100\u1161", "\u1112\u1161\u11ab글", "e\u0323\u0301", "e\u0301\u0323", "\u0301"]
    texts += [f"{word}{end}" for word in ("I", "don", "WE", "l", "été") for end in _CONTRACTIONS]
    texts += [f"x{end}Rex" for end in _CONTRACTIONS]
    texts += [f"a{space * length}b" for space in _SPACES for length in range(1, _RUN + 1)]
    texts += [space * length for space in _SPACES for length in range(1, _RUN + 1)]
    texts += [f"x ={' ' * length}1\n{' ' * length}return\n" for length in range(_RUN + 1)]
    texts += ["1234567890" * 3][:1] + [("9876543210" * 2)[:length] for length in range(1, _RUN + 1)]
    texts += [f"{first}{chr(code)}b" for code in (*range(32), *range(127, 160)) for first in ("", "a")]
    texts += [chr(code) * 2 for code in range(0x21, 0x7F)]
    return texts
