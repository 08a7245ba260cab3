"""The shortest text that makes a mark where it is written, or the proof that there is none."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

from tokbench_identity.inject.machines import Machine, alphabet

MOST_STATES: Final = 40_000
_MADE: Final = -1
"""The state after a mark, whatever follows."""


@dataclass
class Marks:
    """Finds marks in a text: the automaton of Aho and Corasick."""

    words: tuple[str, ...]
    _next: list[dict[str, int]] = field(default_factory=lambda: [{}])
    _fail: list[int] = field(default_factory=lambda: [0])
    longest: list[int] = field(default_factory=lambda: [0])
    """For each state, how long the longest mark is that ends there."""

    def __post_init__(self) -> None:
        for word in self.words:
            state = 0
            for char in word:
                if char not in self._next[state]:
                    self._next[state][char] = len(self._next)
                    self._next.append({})
                    self._fail.append(0)
                    self.longest.append(0)
                state = self._next[state][char]
            self.longest[state] = max(self.longest[state], len(word))
        waiting = deque(self._next[0].values())
        while waiting:
            state = waiting.popleft()
            for char, child in self._next[state].items():
                self._fail[child] = self.step(self._fail[state], char)
                self.longest[child] = max(self.longest[child], self.longest[self._fail[child]])
                waiting.append(child)

    @cached_property
    def most(self) -> int:
        """The length of the longest mark."""
        return max(map(len, self.words), default=0)

    @property
    def states(self) -> range:
        return range(len(self._next))

    def step(self, state: int, char: str) -> int:
        """Return the next state.

        >>> marks = Marks(("<s>", "s>x"))
        >>> state = 0
        >>> for char in "<s>":
        ...     state = marks.step(state, char)
        >>> marks.longest[state], marks.longest[marks.step(state, "x")]
        (3, 3)
        """
        while state and char not in self._next[state]:
            state = self._fail[state]
        return self._next[state].get(char, 0)


class PlaceInText(NamedTuple):
    """Where a template writes a text: after what, through which machines, before what."""

    before: str
    machines: tuple[Machine, ...]
    after: str
    open: bool
    """Whether the text is also written so near before it that a mark may begin there."""


class Search:
    """Candidates of a place, the shortest first; ``ended`` says that there is none beyond those.

    >>> from tokbench_identity.inject.machines import Replaced
    >>> marks = Marks(("<x>",))
    >>> list(Search(PlaceInText("<", (), ">", False), marks).candidates(8))[0]
    'x'
    >>> next(Search(PlaceInText("", (Replaced("<x>", ""),), "", False), marks).candidates(8))
    '<<x>x>'
    >>> search = Search(PlaceInText("", (Replaced("<", "&lt;"),), "", False), marks)
    >>> list(search.candidates(8)), search.ended
    ([], True)
    """

    def __init__(
        self, place: PlaceInText, marks: Marks, whole: Sequence[Machine] = (), most_states: int = MOST_STATES
    ) -> None:
        self.place, self.marks, self.states_left = place, marks, most_states
        self._own, self._whole = place.machines, tuple(whole)
        self.ended = False

    def candidates(self, most: int) -> Iterator[str]:  # noqa: C901 - one loop
        """Yield texts of at most so many characters that may write a mark; of two with one future, the first."""
        if not self.marks.words:
            self.ended = True
            return
        letters = alphabet((*self._own, *self._whole), self.marks.words)
        start = tuple(machine.start for machine in self._own)
        seen = {(start, whole, at) for whole, at in self._before()}
        waiting = deque((state, "") for state in seen)
        cut = False
        while waiting:
            (own, whole, at), text = waiting.popleft()
            if self._makes_at_end(own, whole, at):
                yield text
                if at == _MADE:
                    continue
            if len(text) >= most:
                cut = True
                continue
            for char in letters:
                for own_after, out in _push(self._own, own, char):
                    for after in self._write(whole, at, out):
                        key = (own_after, after.whole, _MADE if after.made else after.at)
                        if key not in seen:
                            seen.add(key)
                            waiting.append((key, text + char))
                            self.states_left -= 1
            if self.states_left < 0:
                return
        self.ended = not cut

    def _before(self) -> set[tuple[Any, int]]:
        """Return the states after the template's text before the place."""
        whole = tuple(machine.start for machine in self._whole)
        every = self.marks.states if self.place.open else range(1)
        return {
            (after.whole, after.at)
            for at in every
            for after in self._write(whole, at, self.place.before[-self.marks.most :])
        }

    def _write(self, whole: Any, at: int, out: str) -> list[_Written]:
        if at == _MADE:
            return [_Written((), at, made=True)]
        ways = ((state, *self._read(at, text)) for state, text in _push(self._whole, whole, out))
        return [_Written(state, here, longest > 0) for state, here, longest in ways]

    def _makes_at_end(self, own: Any, whole: Any, at: int) -> bool:
        """Tell whether a mark is made at the end of the text, or of it and the template's text after it."""
        for out in _finish(self._own, own):
            for after in self._write(whole, at, out):
                if after.made or self._made_across(after.whole, after.at):
                    return True
        return False

    def _made_across(self, whole: Any, at: int) -> bool:
        slack = sum(len("".join(machine.words())) for machine in self._whole)
        states = {(whole, at)}
        most = self.marks.most + slack
        for k, char in enumerate(self.place.after[:most], 1):
            before, states = states, set()
            for state, here in before:
                for after, text in _push(self._whole, state, char):
                    there, longest = self._read(here, text)
                    if longest > max(k - slack, 0):
                        return True
                    states.add((after, there))
        ends = len(self.place.after) < most
        return ends and any(self._read(at, out)[1] for whole, at in states for out in _finish(self._whole, whole))

    def _read(self, at: int, text: str) -> tuple[int, int]:
        """Return the state after a text, and how long the longest mark is that ends in it."""
        longest = 0
        for char in text:
            at = self.marks.step(at, char)
            longest = max(longest, self.marks.longest[at])
        return at, longest


class _Written(NamedTuple):
    whole: Any
    at: int
    made: bool


def _push(machines: Sequence[Machine], states: Any, text: str) -> list[tuple[Any, str]]:
    """Return the states of a chain after a text, each with what is written."""
    if not machines or not text:
        return [(states, text)]
    ways = [(states[0], "")]
    for char in text:
        ways = [(step.state, out + step.out) for state, out in ways for step in machines[0].step(state, char)]
    return [((first, *rest), written) for first, out in ways for rest, written in _push(machines[1:], states[1:], out)]


def _finish(machines: Sequence[Machine], states: Any) -> list[str]:
    """Return what a chain writes at the end of a text, by each way that may end."""
    if not machines:
        return [""]
    last = machines[0].end(states[0])
    if last is None:
        return []
    return [out + more for rest, out in _push(machines[1:], states[1:], last) for more in _finish(machines[1:], rest)]
