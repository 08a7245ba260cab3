r"""Whether two split patterns cut every text alike, decided exactly.

A pattern becomes a machine that reads one class of code points after the other, with its alternatives in order of
priority, as an engine tries them. Code points that no set of either pattern treats apart are one class. So all texts
are covered by the finitely many states of two machines that read the same text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import product
from math import inf
from typing import Any, Final, NamedTuple

import numpy as np
import regex

_END: Final = -1
"""The class that is read after the last code point."""

_ASCII: Final = 0x80
_INNER: Final = bytes(range(0x80, 0xC0))
"""The bytes of UTF-8 that begin no character."""

_SURROGATES: Final = (0xD800, 0xE000)

_MOST_SETS: Final = 62
_MOST_STATES: Final = 200_000
_LOOKED_AT: Final = 400
_SHOWN: Final = 12

_SET: Final = (
    r"\[(?:\\.(?:\{\w+\})?|\[:\^?\w+:\]|(?!&&|--)[^\[\]\\])+\]|\\[pP]\{\^?[\w=]+\}|\\[pP]\w|\\x\{?[0-9A-Fa-f]+\}?"
    r"|\\[^bBAGKkQEXRhHzZ0-9]|[^\\\[\](){}*+?|^$]"
)
# Only after \s++ all engines agree that $ is the end of the text.
_TOKEN: Final = regex.compile(
    rf"(?P<set>{_SET})|\(\?(?P<look>[!=])(?P<ahead>{_SET})(?:\+|\{{1(?:,\d*)?\}})?\)|\(\?(?P<group>i|-i|):|(?P<close>\))|(?P<or>\|)"
    r"|(?P<repeat>[?*+]|\{(?P<least>\d+)(?P<to>,(?P<most>\d*))?\})(?P<how>[?+]?)|(?P<end>(?<=\\s\+\+)\$)|(?P<other>.)",
    regex.DOTALL,
)


class UndecidedError(Exception):
    """A pattern has something that the machine cannot do."""


def compare_patterns(one: str, other: str, tokens: Iterable[bytes] | None = None) -> list[str]:
    r"""Return some shortest texts that two patterns cut differently; none if there are none.

    What lies between two matches is a chunk, too. With ``tokens`` a cut that no token can cross is no difference:
    merges would not cross it either.

    Raises:
        UndecidedError: a pattern has a lookbehind, a group that is captured, or the like.

    >>> compare_patterns(r"\s+(?!\S)|\s+|\S+", r"\s++$|\s+(?!\S)|\s|\S++")
    []
    >>> compare_patterns(r"\p{N}{1,2}|\P{N}", r"\p{N}{1,3}|\P{N}")[0]
    '000'
    >>> compare_patterns(r"\s+|\S+", r"\n|[^\S\n]+|\S+", [b"  ", b"a\n"])
    []
    """
    sets: dict[str, int] = {}
    trees = [_whole(_tree(_TOKEN.finditer(pattern), sets), sets) for pattern in (one, other)]
    classes = _Classes(list(sets))
    machines = [_Machine(tree, classes) for tree in trees]
    crossing = None if tokens is None else _Crossing(tokens, classes)
    return classes.texts(_walk(machines, crossing))


def differing_characters(one: str, other: str) -> list[str]:
    r"""Return the characters that a set of only one of two patterns has, and no other set of only one does.

    >>> differing_characters(r"[ab]+|c", r"[a]+|c")
    ['b']
    """
    sets: list[dict[str, int]] = [{}, {}]
    try:
        for pattern, some in zip((one, other), sets, strict=True):
            _tree(_TOKEN.finditer(pattern), some)
    except UndecidedError:
        return []
    odd = np.zeros(len(every_code_point()), dtype=bool)
    for name in sets[0].keys() ^ sets[1].keys():
        for start, end in _spans(name):
            odd[start:end] ^= True
    odd[slice(*_SURROGATES)] = False
    return [*map(chr, np.flatnonzero(odd).tolist())]


class _Node(NamedTuple):
    """A part of a pattern: a set to read, or to look at; the end of a text or a gap; alternatives; a repetition."""

    kind: str
    set: int = 0
    branches: tuple[Thread, ...] = ()
    least: int = 0
    most: float = 0

    def ways(self) -> Sequence[Thread]:
        """Return what alternatives or a repetition may be, the preferred one first."""
        if self.kind == "any":
            return self.branches
        if not self.most:
            return [()]
        more = (*self.branches[0], self._replace(least=max(self.least - 1, 0), most=self.most - 1))
        if self.least:
            return [more]
        if self.kind == "possessive":
            if self.branches[0][0].kind != "read":
                raise UndecidedError("a possessive group")
            return [more, (_Node("unless", self.set),)]
        return [(), more] if self.kind == "lazy" else [more, ()]


Thread = tuple[_Node, ...]
"""What of a pattern has yet to match."""

State = tuple[Thread, ...]
"""All ways to match, the preferred one first."""


def _tree(tokens: Iterator[Any], sets: dict[str, int], flags: str = "") -> _Node:
    """Read a pattern, or a group to its end, in the part of the regular expressions that splits are written in."""
    branches: list[list[_Node]] = [[]]
    for token in tokens:
        if token["close"]:
            break
        if token["or"]:
            branches.append([])
        elif token["group"] is not None:
            branches[-1].append(_tree(tokens, sets, {"i": "i", "-i": ""}.get(token["group"], flags)))
        elif token["repeat"]:
            branches[-1].append(_repeated(branches[-1].pop(), token))
        elif token["end"]:
            branches[-1].append(_Node("end"))
        elif token["other"]:
            raise UndecidedError(repr(token.string[token.start() : token.start() + 6]))
        else:
            kind = {"!": "unless", "=": "if", None: "read"}[token["look"]]
            text = token["set"] or token["ahead"]
            branches[-1].append(_Node(kind, sets.setdefault(f"(?{flags}:{text})", len(sets))))
    return _Node("any", branches=tuple(map(tuple, branches)))


def _whole(tree: _Node, sets: dict[str, int]) -> _Node:
    """Return the tree of a whole pattern: after it no part of a branch has to give back; what it skips is a gap."""
    branches = [branch for branch in tree.branches if branch]
    ended = [
        (*branch[:-1], branch[-1]._replace(kind={"possessive": "greedy"}.get(branch[-1].kind, branch[-1].kind)))
        for branch in branches
    ]
    if len(branches) < len(tree.branches):
        raise UndecidedError("it matches empty text")
    gap = (_Node("read", sets.setdefault(r"(?:[\s\S])", len(sets))), _Node("gap"))
    return tree._replace(branches=(*ended, gap))


def _repeated(node: _Node, token: Any) -> _Node:
    kind = {"": "greedy", "?": "lazy", "+": "possessive"}[token["how"]]
    least = int(token["least"] or token["repeat"] == "+")
    most = "1" if token["repeat"] == "?" else token["most"] if token["to"] else token["least"]
    return _Node(kind, node.set, ((node,),), least, int(most) if most else inf)


@cache
def every_code_point() -> str:
    """Return a text of all code points, each at its place."""
    return "".join(map(chr, range(0x110000)))


@lru_cache(1_000)
def _spans(one: str) -> list[tuple[int, int]]:
    return [match.span() for match in regex.finditer(f"{one}+", every_code_point())]


class _Classes:
    """The code points that no set treats apart, by number."""

    def __init__(self, sets: Sequence[str]) -> None:
        if len(sets) > _MOST_SETS:
            raise UndecidedError("too many sets of characters")
        spans = [_spans(one) for one in sets]
        ends = sorted(
            {0, len(every_code_point()), *_SURROGATES, *(end for some in spans for span in some for end in span)}
        )
        bits = np.zeros(len(ends) - 1, dtype=np.int64)
        for number, some in enumerate(spans):
            for start, end in np.searchsorted(ends, some).tolist():
                bits[start:end] |= 1 << number
        first, after = np.searchsorted(ends, _SURROGATES).tolist()
        bits[first:after] = bits[after]  # surrogates are in no text
        members, numbers = np.unique(bits, return_inverse=True)
        self.of = np.repeat(numbers, np.diff(ends))
        self.members: list[int] = members.tolist()
        """For each class a bit for each set that has it."""

    def texts(self, word: Sequence[int]) -> list[str]:
        """Return texts of these classes. Control characters are last: they are merged least."""
        spans = [map(chr, np.flatnonzero(self.of == number)[:_LOOKED_AT].tolist()) for number in word]
        shown = [
            sorted(span, key=lambda char: (not char.isprintable() and char not in "\n\r\t", char)) for span in spans
        ]
        return [
            "".join(chars[(k + i * j) % min(len(chars), _SHOWN)] for i, chars in enumerate(shown))
            for k, j in product(range(_SHOWN if word else 0), repeat=2)
        ]


class _Machine:
    """Runs a pattern."""

    def __init__(self, tree: _Node, classes: _Classes) -> None:
        self.start: State = ((tree,),)
        self.reads = (_END, *range(len(classes.members)))
        self._members = [*classes.members, 0]  # the last one for the end
        self.step = cache(self._step)
        if any(self.step(self.start, read)[0] for read in self.reads):
            raise UndecidedError("it matches empty text")

    def _step(self, state: State, read: int) -> tuple[str, State]:
        """Return whether a match or a gap may end before this class, or neither, and the state after it."""
        waiting, seen, after = [*reversed(state)], set[Thread](), list[Thread]()
        while waiting:
            thread = waiting.pop()
            if thread in seen:
                continue
            seen.add(thread)
            if not thread or thread[0].kind == "gap":
                return "gap" if thread else "match", tuple(after)
            node, rest = thread[0], thread[1:]
            inside = bool(self._members[read] >> node.set & 1)
            if node.kind == "read":
                after += [rest] * inside
            elif node.kind in {"unless", "if", "end"}:
                waiting += [rest] * {"unless": not inside, "if": inside, "end": read == _END}[node.kind]
            else:
                waiting += [(*way, *rest) for way in reversed(node.ways())]
        return "", tuple(after)


class _Run(NamedTuple):
    """A machine in the middle of a text: it guessed where matches ended, and what it then must not find any more."""

    state: State
    refuted_by: frozenset[State] = frozenset()
    """States of earlier matches that were preferred to the guessed end: if one of them matches, the guess is wrong."""
    guess: str = ""
    """What comes after a character of a gap: more of the gap, or a match."""

    def ways(self, machine: _Machine, read: int) -> Iterator[tuple[bool, _Run]]:
        """Yield whether a chunk is guessed to end before this class, and the run after it."""
        older = [machine.step(state, read) for state in self.refuted_by]
        if any(ends for ends, _ in older):
            return
        kept = frozenset(state for _, state in older if state)
        ends, state = machine.step(self.state, read)
        if state and self.guess != "gap":
            yield False, _Run(state, kept, self.guess)
        if ends and self.guess in {"", ends}:
            after = machine.step(machine.start, read)[1]
            refuted_by = kept | {state} if state else kept
            if ends == "match":
                yield True, _Run(after, refuted_by)
            else:
                yield from ((then == "match", _Run(after, refuted_by, then)) for then in ("match", "gap"))


class _Crossing:
    """What tokens have around each place inside of them: the class before it, and all classes after it."""

    def __init__(self, tokens: Iterable[bytes], classes: _Classes) -> None:
        self.rows = set[tuple[int, ...]]()
        many = np.unique(classes.of[_ASCII:]).tolist()  # the classes of characters of several bytes
        for token in tokens:
            whole = token.lstrip(_INNER)
            text = whole.decode(errors="ignore")
            ways = [many] * (whole != token) + [[k] for k in classes.of[[*map(ord, text)]].tolist()]
            for row in product(*ways, *[many] * (len(text.encode()) < len(whole))):
                self.rows.update(row[k:] for k in range(len(row) - 1))
        self.beginnings = {row[:k] for row in self.rows for k in range(1, len(row) + 1)}

    def read(self, place: _Place, cuts: tuple[bool, bool], read: int) -> frozenset[tuple[int, tuple[int, ...]]]:
        """Follow the tokens that may cross an earlier cut, or one of only one machine before this class."""
        rows = [at for at in place.crossing if not cuts[at[0]]] + [(int(cuts[0]), (place.last,))] * (cuts[0] != cuts[1])
        return frozenset((side, (*row, read)) for side, row in rows if (*row, read) in self.beginnings)


class _Place(NamedTuple):
    """Both machines in the middle of a text."""

    runs: tuple[_Run, ...]
    last: int = _END
    """The class read last."""
    differ: bool = False
    crossing: frozenset[tuple[int, tuple[int, ...]]] = frozenset()
    """Beginnings of tokens that may cross a cut of the other machine, and which machine has no cut there."""


def _walk(machines: Sequence[_Machine], crossing: _Crossing | None) -> list[int]:
    """Read every text with both machines at once, the shortest ones first; return the classes of one that differs."""
    start = _Place(tuple(_Run(machine.start) for machine in machines))
    before: dict[_Place, list[int]] = {start: []}
    queue = [start]
    for place in queue:
        for read in machines[0].reads:
            steps = (run.ways(machine, read) for run, machine in zip(place.runs, machines, strict=True))
            for (a_ends, a), (b_ends, b) in product(*steps):
                if read == _END:
                    if place.differ:
                        return before[place]
                    continue
                nodes = crossing.read(place, (a_ends, b_ends), read) if crossing and not place.differ else frozenset()
                differs = any(row in crossing.rows for _, row in nodes) if crossing else a_ends != b_ends
                differ = place.differ or differs
                after = _Place((a, b), read, differ, frozenset() if differ else nodes)
                if after not in before:
                    before[after] = [*before[place], read]
                    queue.append(after)
        if len(queue) > _MOST_STATES:
            raise UndecidedError("too many states")
    return []
