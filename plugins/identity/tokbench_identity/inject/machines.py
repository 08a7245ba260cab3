"""What a template does to a text, as machines that read it one character at a time.

A machine has a state, reads a character, and writes text. Where a machine cannot know yet what follows, it has several
next states, of which some die. So the shortest text that makes a chain of machines write a mark is found by a search in
breadth, and if the search ends without one, there is none.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple

from tokbench_identity.equal.patterns import UndecidedError

_UNICODE: Final = 0x110000
_MORE, _END = 1, 2
_SURROGATES: Final = range(0xD800, 0xE000)


class MachineStep(NamedTuple):
    """One way on: the next state, and what is written."""

    state: Any
    out: str


class Machine(ABC):
    """Reads a text and writes another."""

    @property
    def start(self) -> Any:
        """The state before the text."""
        return 0

    @abstractmethod
    def step(self, state: Any, char: str) -> list[MachineStep]:
        """Return the ways on; none if no text goes on with this character."""

    def end(self, state: Any) -> str | None:  # noqa: ARG002
        """Return what is written at the end; ``None`` if no text ends here."""
        return ""

    def words(self) -> tuple[str, ...]:
        """Return the texts whose characters, and beginnings, it treats otherwise than others."""
        return ()


@cache
def prefix_step(word: str, matched: int, char: str) -> int:
    """Return the longest prefix of a word that ends a text, one character later.

    >>> prefix_step("<|x", 2, "x"), prefix_step("<|x", 2, "<"), prefix_step("<|x", 2, "y")
    (3, 1, 0)
    """
    text = word[:matched] + char
    return next(k for k in range(min(len(text), len(word)), -1, -1) if text.endswith(word[:k]))


@dataclass(frozen=True)
class Mapped(Machine):
    """Each character becomes a text of its own."""

    name: str
    function: Callable[[str], str]
    least: int = _UNICODE
    """Characters from here on stay as they are, or become an escape: a backslash, a letter and digits."""

    def step(self, state: Any, char: str) -> list[MachineStep]:
        return [MachineStep(state, self.function(char))]


@dataclass(frozen=True)
class Replaced(Machine):
    """``text.replace(old, new, count)``: from the left, and once."""

    old: str
    new: str
    count: int = -1

    @property
    def start(self) -> Any:
        return (0, self.count)

    def step(self, state: Any, char: str) -> list[MachineStep]:
        matched, left = state
        if left == 0:
            return [MachineStep(state, char)]
        after = prefix_step(self.old, matched, char)
        if after == len(self.old):
            return [MachineStep((0, left - (left > 0)), self.new)]
        pending = self.old[:matched] + char
        return [MachineStep((after, left), pending[: len(pending) - after])]

    def end(self, state: Any) -> str:
        return self.old[: state[0]]

    def words(self) -> tuple[str, ...]:
        return (self.old, self.new)


@dataclass(frozen=True)
class LeftStripped(Machine):
    """``text.lstrip(chars)``."""

    chars: str | None = None

    def step(self, state: Any, char: str) -> list[MachineStep]:
        drop = not state and _stripped(char, self.chars)
        return [MachineStep(not drop, "" if drop else char)]

    def words(self) -> tuple[str, ...]:
        return tuple(self.chars or " \n")


@dataclass(frozen=True)
class RightStripped(Machine):
    """``text.rstrip(chars)``: at each of these characters, the end may be near."""

    chars: str | None = None

    def step(self, state: Any, char: str) -> list[MachineStep]:
        if not _stripped(char, self.chars):
            return [] if state == _END else [MachineStep(0, char)]
        inside = [MachineStep(_MORE, char)] if state != _END else []
        return inside + ([MachineStep(_END, "")] if state != _MORE else [])

    def end(self, state: Any) -> str | None:
        return None if state == _MORE else ""

    def words(self) -> tuple[str, ...]:
        return tuple(self.chars or " \n")


def _stripped(char: str, chars: str | None) -> bool:
    return char.isspace() if chars is None else char in chars


@dataclass(frozen=True)
class Parted(Machine):
    """What is before or after a separator that the text has: ``text.split(sep)[0]``, ``[-1]``, or after the first."""

    separator: str
    side: str

    @property
    def start(self) -> Any:
        return (False, 0)

    def step(self, state: Any, char: str) -> list[MachineStep]:
        past, matched = state
        if past and self.side == "after first":
            return [MachineStep(state, char)]
        if past and self.side == "before":
            return [MachineStep(state, "")]
        after = prefix_step(self.separator, matched, char)
        full = after == len(self.separator)
        if past:
            return [] if full else [MachineStep((True, after), char)]
        if self.side == "before":
            pending = self.separator[:matched] + char
            return (
                [MachineStep((True, 0), "")] if full else [MachineStep((False, after), pending[: len(pending) - after])]
            )
        last = [MachineStep((True, 0), "")] if full else []
        return last + ([] if full and self.side == "after first" else [MachineStep((False, 0 if full else after), "")])

    def end(self, state: Any) -> str | None:
        return "" if state[0] else None

    def words(self) -> tuple[str, ...]:
        return (self.separator,)


@dataclass(frozen=True)
class PartTaken(Machine):
    """Some part of the text: ``text[start:stop]``; which one is left open, or how many characters are left out."""

    drop: int | None = None
    keep: int | None = None

    def step(self, state: Any, char: str) -> list[MachineStep]:
        if self.drop is not None:
            return [MachineStep(min(state + 1, self.drop), char if state >= self.drop else "")]
        if self.keep is not None:
            return [MachineStep(min(state + 1, self.keep), char if state < self.keep else "")]
        ways = {0: [(0, ""), (1, char)], 1: [(1, char), (2, "")], 2: [(2, "")]}
        return [MachineStep(*way) for way in ways[state]]


@dataclass(frozen=True)
class Answered(Machine):
    """Leaves a text as it is, if it answers a question as the template's way demands."""

    question: str
    word: str
    wanted: bool

    @property
    def start(self) -> Any:
        return (0, "equal" if self.question in {"equals", "starts"} else "no")

    def step(self, state: Any, char: str) -> list[MachineStep]:
        at, known = state
        if self.question in {"contains", "ends"}:
            known = "yes" if known == "yes" and self.question == "contains" else "no"
            at = prefix_step(self.word, at, char) if known == "no" else at
            if self.question == "contains" and at == len(self.word):
                known = "yes"
        elif known == "equal":
            more = at < len(self.word)
            known = "equal" if more and self.word[at] == char else "yes" if self._starts(at) else "no"
            at += more and known == "equal"
        dead = not self.wanted and known == "yes" and self.question in {"contains", "starts"}
        return [] if dead else [MachineStep((at, known), char)]

    def _starts(self, at: int) -> bool:
        return self.question == "starts" and at == len(self.word)

    def end(self, state: Any) -> str | None:
        at, known = state
        full = at == len(self.word)
        answers = {
            "contains": known == "yes" or not self.word,
            "ends": full,
            "starts": known == "yes" or (known == "equal" and full),
            "equals": known == "equal" and full,
        }
        return "" if answers[self.question] == self.wanted else None

    def words(self) -> tuple[str, ...]:
        return (self.word,)


