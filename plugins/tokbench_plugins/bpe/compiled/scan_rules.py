r"""The named patterns as automata: what each class of character does to the chunk before it.

A backtracking matcher reads ahead and gives back. The automaton reads each character once, and where a
boundary depends on what follows it is *owed* and told later. A transition may tell up to three boundaries,
in this order:

``MARKED``
    at the place that an earlier transition marked: behind the last line break among spaces
    (``\s*[\r\n]``), behind the last letter without case among capitals (what ``[\p{Lu}…]*`` gives back to
    ``[\p{Ll}…]+``), before an apostrophe that may begin a contraction.
``BEFORE``
    before the previous character: of several spaces the last is left to the word, ``\s+(?!\S)``.
``HERE``
    before this character, which so begins a chunk.

Any transition that is not written down below ends the chunk: it tells what is owed and ``HERE``.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Final

from tokbench_plugins.bpe.compiled.scan_tables import (
    APOSTROPHE,
    BLANK,
    BOTH,
    CLASSES,
    END,
    FOLDS,
    LOWER,
    MARK,
    NEWLINE,
    NUMBER,
    OTHER,
    SLASH,
    SMALL,
    SPACE,
    UPPER,
    letter_class,
)  # fmt: skip

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["BEFORE", "HERE", "MARKED", "SET_MARK", "STATE_SHIFT", "transitions"]

MARKED, BEFORE, HERE, SET_MARK = 1, 2, 4, 8
STATE_SHIFT: Final = 4

_LETTERS: Final = range(letter_class(LOWER), letter_class(SMALL, len(FOLDS)))
_SIGNS: Final = (OTHER, APOSTROPHE, SLASH, MARK)  # [^\s\p{L}\p{N}]
_SDMT, _L, _VR, _E = (tuple(letter_class(case, fold) for case in range(4)) for fold in range(1, 5))
_SMALL_SDMT, _SMALL_L, _SMALL_VR, _SMALL_E = ((letter_class(SMALL, fold),) for fold in range(1, 5))

_Moves = list[tuple[Iterable[int], str, int]]
"""Transitions of one state: (classes, the state they lead to, what they tell)."""


class _Automaton:
    """Transitions under construction; states are known by their names, and ``start`` comes first."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[int, tuple[str, int]]] = {"start": {}}
        self.owed: dict[str, int] = {"start": 0}

    def add(self, state: str, moves: _Moves, owed: int = 0) -> None:
        """A state: where each class leads and what that tells; of moves for the same class the first holds."""
        row = self.rows.setdefault(state, {})
        for classes, target, tells in moves:
            for number in classes:
                row.setdefault(number, (target, tells))
        self.owed[state] = owed

    def table(self) -> list[int]:
        """``target * CLASSES << STATE_SHIFT | tells`` for each state and class; a state takes CLASSES entries."""
        number = {state: index * CLASSES for index, state in enumerate(self.rows)}
        begin = self.rows["start"]
        table = []
        for state, row in self.rows.items():
            for character in range(CLASSES):
                here = 0 if state == "start" else self.owed[state] | HERE
                fallback = (begin.get(character, ("start", 0))[0], here)
                target, tells = row.get(character, fallback)
                table.append(number[target] << STATE_SHIFT | tells)
        return table


def _add_spaces(automaton: _Automaton, blank: _Moves, space: _Moves, *, lines: bool) -> None:
    """The states of a run of spaces.

    Args:
        automaton: gets them.
        blank: what may follow the last space in its chunk, if it is U+0020.
        space: the same if it is another one, and no line break.
        lines: whether the run up to its last line break is a chunk of its own.
    """
    for prefix, owed in (("", 0), ("lines ", MARKED)) if lines else (("", 0),):
        newline = ([NEWLINE], "lines" if lines else "spaces", 0)
        more: _Moves = [([BLANK], f"{prefix}blanks", 0), ([SPACE], f"{prefix}spaces", 0), newline]
        for name, follow in (("blank", blank), ("space", space)):
            one = [(classes, target, tells | owed) for classes, target, tells in follow]
            several = [(classes, target, tells | owed | BEFORE) for classes, target, tells in follow]
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
    """What gpt4 and o200k share; ``after_signs`` are the classes that stay with signs once a break came."""
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
    told: _Moves = [([APOSTROPHE], "quote", MARKED | SET_MARK)]
    automaton.add("both upper", [(lower, "lower", 0), (upper, "both upper", 0), (both, "both", 0), *told], MARKED)
    # (?i:'s|'t|'re|'ve|'m|'ll|'d)? after a word: otherwise the apostrophe is a sign that opens the next.
    opened = [(classes, target, tells | MARKED) for classes, target, tells in word + more]
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
            late = [(classes, target, tells | MARKED) for classes, target, tells in follow]
            automaton.add(f"quote {name} {case}", [(second, "done", 0), *late], MARKED)
    return automaton


@cache
def transitions(name: str) -> NDArray[np.uint16]:
    """The automaton of a named pattern.

    Returns:
        uint16[states * CLASSES]. In a state that begins at ``s`` a character of class ``c`` tells
        the boundaries in the lowest bits of ``t = transitions[s + c]``, and leads to the state that
        begins at ``t >> STATE_SHIFT``. The first state begins at 0.

    >>> t = int(transitions("gpt2")[BLANK])  # a blank at the start of a text
    >>> t & HERE, int(transitions("gpt2")[(t >> STATE_SHIFT) + NUMBER]) & HERE  # and then a number
    (0, 0)
    """
    import numpy as np

    automaton = {"gpt2": _gpt2, "gpt4": _gpt4, "o200k": _o200k}[name]()
    return np.array(automaton.table(), np.uint16)
