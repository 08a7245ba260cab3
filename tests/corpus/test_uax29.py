"""Word boundaries and grapheme clusters: Unicode's own test files, the rules of UAX #29 one by one, and the versions."""

import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from tokbench.corpus.words import graphemes, uax29
from tokbench.corpus.words.find import find_words
from tokbench.corpus.words.graphemes import cluster_breaks
from tokbench.corpus.words.uax29 import word_breaks
from tokbench.corpus.words.unicode_tables import (
    PINNED,
    bit_table,
)

UNICODE = Path("/usr/share/unicode")
"""The folder of Debian's package unicode-data."""

SCISSORS = "\N{UPPER BLADE SCISSORS}"
"""A symbol that is a pictograph in Unicode 15.0, and not in 18.0."""

PICTOGRAPHS = "👩❤🚀©" + SCISSORS
BREAKS = "\r\n\v\x85\u2028"
SPACES = " \u3000\u00a0"
HARD = (
    *(
        PICTOGRAPHS,
        BREAKS,
        SPACES,
        "\x00\u200b",
        "aZé\u0301\ufe0f\u200c\u200d\u00ad\u2060🏽",
        "אב'\"",
        "1٢_‿",
        ".,:;·’",
    ),
    *(
        "ァー",
        "🇫🇮🇩",
        "कषए\u094d\u093c\u0903",
        "നത\u0d4d\u0d4e",
        "ก\u0e33",
        "각가\u1100\u1161\u11a8",
        "中\u0600\u06dd\U000110bd",
    ),
)
"""Characters of every class of both properties, several of most, and every one that an exception is about."""

HARD_TEXT = st.text("".join(HARD), max_size=12)


def breaks(text, property_):
    """Return the boundaries that tokbench finds, from 0 to the end of a text that is not empty."""
    points = np.array(list(map(ord, text)), dtype=np.uint32)
    if property_ == "Word":
        begins = word_breaks(points, uax29._table()[points])
    else:
        begins = cluster_breaks(graphemes._table()[points])
    return [*np.flatnonzero(begins).tolist(), len(text)]


def unicode_file(name):
    path = UNICODE / name
    if not path.exists():
        pytest.skip(f"{path} is not there: apt-get install unicode-data")
    return path.read_text(encoding="utf-8")


def cases(lines):
    """Yield each line of a test file of Unicode with its text and boundaries: ÷ is one, and × is none."""
    for line in lines:
        signs = line.partition("#")[0].split()
        if signs:
            codes, marks = signs[1::2], signs[0::2]
            yield (
                line,
                "".join(chr(int(code, 16)) for code in codes),
                [k for k, mark in enumerate(marks) if mark == "÷"],
            )


@pytest.mark.parametrize("property_", ["Word", "Grapheme"])
def test_every_line_of_the_test_files_of_unicode(property_):
    text = unicode_file(f"auxiliary/{property_}BreakTest.txt")
    items = list(cases(text.splitlines()))
    assert len(items) == int(re.search(r"# Lines: (\d+)", text)[1]) > 600
    wrong = [line for line, text, expected in items if breaks(text, property_) != expected]
    assert not wrong, "\n".join(wrong)
    for _, text, expected in items:  # the same by the ways that are taken for documents
        assert spelled(text, property_) == by_segments(text, expected, property_)


def spelled(text, property_):
    """Return what is counted in a text, found as for a document."""
    data = text.encode()
    words = find_words([text], "uax29" if property_ == "Word" else "grapheme")
    return [data[a:b].decode() for a, b in zip(words.starts.tolist(), words.ends.tolist(), strict=True)]


def by_segments(text, boundaries, property_):
    """Return the words or the grapheme clusters that are counted, from all boundaries."""
    segments = [text[a:b] for a, b in pairwise(boundaries)]
    first = r"[\p{L}\p{N}\p{M}_].*" if property_ == "Word" else r"\S.*"
    return [match[0] for match in (regex.search(first, segment, regex.DOTALL) for segment in segments) if match]