def json_escaped(*, ascii_only: bool) -> Mapped:
    r"""Return what JSON makes of each character of a text.

    >>> json_escaped(ascii_only=False).step(0, '"')
    [MachineStep(state=0, out='\\"')]
    """
    return _JSON_ASCII if ascii_only else _JSON


_JSON: Final = Mapped("json", lambda char: json.dumps(char, ensure_ascii=False)[1:-1], 0x80)
_JSON_ASCII: Final = Mapped("json ascii", lambda char: json.dumps(char)[1:-1], 0x80)
PYTHON: Final = Mapped("python", lambda char: char if char in "\"'" else repr(char)[1:-1], 0x100)
"""What ``repr`` writes, but for the quotes, which depend on the whole text."""
UPPER: Final = Mapped("upper", str.upper)
LOWER: Final = Mapped("lower", str.lower)


@cache
def changed_by(machine: Mapped) -> dict[str, str]:
    """Return each character of Unicode that a machine changes, and what it becomes; no escapes of high characters."""
    chars = (chr(k) for k in range(machine.least) if k not in _SURROGATES)
    return {char: out for char in chars if (out := machine.function(char)) != char}


@cache
def alphabet(machines: tuple[Machine, ...], marks: tuple[str, ...]) -> str:
    """Return characters for a search: all that matter, and one of those that do not.

    Of characters that do the same, the first is taken. An escape is as good as its backslash, unless a mark begins
    with a letter or digit: such marks are refused.

    Raises:
        UndecidedError: a mark begins in the middle of an escape.

    >>> alphabet((LOWER,), ("k>",))
    '>Kk!'
    """
    words = {*marks, *(word for machine in machines for word in machine.words())}
    maps = [machine for machine in machines if isinstance(machine, Mapped)]
    if any(one.least < _UNICODE for one in maps) and any(
        mark[0] in "xuU0123456789abcdef" or "\\" in mark for mark in marks
    ):
        raise UndecidedError("escapes the text, and a mark may begin in an escape")
    letters = {*"".join(words)}
    seen = set[tuple[str, ...]]()
    for mapped in reversed(maps):
        made = sorted(char for char, out in changed_by(mapped).items() if not letters.isdisjoint(out))
        for char in made:
            row = tuple(changed_by(some).get(char, char) for some in maps)
            if char not in letters and row not in seen:
                seen.add(row)
                letters.add(char)
    other = next(char for char in map(chr, range(0x21, _UNICODE)) if char not in letters)
    return "".join(sorted(letters)) + other
