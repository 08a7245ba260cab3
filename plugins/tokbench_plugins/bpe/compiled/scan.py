r"""Scanners that split text by the named patterns, compiled by numba, with the output of ``regex.findall``.

The classes of characters come from the installed ``regex``, because its versions differ in their Unicode tables.

Each named pattern is an automaton that reads each character once. Where a boundary depends on what follows, it is
*owed* and reported later. A transition may report up to three boundaries, in this order:

``MARKED``
    at the place that an earlier transition marked: behind the last line break among spaces
    (``\s*[\r\n]``), behind the last letter without case among capitals, before an apostrophe.
``BEFORE``
    before the previous character: of several spaces the last is left to the word, ``\s+(?!\S)``.
``HERE``
    before this character, which begins a chunk.

Any transition that is not listed below ends the chunk: it reports what is owed and ``HERE``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

from tokbench.foundation.jit import compiled, inlined
from tokbench_plugins.bpe.compiled.scan_ascii import GPT2, GPT4, O200K, WINDOW, chunk_starts, highest_bit, lowest_bit
from tokbench_plugins.bpe.patterns import STAGE_TWO, WORDS, pattern_name

# What is not a letter. OTHER is everything else: it, the apostrophe, the slash and the marks are
# [^\s\p{L}\p{N}]; BLANK is U+0020, NEWLINE \r and \n, SPACE any other \s; END comes after the text.
OTHER, APOSTROPHE, SLASH, MARK, NUMBER, BLANK, SPACE, NEWLINE, END = range(9)

# Letters differ by case (LOWER is Ll, UPPER is Lu and Lt, BOTH is Lm and Lo, which o200k counts as
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

_CASES: Final = {r"\p{Ll}": LOWER, r"[\p{Lu}\p{Lt}]": UPPER, r"[\p{Lm}\p{Lo}]": BOTH}
_PAGES: Final = 0x110000 >> 8


def letter_class(case: int, fold: int = 0) -> int:
    """Return a class of letters; ``fold`` is an index of :data:`FOLDS`."""
    return END + 1 + case * len(FOLDS) + fold


class ClassTables(NamedTuple):
    """The classes of all characters, in pages of 256; equal pages are kept once: about 60 KB."""

    classes: NDArray[np.uint8]
    """uint8[256 * p], the classes of the characters of each page."""

    pages: NDArray[np.int32]
    """int32[4352]; the class of character ``c`` is ``classes[pages[c >> 8] + (c & 255)]``."""


@cache
def class_tables() -> ClassTables:
    """Return the tables of the installed ``regex``."""
    codes = np.arange(0x110000, dtype=np.uint32)
    codes[0xD800:0xE000] = ord("?")  # surrogates are not text; something must keep their places
    everything = codes.tobytes().decode("utf-32-le")
    classes = np.full(codes.size, OTHER, np.uint8)
    numbers = _BY_EXPRESSION | {expression: letter_class(case) for expression, case in _CASES.items()}
    for expression, number in numbers.items():
        members = "".join(regex.findall(f"{expression}+", everything))
        classes[np.frombuffer(members.encode("utf-32-le"), np.uint32)] = number
    for fold, letters in enumerate(FOLDS[1:], 1):
        for letter in regex.findall(f"(?i:[{letters}])", everything):
            case = next(case for expression, case in _CASES.items() if regex.match(expression, letter))
            classes[ord(letter)] = letter_class(SMALL if letter in letters else case, fold)
    places: dict[bytes, int] = {}
    pages = [places.setdefault(page.tobytes(), 256 * len(places)) for page in classes.reshape(-1, 256)]
    return ClassTables(np.frombuffer(b"".join(places), np.uint8), np.array(pages, np.int32))


MARKED, BEFORE, HERE, SET_MARK = 1, 2, 4, 8
STATE_SHIFT: Final = 4

_LETTERS: Final = range(letter_class(LOWER), letter_class(SMALL, len(FOLDS)))
_SIGNS: Final = (OTHER, APOSTROPHE, SLASH, MARK)  # [^\s\p{L}\p{N}]
_SDMT, _L, _VR, _E = (tuple(letter_class(case, fold) for case in range(4)) for fold in range(1, 5))
_SMALL_SDMT, _SMALL_L, _SMALL_VR, _SMALL_E = ((letter_class(SMALL, fold),) for fold in range(1, 5))

_Moves = list[tuple[Iterable[int], str, int]]
"""Transitions of one state: (classes, next state, reported boundaries)."""


class _Automaton:
    def __init__(self) -> None:
        self.rows: dict[str, dict[int, tuple[str, int]]] = {"start": {}}
        self.owed: dict[str, int] = {"start": 0}

    def add(self, state: str, moves: _Moves, owed: int = 0) -> None:
        row = self.rows.setdefault(state, {})
        for classes, target, reports in moves:
            for number in classes:
                row.setdefault(number, (target, reports))
        self.owed[state] = owed

    def table(self) -> list[int]:
        """Return ``target * CLASSES << STATE_SHIFT | reports`` for each state and class, CLASSES entries a state."""
        number = {state: index * CLASSES for index, state in enumerate(self.rows)}
        begin = self.rows["start"]
        table = []
        for state, row in self.rows.items():
            for character in range(CLASSES):
                here = 0 if state == "start" else self.owed[state] | HERE
                fallback = (begin.get(character, ("start", 0))[0], here)
                target, reports = row.get(character, fallback)
                table.append(number[target] << STATE_SHIFT | reports)
        return table


def _add_spaces(automaton: _Automaton, blank: _Moves, space: _Moves, *, lines: bool) -> None:
    for prefix, owed in (("", 0), ("lines ", MARKED)) if lines else (("", 0),):
        newline = ([NEWLINE], "lines" if lines else "spaces", 0)
        more: _Moves = [([BLANK], f"{prefix}blanks", 0), ([SPACE], f"{prefix}spaces", 0), newline]
        for name, follow in (("blank", blank), ("space", space)):
            one = [(classes, target, reports | owed) for classes, target, reports in follow]
            several = [(classes, target, reports | owed | BEFORE) for classes, target, reports in follow]
            automaton.add(f"{prefix}{name}", more + one, owed)
            at_end: _Moves = [([END], "start", owed | HERE)]
            automaton.add(f"{prefix}{name}s", more + at_end + several, owed | BEFORE)
    if lines:
        into: _Moves = [([BLANK], "lines blank", SET_MARK), ([SPACE], "lines space", SET_MARK)]
        automaton.add("lines", [([NEWLINE], "lines", 0), *into])


def _gpt2() -> _Automaton:
    automaton = _Automaton()
    spaces: _Moves = [([BLANK], "blank", 0), ([SPACE, NEWLINE], "space", 0)]
    words: _Moves = [(_LETTERS, "word", 0), ([NUMBER], "number", 0)]
    signs: _Moves = [(_SIGNS, "signs", 0)]
    automaton.add("start", [([APOSTROPHE], "quote", 0), *words, *signs, *spaces])
    automaton.add("word", [(_LETTERS, "word", 0)])
    automaton.add("number", [([NUMBER], "number", 0)])
    automaton.add("signs", signs)
    _add_spaces(automaton, words + signs, [], lines=False)
    # '(?:[sdmt]|ll|ve|re): until the second letter is there, the first may yet begin a word.
    two: _Moves = [(_SMALL_L, "quote l", SET_MARK), (_SMALL_VR, "quote v", SET_MARK)]
    automaton.add("quote", [(_SMALL_SDMT, "done", 0), *two, *signs])
    automaton.add("quote l", [(_SMALL_L, "done", 0), (_LETTERS, "word", MARKED)], MARKED)
    automaton.add("quote v", [(_SMALL_E, "done", 0), (_LETTERS, "word", MARKED)], MARKED)
    automaton.add("done", [])
    return automaton


def _add_signs_and_numbers(automaton: _Automaton, after_signs: Iterable[int]) -> None:
    signs: _Moves = [(_SIGNS, "signs", 0), ([NEWLINE], "signs lines", 0)]
    automaton.add("signs", signs)
    automaton.add("signs lines", [(after_signs, "signs lines", 0)])
    automaton.add("number", [([NUMBER], "number 2", 0)])
    automaton.add("number 2", [([NUMBER], "number 3", 0)])
    automaton.add("number 3", [])
    automaton.add("done", [])


def _gpt4() -> _Automaton:
    automaton = _Automaton()
    spaces: _Moves = [([BLANK], "blank", 0), ([SPACE], "space", 0), ([NEWLINE], "lines", 0)]
    word: _Moves = [(_LETTERS, "word", 0)]
    signs: _Moves = [(_SIGNS, "signs", 0)]
    sign: _Moves = [([APOSTROPHE], "quote", 0), (_SIGNS, "sign", 0)]
    automaton.add("start", [*word, ([NUMBER], "number", 0), *sign, *spaces])
    automaton.add("word", word)
    more: _Moves = [*signs, ([NEWLINE], "signs lines", 0)]
    automaton.add("sign", word + more)  # a single sign may open a word
    _add_signs_and_numbers(automaton, [NEWLINE])
    _add_spaces(automaton, word + signs, word, lines=True)
    # '(?i:[sdmt]|ll|ve|re): otherwise the apostrophe is a sign that opens a word.
    automaton.add("quote", [(_SDMT, "done", 0), (_L, "quote l", 0), (_VR, "quote v", 0), *word, *more])
    automaton.add("quote l", [(_L, "done", 0), *word])
    automaton.add("quote v", [(_E, "done", 0), *word])
    return automaton


def _o200k() -> _Automaton:
    automaton = _Automaton()
    spaces: _Moves = [([BLANK], "blank", 0), ([SPACE], "space", 0), ([NEWLINE], "lines", 0)]
    lower = [letter_class(case, fold) for case in (LOWER, SMALL) for fold in range(len(FOLDS))]
    upper = [letter_class(UPPER, fold) for fold in range(len(FOLDS))]
    both = [MARK, *(letter_class(BOTH, fold) for fold in range(len(FOLDS)))]
    word: _Moves = [(lower, "lower", 0), (upper, "upper", 0), (both, "both", 0)]
    signs: _Moves = [(_SIGNS, "signs", 0)]
    # A mark begins a word, even though it is a sign; a sign before it opens that word.
    automaton.add("start", [*word, ([NUMBER], "number", 0), (_SIGNS, "sign", 0), *spaces])
    more: _Moves = [*signs, ([NEWLINE], "signs lines", 0)]
    automaton.add("sign", word + more)
    _add_signs_and_numbers(automaton, [NEWLINE, SLASH])
    _add_spaces(automaton, word + signs, word, lines=True)
    # [UPPER]*[LOWER]+ or [UPPER]+[LOWER]*, where marks and letters without case are of both kinds.
    # Capitals after such a letter belong to it only if a small letter follows them.
    quote: _Moves = [([APOSTROPHE], "quote", SET_MARK)]
    in_lower: _Moves = [(lower, "lower", 0), (both, "lower", 0), *quote]
    automaton.add("lower", in_lower)
    automaton.add("upper", word + quote)
    automaton.add("both", [(upper, "both upper", SET_MARK), *word, *quote])
    quoted: _Moves = [([APOSTROPHE], "quote", MARKED | SET_MARK)]
    automaton.add("both upper", [(lower, "lower", 0), (upper, "both upper", 0), (both, "both", 0), *quoted], MARKED)
    # (?i:'s|'t|'re|'ve|'m|'ll|'d)? after a word: otherwise the apostrophe is a sign that opens the next.
    opened = [(classes, target, reports | MARKED) for classes, target, reports in word + more]
    two: _Moves = [
        ([number], f"quote {name} {case}", 0)
        for name, numbers in (("l", _L), ("v", _VR))
        for case, cases in (("lower", lower), ("upper", upper))
        for number in numbers
        if number in cases
    ]
    automaton.add("quote", [(_SDMT, "done", 0), *two, *opened], MARKED)
    for name, second in (("l", _L), ("v", _E)):
        for case, follow in (("lower", in_lower), ("upper", word + quote)):
            late = [(classes, target, reports | MARKED) for classes, target, reports in follow]
            automaton.add(f"quote {name} {case}", [(second, "done", 0), *late], MARKED)
    return automaton


def _words() -> _Automaton:
    automaton = _Automaton()
    spaces: _Moves = [([BLANK, NEWLINE], "spaces", 0)]
    word: _Moves = [([*_LETTERS, *_SIGNS, NUMBER, SPACE], "word", 0)]
    automaton.add("start", word + spaces)
    automaton.add("word", word)
    automaton.add("spaces", spaces)
    return automaton


def _stage_two() -> _Automaton:
    automaton = _Automaton()
    more: _Moves = [([*_LETTERS, SPACE, NEWLINE], "text", 0)]
    blank: _Moves = [([BLANK], "text blank", SET_MARK)]
    number: _Moves = [([NUMBER], "number", 0)]
    automaton.add("start", [*more, ([BLANK], "blank", 0), (_SIGNS, "sign", 0), *number])
    # One sign, and one blank before something visible, are text like any other: their chunk ends if another follows.
    automaton.add("text", [*more, *blank, (_SIGNS, "text sign", SET_MARK)])
    automaton.add("sign", [(_SIGNS, "signs", 0), *more, *blank])
    automaton.add("text sign", [(_SIGNS, "signs", MARKED), *more, *blank])
    automaton.add("text blank sign", [(_SIGNS, "signs", MARKED), *more, *blank])
    letters: _Moves = [(_LETTERS, "text", 0)]
    automaton.add("blank", [*letters, ([BLANK], "blanks", 0), (_SIGNS, "sign", 0)])
    ended: _Moves = [([SPACE, NEWLINE], "text", MARKED | HERE), ([END], "start", MARKED | HERE)]
    automaton.add("text blank", [*letters, ([BLANK], "blanks", MARKED), (_SIGNS, "text blank sign", 0), *ended])
    last: _Moves = [(_LETTERS, "text", BEFORE), (_SIGNS, "sign", BEFORE), ([NUMBER], "number", BEFORE | HERE)]
    automaton.add("blanks", [([BLANK], "blanks", 0), *last])
    _add_signs_and_numbers(automaton, [NEWLINE, SLASH])
    return automaton


class Scanned(NamedTuple):
    """Two readers of a split: for any text, and for windows of ASCII."""

    automaton: Callable[[], _Automaton]
    ascii_kind: int
    """The rules of :func:`.scan_ascii.chunk_starts`, or ``NO_RULES``."""


NO_RULES: Final = -1
AUTOMATA: Final = {
    "gpt2": Scanned(_gpt2, GPT2),
    "gpt4": Scanned(_gpt4, GPT4),
    "o200k": Scanned(_o200k, O200K),
    WORDS: Scanned(_words, NO_RULES),
    STAGE_TWO: Scanned(_stage_two, NO_RULES),
}
"""The scanned splits, by :func:`..patterns.pattern_name`."""


@cache
def transitions(name: str) -> NDArray[np.uint16]:
    """Return the automaton of a named pattern, uint16[states * CLASSES].

    In a state that begins at ``s`` a character of class ``c`` reports the boundaries in the lowest bits of ``t =
    transitions[s + c]``, and leads to the state that begins at ``t >> STATE_SHIFT``. The first state begins at 0.
    """
    return np.array(AUTOMATA[name].automaton().table(), np.uint16)


_STRETCH: Final = 64  # bytes that the automaton reads before bits are tried again
_SPARE: Final = 3  # entries behind the last end that are written but not part of the result

_TWO, _THREE, _FOUR = 0x80, 0xE0, 0xF0  # from which first byte on a character has that many bytes


@inlined
def _code(data: Any, i: Any, first: Any) -> tuple[Any, Any]:
    second = np.int64(data[i + 1] & 0x3F)
    if first < _THREE:
        return (first & 0x1F) << 6 | second, 2
    third = np.int64(data[i + 2] & 0x3F)
    if first < _FOUR:
        return (first & 0x0F) << 12 | second << 6 | third, 3
    return (first & 0x07) << 18 | second << 12 | third << 6 | np.int64(data[i + 3] & 0x3F), 4


@inlined
def _scan(data: Any, i: Any, stop: Any, end: Any, ends: Any, n_ends: Any, tables: Any) -> tuple[Any, Any]:
    """Write where chunks end, until one begins at ``stop`` or behind it; return their number and that place."""
    table, classes, pages = tables
    state: Any = 0
    previous, mark = i, i
    while True:
        width = 1
        if i < end:
            first = np.int64(data[i])
            if first < _TWO:
                character = classes[first]
            else:
                code, width = _code(data, i, first)
                character = classes[pages[code >> 8] + (code & 255)]
        else:
            character = END
        move = np.int64(table[state + character])
        # Boundaries are always written, and counted only if they are valid: no branch to mispredict.
        ends[n_ends] = mark
        n_ends += move & MARKED
        ends[n_ends] = previous
        n_ends += (move & BEFORE) // BEFORE
        ends[n_ends] = i
        n_ends += (move & HERE) // HERE
        if move & SET_MARK:
            mark = i
        state = move >> STATE_SHIFT
        if i >= stop and (i >= end or move & HERE):
            return n_ends, i
        previous = i
        i += width


@compiled
def _scan_documents(data: Any, offsets: Any, ends: Any, tables: Any, kind: Any) -> Any:
    """Write where the chunks of all documents end, to int64[n + 3], and return their number."""
    n_ends: Any = 0
    for document in range(offsets.size - 1):
        i, end = offsets[document], offsets[document + 1]
        while i < end:
            if kind != NO_RULES and i + WINDOW <= data.size:
                starts = chunk_starts(data, i, end - i, kind)
                if starts:
                    begin = i
                    i += np.int64(highest_bit(starts))
                    while starts:
                        ends[n_ends] = begin + np.int64(lowest_bit(starts))
                        n_ends += 1
                        starts &= starts - np.uint64(1)
                    continue
            n_ends, i = _scan(data, i, min(i + _STRETCH, end), end, ends, n_ends, tables)
    return n_ends


def scanner(pattern: str) -> Scanner | None:
    """Return the scanner of a split; ``None`` if :data:`AUTOMATA` has none."""
    name = pattern_name(pattern)
    return Scanner(name) if name in AUTOMATA else None


class Scanner:
    """Cuts UTF-8 bytes into the chunks of one pattern of :data:`AUTOMATA`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._tables = (transitions(name), *class_tables())

    def ends(self, data: NDArray[np.uint8], offsets: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Return int64[c], the positions behind each chunk; none crosses from one document to the next.

        ``data`` must be valid UTF-8: other bytes would be read past their end.
        """
        if offsets is None:
            offsets = np.array([0, data.size], np.int64)
        # The system gives this memory only where something is written.
        room = np.empty(data.size + _SPARE, np.int64)
        n_ends = _scan_documents(data, offsets, room, self._tables, AUTOMATA[self.name].ascii_kind)
        return room[:n_ends]