WRITTEN = [
    # What failed: a letter with a mark, then a sign, then a letter.
    ("Word", "÷ 092F × 0942 × 002E × 090F × 0928 ÷"),  # यू.एन
    ("Word", "÷ 0915 × 0940 × 002E × 092E × 0940 × 002E × 0938 × 0947 ÷"),  # की.मी.से
    ("Word", "÷ 0065 × 0301 × 0027 × 0061 ÷"),  # é'a, decomposed
    ("Word", "÷ 05D0 × 05B7 × 0022 × 05D1 ÷"),  # Hebrew: a vowel point, then a gershayim
    ("Word", "÷ 0938 × 093F ÷ 002E ÷ 0020 ÷ 0915 ÷"),  # a full stop at the end of a sentence
    ("Word", "÷ 0061 × 002E × 0308 × 0061 ÷"),  # the mark on the sign
    ("Word", "÷ 0061 × 00AD × 0027 × 2060 × 0062 ÷"),  # invisible characters between
    ("Word", "÷ 0301 ÷ 0061 ÷ 000A ÷ 0301 ÷ 0061 ÷"),  # a mark with nothing to stand on
    ("Word", "÷ 1F1EB × 0308 × 1F1EE ÷ 1F1EB × 1F1EE ÷ 1F1EB ÷"),
    ("Word", "÷ 2701 × 200D × 2701 ÷"),
    ("Grapheme", "÷ 2701 × 200D × 2701 ÷"),
    ("Grapheme", "÷ 0915 × 094D × 0937 ÷ 0915 ÷"),  # a conjunct is one
    ("Grapheme", "÷ 0061 × 094D × 0937 ÷"),  # since Unicode 18, whatever stands before the virama
    ("Grapheme", "÷ 0600 × 0061 × 0903 ÷ 000D × 000A ÷ 0308 ÷ 000A ÷"),
    ("Grapheme", "÷ 1100 × 1161 × 11A8 × 11A8 ÷ AC00 × 11A8 × 11A8 ÷ 1100 × 1100 × AC01 ÷ 1161 ÷"),
    ("Grapheme", "÷ 1F469 × 1F3FD × 200D × 1F680 ÷ 1F469 ÷"),
]


@pytest.mark.parametrize(("property_", "line"), WRITTEN)
def test_lines_by_hand(property_, line):
    [(_, text, expected)] = cases([line])
    assert breaks(text, property_) == expected == RULES[property_](text)


@cache
def value(char, property_, names):
    [name] = [name for name in names.split() if regex.match(rf"\p{{{property_}={name}}}", char)] or ["Other"]
    return name


def word_class(char):
    names = "CR LF Newline Extend ZWJ Format Katakana Hebrew_Letter ALetter Single_Quote Double_Quote MidNumLet "
    return value(char, "WB", names + "MidLetter MidNum Numeric ExtendNumLet Regional_Indicator WSegSpace")


def cluster_class(char):
    return value(char, "GCB", "CR LF Control Extend ZWJ Regional_Indicator Prepend SpacingMark L V T LV LVT")


def pictograph(char):
    return char in PICTOGRAPHS or bool(regex.match(r"\p{Extended_Pictographic}", char))


def words_by_rules(text):
    """Return the word boundaries of a text that is not empty: the rules of UAX #29 as they are written, in order."""
    kinds = [word_class(char) for char in text]
    after_sot, broken, ignored = {"CR", "LF", "Newline"}, [0], {"Extend", "Format", "ZWJ"}
    letter, quote = {"ALetter", "Hebrew_Letter"}, {"MidNumLet", "Single_Quote"}
    in_word = letter | {"Numeric", "Katakana", "ExtendNumLet"}

    def left(k):
        """Return the place of the character to which the one at ``k`` is attached, itself if to none (WB4)."""
        while k > 0 and kinds[k] in ignored and kinds[k - 1] not in after_sot:
            k -= 1
        return k

    for k in range(1, len(text)):
        last, this = kinds[k - 1], kinds[k]
        if last == "CR" and this == "LF":  # WB3
            continue
        if last in after_sot or this in after_sot:  # WB3a, WB3b
            broken.append(k)
            continue
        if (last == "ZWJ" and pictograph(text[k])) or last == this == "WSegSpace" or this in ignored:  # WB3c, WB3d, WB4
            continue
        at = left(k - 1)
        before, last = (kinds[left(at - 1)] if at else None), kinds[at]
        after = next((kind for kind in kinds[k + 1 :] if kind not in ignored), None)
        row = 0
        while kinds[at] == "Regional_Indicator":
            row, at = row + 1, left(at - 1) if at else -1
            if at < 0:
                break
        if (
            (last in letter and this in letter)  # WB5
            or (last in letter and this in quote | {"MidLetter"} and after in letter)  # WB6
            or (before in letter and last in quote | {"MidLetter"} and this in letter)  # WB7
            or (last == "Hebrew_Letter" and this == "Single_Quote")  # WB7a
            or (last == after == "Hebrew_Letter" and this == "Double_Quote")  # WB7b
            or (before == this == "Hebrew_Letter" and last == "Double_Quote")  # WB7c
            or (last == this == "Numeric")  # WB8
            or (last in letter and this == "Numeric")  # WB9
            or (last == "Numeric" and this in letter)  # WB10
            or (before == this == "Numeric" and last in quote | {"MidNum"})  # WB11
            or (last == after == "Numeric" and this in quote | {"MidNum"})  # WB12
            or (last == this == "Katakana")  # WB13
            or (last in in_word and this == "ExtendNumLet")  # WB13a
            or (last == "ExtendNumLet" and this in in_word)  # WB13b
            or (this == "Regional_Indicator" and row % 2 == 1)  # WB15, WB16
        ):
            continue
        broken.append(k)  # WB999
    return [*broken, len(text)]


