r"""Whether two split patterns cut every text alike, decided exactly.

A pattern becomes a machine that reads one class of code points after the other, with its alternatives in order of
priority, as an engine tries them. Code points that no set of either pattern treats apart are one class. So all texts
are covered by the finitely many states of two machines that read the same text.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any, Final, NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

_CODE_POINTS: Final = 0x110000
_SURROGATES: Final = range(0xD800, 0xE000)
_END: Final = -1
"""The class that is read after the last code point."""

_ASCII: Final = 0x80
_INNER: Final = bytes(range(0x80, 0xC0))
"""The bytes of UTF-8 that begin no character."""

_MOST_SETS: Final = 62
_MOST_STATES: Final = 200_000
_MOST_COPIES: Final = 64
_LOOKED_AT: Final = 400
_SHOWN: Final = 12


class UndecidedError(Exception):
    """A pattern has something that the machine cannot do."""


Emit = Callable[[], object]
"""Emits the instructions of a part of a pattern."""

Word = tuple[tuple[str, ...], ...]
"""Examples of each code point of a text."""


def compare_patterns(one: str, other: str, tokens: Iterable[bytes] | None = None) -> Word:
    r"""Return a shortest text that two patterns cut differently; nothing if there is none.

    With ``tokens`` a cut that no token can cross is no difference: merges would not cross it either.

    Raises:
        UndecidedError: a pattern leaves gaps, or has a lookbehind, a group that is captured, or the like.

    >>> compare_patterns(r"\s+(?!\S)|\s+|\S+", r"\s++$|\s+(?!\S)|\s|\S++")
    ()
    >>> [some[0] for some in compare_patterns(r"\p{N}{1,2}|\P{N}", r"\p{N}{1,3}|\P{N}")]
    ['0', '0', '0']
    >>> compare_patterns(r"\s+|\S+", r"\n|[^\S\n]+|\S+", [b"  ", b"a\n"])
    ()
    """
    sets: dict[str, int] = {}
    programs = [_Compiler(pattern, sets).program() for pattern in (one, other)]
    classes = _Classes.of(list(sets))
    crossing = None if tokens is None else _Crossing(tokens, classes)
    return _walk(_Machine(programs[0], classes), _Machine(programs[1], classes), classes, crossing)


class _Op(NamedTuple):
    """One instruction: read a set, try two ways in turn, look at the next code point, or match."""

    kind: str
    set: int = 0
    first: int = 0
    second: int = 0


class _Compiler:
    """Reads the part of the regular expressions that splits are written in."""

    def __init__(self, pattern: str, sets: dict[str, int]) -> None:
        self._pattern, self._at, self._sets, self._flags = pattern, 0, sets, ""
        self._ops: list[_Op] = []

    def program(self) -> list[_Op]:
        self._alternatives()()
        if self._at < len(self._pattern):
            raise UndecidedError(f"a parenthesis too many at {self._at}")
        self._emit("match")
        return self._ops

    def _emit(self, kind: str, set_: int = 0, first: int = 0, second: int = 0) -> int:
        self._ops.append(_Op(kind, set_, first, second))
        return len(self._ops) - 1

    def _take(self, expected: str) -> bool:
        found = self._pattern.startswith(expected, self._at)
        self._at += len(expected) * found
        return found

    def _alternatives(self) -> Emit:
        branches = [self._sequence()]
        while self._take("|"):
            branches.append(self._sequence())
        return lambda: self._emit_choice(branches)

    def _emit_choice(self, branches: list[Emit]) -> None:
        jumps = []
        for branch in branches[:-1]:
            fork = self._emit("fork")
            branch()
            jumps.append(self._emit("fork"))
            self._ops[fork] = _Op("fork", 0, fork + 1, len(self._ops))
        branches[-1]()
        for jump in jumps:
            self._ops[jump] = _Op("fork", 0, len(self._ops), len(self._ops))

    def _sequence(self) -> Emit:
        parts = []
        while self._at < len(self._pattern) and self._pattern[self._at] not in "|)":
            parts.append(self._repeated())
        return lambda: [part() for part in parts]

    def _repeated(self) -> Emit:
        atom, read = self._atom()
        counts = regex.compile(r"\{(\d+)(,(\d*))?\}|[?*+]").match(self._pattern, self._at)
        if not counts:
            return atom
        self._at = counts.end()
        least, most = {"?": (0, 1), "*": (0, None), "+": (1, None)}.get(counts[0], (None, None))
        if least is None:
            least = int(counts[1])
            most = least if counts[2] is None else int(counts[3]) if counts[3] else None
        if max(least, most or 0) > _MOST_COPIES:
            raise UndecidedError(f"{counts[0]} repeats too often")
        lazy, possessive = self._take("?"), self._take("+")
        if possessive and read is None:
            raise UndecidedError("a possessive group")
        stop = read if possessive else None
        return lambda: self._emit_repeat(atom, least, most, stop, lazy=lazy)

    def _emit_repeat(self, atom: Emit, least: int, most: int | None, stop: int | None, *, lazy: bool) -> None:
        for _ in range(least):
            atom()
        forks = []
        for _ in range(1 if most is None else most - least):
            forks.append(self._emit("fork"))
            atom()
        if most is None:  # back to the only fork
            self._emit("fork", 0, forks[0], forks[0])
        done = None if stop is None else self._emit("fork")  # all copies read: nothing is forbidden after them
        leave = len(self._ops)
        if stop is not None and done is not None:
            self._emit("unless", stop)
            after = leave if most is None else leave + 1
            self._ops[done] = _Op("fork", 0, after, after)
        for fork in forks:
            self._ops[fork] = _Op("fork", 0, *((leave, fork + 1) if lazy else (fork + 1, leave)))

    def _atom(self) -> tuple[Emit, int | None]:
        """Return what emits an atom, and its set if it is one."""
        if self._take("(?!"):
            return self._look("unless"), None
        if self._take("(?="):
            return self._look("if"), None
        # Elsewhere engines disagree on whether the end of a line is meant.
        if self._pattern.endswith(r"\s++", 0, self._at) and self._take("$"):
            return lambda: self._emit("end"), None
        if self._take("("):
            return self._group(), None
        read = self._set()
        return lambda: self._emit("read", read), read

    def _look(self, kind: str) -> Emit:
        read = self._set()
        if not self._take(")"):
            raise UndecidedError("a look at more than the next character")
        return lambda: self._emit(kind, read)

    def _group(self) -> Emit:
        flags = regex.compile(r"\?(i?)(-i)?:").match(self._pattern, self._at)
        if not flags:
            raise UndecidedError(f"the group ({self._pattern[self._at : self._at + 3]}")
        before, self._at = self._flags, flags.end()
        self._flags = "" if flags[2] else flags[1] or before
        inside = self._alternatives()
        self._flags = before
        if not self._take(")"):
            raise UndecidedError("a group without an end")
        return inside

    def _set(self) -> int:
        atom = regex.compile(
            r"\[(?:\\.(?:\{\w+\})?|\[:\^?\w+:\]|[^\[\]\\])+\]|\\[pP]\{\^?[\w=]+\}|\\[pP]\w|\\x\{?[0-9A-Fa-f]+\}?|\\[^bBAGKkQEXRhHzZ0-9]|[^\\\[\](){}*+?|^$]"
        ).match(self._pattern, self._at)
        if not atom or "&&" in atom[0] or "--" in atom[0]:
            raise UndecidedError(f"{self._pattern[self._at : self._at + 6]!r}")
        self._at = atom.end()
        return self._sets.setdefault(f"(?{self._flags}:{atom[0]})" if self._flags else atom[0], len(self._sets))


@cache
def every_code_point() -> str:
    """Return a text of all code points."""
    return "".join(map(chr, (*range(_SURROGATES.start), *range(_SURROGATES.stop, _CODE_POINTS))))


@dataclass(frozen=True)
class _Classes:
    """The code points that no set treats apart, by number."""

    members: list[int]
    """For each class a bit for each set that has it."""
    examples: list[tuple[str, ...]]
    numbers: NDArray[np.int64]
    """The class of each code point."""

    @classmethod
    def of(cls, sets: list[str]) -> _Classes:
        if len(sets) > _MOST_SETS:
            raise UndecidedError("too many sets of characters")
        every = every_code_point()
        bits: NDArray[np.int64] = np.zeros(len(every), dtype=np.int64)
        for number, one in enumerate(sets):
            for match in regex.finditer(f"(?:{one})+", every):
                bits[match.start() : match.end()] |= 1 << number
        members, classes = np.unique(bits, return_inverse=True)
        points = np.array([*range(_SURROGATES.start), *range(_SURROGATES.stop, _CODE_POINTS)])
        numbers = np.zeros(_CODE_POINTS, dtype=np.int64)
        numbers[points] = classes
        firsts = (points[classes == k][:_LOOKED_AT].tolist() for k in range(len(members)))
        return cls(members.tolist(), [tuple(_telling(map(chr, some))) for some in firsts], numbers)


def _telling(some: Iterable[str]) -> list[str]:
    """Put what ordinary texts have first: control characters are merged least."""
    return sorted(some, key=lambda char: (not char.isprintable() and char not in "\n\r\t", char))[:_SHOWN]


@dataclass
class _Machine:
    """Runs a program: a state is the tuple of its threads, the preferred one first."""

    ops: list[_Op]
    classes: _Classes
    steps: dict[Any, tuple[bool, tuple[int, ...]]] = field(default_factory=dict)

    def step(self, state: tuple[int, ...], read: int) -> tuple[bool, tuple[int, ...]]:
        """Return whether a match may end before this class, and the state after it."""
        if (state, read) not in self.steps:
            self.steps[state, read] = self._step(
                state, 0 if read == _END else self.classes.members[read], end=read == _END
            )
        return self.steps[state, read]

    def _step(self, state: tuple[int, ...], bits: int, *, end: bool) -> tuple[bool, tuple[int, ...]]:
        waiting, seen, after = [*reversed(state)], set[int](), list[int]()
        while waiting:
            at = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            kind, read, first, second = self.ops[at]
            inside = bool(bits >> read & 1)
            if kind == "match":
                return True, tuple(after)
            if kind == "fork":
                waiting += [second, first]
            elif kind == "read":
                after += [at + 1] * inside
            elif {"unless": not inside, "if": inside, "end": end}[kind]:
                waiting.append(at + 1)
        return False, tuple(after)


class _Run(NamedTuple):
    """A machine in the middle of a text: it guessed where matches ended, and what it then must not find any more."""

    threads: tuple[int, ...] = (0,)
    begun: bool = False
    """Whether the match has a code point already."""
    refuted_by: frozenset[tuple[int, ...]] = frozenset()
    """Threads of earlier matches that were preferred to the guessed end: if one of them matches, the guess is wrong."""

    def ways(self, machine: _Machine, read: int) -> Iterator[tuple[bool, _Run]]:
        """Yield whether a match is guessed to end before this class, and the run after it."""
        older = [machine.step(threads, read) for threads in self.refuted_by]
        if any(ends for ends, _ in older):
            return
        kept = {threads for _, threads in older if threads}
        ends, threads = machine.step(self.threads, read)
        if threads:
            yield False, _Run(threads, begun=True, refuted_by=frozenset(kept))
        if ends and self.begun:
            again = () if read == _END else machine.step((0,), read)[1]
            yield True, _Run(again, begun=True, refuted_by=frozenset(kept | {threads} if threads else kept))


def _is_whole(machine: _Machine, classes: _Classes) -> bool:
    """Return whether some match begins wherever the last one ended."""
    start: tuple[tuple[int, ...], bool] = ((0,), False)
    seen, queue = {start}, [start]
    while queue:
        threads, has = queue.pop()
        for read in (_END, *range(len(classes.members))):
            ends, after = machine.step(threads, read)
            if threads == (0,) and ends:
                raise UndecidedError("it matches empty text")
            now = (after, has or ends)
            if not now[1] and not (threads == (0,) and read == _END) and (read == _END or not after):
                return False
            if read != _END and after and now not in seen:
                seen.add(now)
                queue.append(now)
    return True


class _Crossing:
    """What tokens have around each place inside of them: the class before it, and all classes after it."""

    def __init__(self, tokens: Iterable[bytes], classes: _Classes) -> None:
        self.rows = set[tuple[int, ...]]()
        many = np.unique(classes.numbers[_ASCII:]).tolist()  # the classes of characters of several bytes
        for token in tokens:
            head = len(token) - len(token.lstrip(_INNER))
            whole = token[head:].decode(errors="ignore")
            word = tuple(classes.numbers[[*map(ord, whole)]].tolist())
            cut_off = head + len(whole.encode()) < len(token)
            for last in many if cut_off else [None]:
                row = word if last is None else (*word, last)
                self.rows.update(row[k:] for k in range(len(row) - 1))
                self.rows.update((first, *row) for first in (many if head and row else ()))
        self.beginnings = {row[:k] for row in self.rows for k in range(1, len(row) + 1)}

    def read(self, place: _Place, cuts: tuple[bool, bool], read: int) -> frozenset[tuple[int, tuple[int, ...]]]:
        """Follow the tokens that may cross an earlier cut, or one of only one machine before this class."""
        rows = [at for at in place.crossing if not cuts[at[0]]] + [(int(cuts[0]), (place.last,))] * (cuts[0] != cuts[1])
        return frozenset((side, (*row, read)) for side, row in rows if (*row, read) in self.beginnings)


class _Place(NamedTuple):
    """Both machines in the middle of a text."""

    one: _Run
    other: _Run
    last: int
    """The class read last."""
    differ: bool
    crossing: frozenset[tuple[int, tuple[int, ...]]]
    """Beginnings of tokens that may cross a cut of the other machine, and which machine has no cut there."""


def _walk(one: _Machine, other: _Machine, classes: _Classes, crossing: _Crossing | None) -> Word:
    """Read every text with both machines at once, the shortest ones first."""
    if not (_is_whole(one, classes) and _is_whole(other, classes)):
        raise UndecidedError("it leaves gaps between its matches")
    start = _Place(_Run(), _Run(), _END, differ=False, crossing=frozenset())
    before: dict[_Place, _Place | None] = {start: None}
    queue = deque([start])
    while queue:
        place = queue.popleft()
        for read in (_END, *range(len(classes.members))):
            for (a_ends, a), (b_ends, b) in product(place.one.ways(one, read), place.other.ways(other, read)):
                if read == _END:
                    if a_ends and b_ends and place.differ:
                        return _word(before, place, classes)
                    continue
                differ = place.differ or (crossing is None and a_ends != b_ends)
                nodes = crossing.read(place, (a_ends, b_ends), read) if crossing and not differ else frozenset()
                if crossing and any(row in crossing.rows for _, row in nodes):
                    differ, nodes = True, frozenset()
                after = _Place(a, b, read, differ, nodes)
                if after not in before:
                    before[after] = place
                    queue.append(after)
        if len(before) > _MOST_STATES:
            raise UndecidedError("too many states")
    return ()


def _word(before: dict[_Place, _Place | None], place: _Place | None, classes: _Classes) -> Word:
    word = []
    while place is not None and place.last != _END:
        word.append(classes.examples[place.last])
        place = before[place]
    return tuple(reversed(word))
