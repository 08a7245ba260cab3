r"""Which class each character belongs to, asked of ``regex`` itself.

Versions of ``regex`` differ in their Unicode; tables of our own would differ from one of them. So each
class is found by one ``findall`` over all characters, once per process (0.1 s in all).

>>> tables = class_tables()
>>> [tables.class_of(c) for c in "x \u0301"] == [letter_class(LOWER), BLANK, MARK]
True
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

import regex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "APOSTROPHE", "BLANK", "BOTH", "CLASSES", "END", "FOLDS", "LOWER", "MARK", "NEWLINE", "NUMBER", "OTHER", "SLASH",
    "SMALL", "SPACE", "UPPER", "Tables", "class_tables", "letter_class",
]  # fmt: skip

# What is no letter. OTHER is what is none of the rest: it, the apostrophe, the slash and the marks are
# [^\s\p{L}\p{N}]; BLANK is U+0020, NEWLINE \r and \n, SPACE any other \s; END comes after the text.
OTHER, APOSTROPHE, SLASH, MARK, NUMBER, BLANK, SPACE, NEWLINE, END = range(9)

# Letters are told apart by case (LOWER is Ll, UPPER is Lu and Lt, BOTH is Lm and Lo, which o200k counts as
# either; SMALL are the eight letters themselves), and by what they are in a contraction in any case.
LOWER, UPPER, BOTH, SMALL = range(4)
FOLDS: Final = ("", "sdmt", "l", "vr", "e")
CLASSES: Final = 32  # a round number, at least as many as there are

_BY_EXPRESSION: Final = {
    r"\p{N}": NUMBER,
    r"\p{M}": MARK,
    r"\s": SPACE,
    r"[\r\n]": NEWLINE,
    " ": BLANK,
    "'": APOSTROPHE,
    "/": SLASH,
}


def letter_class(case: int, fold: int = 0) -> int:
    """The class of the letters of a case and of an entry of :data:`FOLDS`."""
    return END + 1 + case * len(FOLDS) + fold


class Tables(NamedTuple):
    """The classes of all characters, in pages of 256 of which equal ones are kept once: about 60 KB.

    Attributes:
        classes: uint8[256 * p], the classes of the characters of each page; page 0 comes first.
        pages: int32[4352]; the class of character ``c`` is ``classes[pages[c >> 8] + (c & 255)]``.
    """

    classes: NDArray[np.uint8]
    pages: NDArray[np.int32]

    def class_of(self, character: str) -> int:
        """The class of one character."""
        code = ord(character)
        return int(self.classes[self.pages[code >> 8] + (code & 255)])


@cache
def class_tables() -> Tables:
    """The tables of the ``regex`` that is installed."""
    import numpy as np

    codes = np.arange(0x110000, dtype=np.uint32)
    codes[0xD800:0xE000] = ord("?")  # surrogates are no text; something must keep their places
    everything = codes.tobytes().decode("utf-32-le")
    cases = {r"\p{Ll}": LOWER, r"[\p{Lu}\p{Lt}]": UPPER, r"[\p{Lm}\p{Lo}]": BOTH}
    classes = np.full(codes.size, OTHER, np.uint8)
    for expression, number in (_BY_EXPRESSION | {e: letter_class(case) for e, case in cases.items()}).items():
        members = "".join(regex.findall(f"{expression}+", everything))
        classes[np.frombuffer(members.encode("utf-32-le"), np.uint32)] = number
    for fold, letters in enumerate(FOLDS[1:], 1):
        for letter in regex.findall(f"(?i:[{letters}])", everything):
            case = next(case for expression, case in cases.items() if regex.match(expression, letter))
            classes[ord(letter)] = letter_class(SMALL if letter in letters else case, fold)
    places: dict[bytes, int] = {}
    pages = [places.setdefault(page.tobytes(), 256 * len(places)) for page in classes.reshape(-1, 256)]
    return Tables(np.frombuffer(b"".join(places), np.uint8), np.array(pages, np.int32))