def clusters_by_rules(text):
    """Return the boundaries of grapheme clusters of a text that is not empty, by the rules of Unicode 18 in order."""
    kinds, broken, firm = [cluster_class(char) for char in text], [0], {"CR", "LF", "Control"}
    for k in range(1, len(text)):
        last, this, head = kinds[k - 1], kinds[k], text[:k]
        joined = last == "CR" and this == "LF"  # GB3
        if last not in firm and this not in firm:  # GB4, GB5
            joined = (
                (last == "L" and this in {"L", "V", "LV", "LVT"})  # GB6
                or (last in {"LV", "V"} and this in {"V", "T"})  # GB7
                or (last in {"LVT", "T"} and this == "T")  # GB8
                or this in {"Extend", "ZWJ", "SpacingMark"}  # GB9, GB9a
                or last == "Prepend"  # GB9b
                or bool(
                    regex.match(r"\p{InCB=Consonant}", text[k])
                    and regex.search(r"\p{InCB=Linker}[\p{InCB=Extend}\p{InCB=Linker}]*\Z", head)
                )  # GB9c
                or (last == "ZWJ" and pictograph(text[k]) and after_pictograph(head[:-1], kinds))  # GB11
                or (this == "Regional_Indicator" and len(regex.search(r"\p{RI}*\Z", head)[0]) % 2 == 1)  # GB12, GB13
            )
        if not joined:
            broken.append(k)
    return [*broken, len(text)]


def after_pictograph(head, kinds):
    while head and kinds[len(head) - 1] == "Extend":
        head = head[:-1]
    return bool(head) and pictograph(head[-1])


RULES = {"Word": words_by_rules, "Grapheme": clusters_by_rules}


@pytest.mark.parametrize("property_", ["Word", "Grapheme"])
@given(text=st.one_of(HARD_TEXT, st.text(max_size=9)).filter(bool))
def test_boundaries_are_those_of_the_rules(property_, text):
    expected = RULES[property_](text)
    assert breaks(text, property_) == expected
    assert spelled(text, property_) == by_segments(text, expected, property_)


def test_real_text(data):
    for path in sorted((data / "pud").glob("??.txt")):
        text = path.read_text(encoding="utf-8")[:500]
        for property_, rules in RULES.items():
            assert spelled(text, property_) == by_segments(text, rules(text), property_), path.name


def test_the_pinned_pictographs_are_those_of_the_file():
    text = unicode_file("emoji/emoji-data.txt")
    if f"Emoji Version {PINNED} " not in text:
        pytest.skip(f"the installed file is not of Unicode {PINNED}")
    ranges = re.findall(r"^(\w+)(?:\.\.(\w+))?\s*; Extended_Pictographic", text, re.MULTILINE)
    there = {code for first, last in ranges for code in range(int(first, 16), int(last or first, 16) + 1)}
    added = {
        match.start() for match in regex.finditer(r"\p{Extended_Pictographic}", "".join(map(chr, range(0x110000))))
    }
    assert set(np.flatnonzero(bit_table((), 1)).tolist()) == there | added
    assert len(there) == 3537
