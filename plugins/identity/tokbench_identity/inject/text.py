"""Text that a template handles without knowing it: pieces stand for the user's text and for what was made of it.

A piece is one character of a private area of Unicode, so it passes through whatever leaves a text as it is. What
changes a text makes a new piece, whose machines say how. What asks about a text is answered both ways, one after the
other: each way through a template is followed, and the text of a piece is held to the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, NamedTuple, Self, SupportsIndex

from tokbench_identity.equal.patterns import UndecidedError
from tokbench_identity.inject.machines import (
    LOWER,
    PYTHON,
    UPPER,
    Answered,
    LeftStripped,
    Machine,
    Mapped,
    Parted,
    PartTaken,
    Replaced,
    RightStripped,
)

FIRST: Final = 0xF0000
MOST_WAYS: Final = 128


class UserPiece(NamedTuple):
    """The user's text, and the machines that it went through."""

    machines: tuple[Machine, ...] = ()


class _Condition(NamedTuple):
    machines: tuple[Machine, ...]
    guard: Answered


@dataclass
class Way:
    """One way through a template: the answers that lead there, and the pieces that were made."""

    given: Sequence[bool] = ()
    answers: list[bool] = field(default_factory=list)
    pieces: list[UserPiece] = field(default_factory=list)
    _known: dict[Any, bool] = field(default_factory=dict)
    _conditions: list[_Condition] = field(default_factory=list)

    def text(self) -> UserText:
        """Return the user's text."""
        return self.of(UserPiece())

    def of(self, piece: UserPiece) -> UserText:
        """Return a text of one piece."""
        if piece not in self.pieces:
            self.pieces.append(piece)
        return UserText(chr(FIRST + self.pieces.index(piece)), self)

    def parts(self, text: str) -> Iterator[str | UserPiece]:
        """Yield what a text is made of: literal parts, none of them empty, and pieces."""
        literal = ""
        for char in str.__iter__(text):
            if FIRST <= ord(char) < FIRST + len(self.pieces):
                if literal:
                    yield literal
                literal = ""
                yield self.pieces[ord(char) - FIRST]
            else:
                literal += char
        if literal:
            yield literal

    def join(self, parts: Iterable[str | UserPiece]) -> UserText:
        """Return a text of parts."""
        return UserText("".join(self.of(part) if isinstance(part, UserPiece) else part for part in parts), self)

    def ask(self, piece: UserPiece | None, question: str, word: str, *, usual: bool = False) -> bool:
        """Answer a question about a piece as this way does; ``None`` for what no piece alone answers."""
        key = (piece, question, word)
        if key not in self._known:
            at = len(self.answers)
            self._known[key] = self.given[at] if at < len(self.given) else usual
            self.answers.append(self._known[key])
            if piece is not None:
                self._conditions.append(_Condition(piece.machines, Answered(question, word, self._known[key])))
        return self._known[key]

    def guarded(self, piece: UserPiece) -> tuple[Machine, ...]:
        """Return the machines of a piece, with the answers of this way as guards at their places."""
        machines = list[Machine]()
        for at in range(len(piece.machines) + 1):
            so_far = piece.machines[:at]
            machines += [held.guard for held in self._conditions if held.machines == so_far]
            machines += piece.machines[at : at + 1]
        return tuple(machines)


class _Number:
    """A length or a place in an unknown text: what is asked of it is answered both ways."""

    def __init__(self, way: Way, name: str) -> None:
        self._way, self._name = way, name

    def _compare(self, other: object) -> bool:
        return self._way.ask(None, self._name, repr(other))

    def _usual(self, other: object) -> bool:
        return self._way.ask(None, self._name, f">{other!r}", usual=True)

    __lt__ = __le__ = __eq__ = _compare
    __gt__ = __ge__ = __ne__ = _usual
    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return self._usual(0)

    def __index__(self) -> int:
        raise UndecidedError("counts with the length of the text")

    __int__ = __float__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __mod__ = __index__


class _Split(list[Any]):
    """What is between separators: how many parts there are depends on the text."""

    def __init__(self, parts: Callable[[int], UserText]) -> None:
        super().__init__()
        self._parts = parts

    def __getitem__(self, at: Any) -> Any:
        if not isinstance(at, int):
            raise UndecidedError("takes several parts of the text")
        return self._parts(at)

    def __len__(self) -> int:
        raise UndecidedError("counts the parts of the text")

    def __iter__(self) -> Iterator[Any]:
        raise UndecidedError("loops over the parts of the text")


class UserText(str):  # noqa: SLOT000 - it has a way
    """A text with pieces of a way."""

    way: Way
    safe = False
    """Whether Jinja takes it for HTML, and escapes what is added to it."""

    def __new__(cls, value: str, way: Way) -> Self:
        made = super().__new__(cls, value)
        made.way = way
        return made

    @property
    def unknown(self) -> bool:
        """Whether it has a piece."""
        return any(ord(char) >= FIRST for char in str.__iter__(self))

    @property
    def _key(self) -> str:
        return str.__str__(self)

    @property
    def _parts(self) -> list[str | UserPiece]:
        return list(self.way.parts(str.__str__(self)))

    def through(self, machine: Mapped) -> UserText:
        """Return what a machine that knows no neighbours makes of it."""
        return self.way.join(
            UserPiece((*part.machines, machine))
            if isinstance(part, UserPiece)
            else "".join(map(machine.function, part))
            for part in self._parts
        )

    def _crossing(self, word: str) -> bool:
        """Tell whether a word may be partly in a piece and partly next to it."""
        parts = self._parts
        if len(parts) <= 1 or len(word) <= 1:
            return False
        literals = [part for part in parts if isinstance(part, str)]
        pieces = any(isinstance(a, UserPiece) and isinstance(b, UserPiece) for a, b in pairwise(parts))
        starts = any(text.endswith(word[:k]) for text in literals for k in range(1, len(word)))
        ends = any(text.startswith(word[k:]) for text in literals for k in range(1, len(word)))
        return pieces or starts or ends or any(text in word for text in literals)

    def __contains__(self, word: object) -> bool:
        if isinstance(word, UserText) and word.unknown:
            raise UndecidedError("looks for one part of the text in another")
        text = str(word)
        if any(text in part for part in self._parts if isinstance(part, str)):
            return True
        if any(self.way.ask(part, "contains", text) for part in self._parts if isinstance(part, UserPiece)):
            return True
        return self._crossing(text) and self.way.ask(None, "contains", f"{self._key}{text}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, str):
            return False
        if str.__eq__(self, other):
            return True
        if isinstance(other, UserText) and other.unknown and self.unknown:
            return self.way.ask(None, "equals", f"{self._key}{str.__str__(other)}")
        return other._equals(self) if isinstance(other, UserText) and other.unknown else self._equals(other)

    def _equals(self, word: str) -> bool:
        parts = self._parts
        first, last = parts[0] if parts else "", parts[-1] if parts else ""
        literal = "".join(part for part in parts if isinstance(part, str))
        if len(parts) == 1 and isinstance(first, UserPiece):
            return self.way.ask(first, "equals", word)
        if len(literal) > len(word) or not self.unknown:
            return False
        if (isinstance(first, str) and not word.startswith(first)) or (
            isinstance(last, str) and not word.endswith(last)
        ):
            return False
        return self.way.ask(None, "equals", f"{self._key}{word}")

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    def __bool__(self) -> bool:
        parts = self._parts
        if any(isinstance(part, str) for part in parts):
            return True
        return any(not self.way.ask(part, "equals", "") for part in parts if isinstance(part, UserPiece))

    def __str__(self) -> str:
        return self

    def __repr__(self) -> str:
        return f"'{str.__str__(self.through(PYTHON))}'" if self.unknown else str.__repr__(self)

    def __add__(self, other: str) -> UserText:
        return UserText(str.__add__(self, other), self.way)

    def __radd__(self, other: str) -> UserText:
        return UserText(str.__add__(other, self), self.way)

    def __mod__(self, values: Any) -> UserText:
        return UserText(str.__mod__(self, values), self.way)

    def __rmod__(self, form: str) -> UserText:
        return UserText(str.__mod__(form, str.__str__(self)), self.way)

    def __getitem__(self, at: SupportsIndex | slice) -> UserText:
        if self.safe:
            raise UndecidedError("takes a part of HTML")
        if not self.unknown or not isinstance(at, int | slice | _Number):
            return UserText(str.__getitem__(self, at), self.way)
        parts = self._parts
        if isinstance(at, slice) and at.step is None and (kept := self._edges_cut(parts, at.start or 0, at.stop)):
            return kept
        [piece, *others] = parts
        if others or not isinstance(piece, UserPiece):
            raise UndecidedError("cuts out a part of the text and of what is next to it")
        machine = PartTaken()
        if isinstance(at, slice) and at.step is None:
            start, stop = at.start or 0, at.stop
            if isinstance(start, int) and start >= 0 and stop is None:
                machine = PartTaken(drop=start)
            elif isinstance(stop, int) and stop >= 0 and start == 0:
                machine = PartTaken(keep=stop)
        return self.way.of(UserPiece((*piece.machines, machine)))

    def _edges_cut(self, parts: list[str | UserPiece], start: Any, stop: Any) -> UserText | None:
        """Return the text without so many characters at its ends, if these are the template's."""
        first, last = parts[0], parts[-1]
        left = isinstance(start, int) and 0 <= start <= (len(first) if isinstance(first, str) else 0)
        stop = 0 if stop is None else stop
        right = isinstance(stop, int) and 0 <= -stop <= (len(last) if isinstance(last, str) else 0)
        return (
            UserText(str.__getitem__(self, slice(start, stop or None)), self.way) if left and right and parts else None
        )

    def length(self) -> int | _Number:
        """Return its length, or what is asked instead."""
        return _Number(self.way, f"length {self._key}") if self.unknown else str.__len__(self)

    def startswith(self, prefix: Any, *_: Any) -> bool:
        return any(self._at_edge("starts", word) for word in (prefix if isinstance(prefix, tuple) else (prefix,)))

    def endswith(self, suffix: Any, *_: Any) -> bool:
        return any(self._at_edge("ends", word) for word in (suffix if isinstance(suffix, tuple) else (suffix,)))

    def _at_edge(self, question: str, word: str) -> bool:
        parts = self._parts if question == "starts" else self._parts[::-1]
        if not parts or not word:
            return not word
        if isinstance(parts[0], UserPiece):
            return self.way.ask(parts[0] if len(parts) == 1 else None, question, word)
        edge = parts[0]
        same = edge.startswith(word) if question == "starts" else edge.endswith(word)
        within = word.startswith(edge) if question == "starts" else word.endswith(edge)
        return same or (len(parts) > 1 and within and self.way.ask(None, question, f"{self._key}{word}"))

    def lstrip(self, chars: str | None = None) -> UserText:
        return self._stripped(self._parts, chars, 1)

    def rstrip(self, chars: str | None = None) -> UserText:
        return self._stripped(self._parts, chars, -1)

    def strip(self, chars: str | None = None) -> UserText:
        return self.lstrip(chars).rstrip(chars)

    def _stripped(self, parts: list[str | UserPiece], chars: str | None, side: int) -> UserText:
        """Strip one side. A piece of white space alone is left out only if the template looked; both are one text."""
        ordered = parts[::side]
        for at, part in enumerate(ordered):
            if isinstance(part, UserPiece):
                machine = LeftStripped(chars) if side == 1 else RightStripped(chars)
                ordered[at] = stripped = UserPiece((*part.machines, machine))
                rest = ordered[at + 1 :]
                if rest and self.way.ask(stripped, "equals", ""):
                    return self._stripped(rest[::side], chars, side)
                break
            left = part.lstrip(chars) if side == 1 else part.rstrip(chars)
            ordered[at] = left
            if left:
                break
        return self.way.join(ordered[::side])

    def removeprefix(self, prefix: str) -> UserText:
        return self._removed("starts", prefix, PartTaken(drop=len(prefix)))

    def removesuffix(self, suffix: str) -> UserText:
        return self._removed("ends", suffix, PartTaken())

    def _removed(self, question: str, word: str, machine: PartTaken) -> UserText:
        if not self._at_edge(question, word):
            return self
        [piece, *others] = self._parts
        if others or not isinstance(piece, UserPiece):
            raise UndecidedError("removes an end of the text and of what is next to it")
        return self.way.of(UserPiece((*piece.machines, machine)))

    def replace(self, old: str, new: str, count: SupportsIndex = -1) -> UserText:
        if not old or self._crossing(old) or any(isinstance(word, UserText) and word.unknown for word in (old, new)):
            raise UndecidedError("replaces where the text and the template meet, or by the text itself")
        if not self.unknown or count == 0:
            return UserText(str.replace(self, old, new, count), self.way)
        if int(count) >= 0 and len(self._parts) > 1:
            raise UndecidedError("replaces a number of times in several parts")
        machine = Replaced(str(old), str(new), int(count))
        return self.way.join(
            UserPiece((*part.machines, machine)) if isinstance(part, UserPiece) else part.replace(old, new)
            for part in self._parts
        )

    def split(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> Any:
        if not self.unknown:
            return [UserText(part, self.way) for part in str.split(self, sep, maxsplit)]
        if sep is None:
            raise UndecidedError("splits the text at white space")
        if sep not in self:
            return [self]
        if self._crossing(sep):
            raise UndecidedError("splits where the text and the template meet")
        return _Split(lambda at: self._part_of_split(sep, at, first_only=int(maxsplit) == 1))

    def rsplit(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> Any:
        if int(maxsplit) >= 0 and self.unknown:
            raise UndecidedError("splits the text from the right")
        return self.split(sep)

    def partition(self, sep: str) -> tuple[UserText, UserText, UserText]:
        parts = self.split(sep, 1)
        none = UserText("", self.way)
        return (
            (parts[0], none, none) if not isinstance(parts, _Split) else (parts[0], UserText(sep, self.way), parts[-1])
        )

    def _part_of_split(self, sep: str, at: int, *, first_only: bool) -> UserText:
        if at not in (0, -1) and not (first_only and at == 1):
            [piece, *others] = self._parts
            if others or not isinstance(piece, UserPiece):
                raise UndecidedError("takes a middle part of the text and of what is next to it")
            return self.way.of(UserPiece((*piece.machines, PartTaken(), Answered("contains", sep, wanted=False))))
        from_left = at == 0 or first_only
        kept = list[str | UserPiece]()
        parts = self._parts if from_left else self._parts[::-1]
        for number, part in enumerate(parts):  # noqa: B007 - where it ends is used below
            if isinstance(part, str) and sep not in part:
                kept.append(part)
            elif isinstance(part, str):
                before, after = part.split(sep, 1) if from_left else part.rsplit(sep, 1)
                found: list[str | UserPiece] = [before if at == 0 else after]
                break
            elif self.way.ask(part, "contains", sep):
                side = "before" if at == 0 else "after first" if first_only else "after last"
                found = [UserPiece((*part.machines, Parted(sep, side)))]
                break
            else:
                kept.append(part)
        else:
            return self
        if at == 0:
            return self.way.join([*kept, *found])
        return self.way.join([*found, *(parts[number + 1 :] if from_left else kept[::-1])])

    def upper(self) -> UserText:
        return self.through(UPPER)

    def lower(self) -> UserText:
        return self.through(LOWER)

    def join(self, texts: Iterable[Any]) -> UserText:
        if self.unknown:
            raise UndecidedError("joins texts by the text")
        return UserText(str.join(self, map(str, texts)), self.way)

    def format(self, *values: Any, **named: Any) -> UserText:
        return UserText(str.format(str.__str__(self), *values, **named), self.way)

    def isspace(self) -> bool:
        return self.way.ask(None, "isspace", f"{self._key}") if self.unknown else str.isspace(self)

    def count(self, *words: Any) -> Any:
        return _Number(self.way, f"count {self._key} {words!r}") if self.unknown else str.count(self, *words)

    find = index = rfind = rindex = count


def _refusing(name: str) -> Callable[..., Any]:
    own = getattr(str, name)

    def refuse(self: UserText, *args: Any, **kwargs: Any) -> Any:
        if self.unknown:
            raise UndecidedError(f"does {name.strip('_')!r} with the text")
        return own(self, *args, **kwargs)

    refuse.__name__ = name
    return refuse


for _name in {*dir(str), "__iter__"} - {*vars(UserText), *dir(object)} - {"__getnewargs__", "__len__"}:
    setattr(UserText, _name, _refusing(_name))
for _name in ("__lt__", "__le__", "__gt__", "__ge__"):
    setattr(UserText, _name, _refusing(_name))


def ways(follow: Callable[[Way], Any]) -> Iterator[tuple[Way, Any]]:
    """Follow a template on each way, and yield the ways with what it returned.

    Raises:
        UndecidedError: there are too many.

    >>> def template(way):
    ...     text = way.text()
    ...     return "none" if "<" in text else "some"
    >>> [(way.answers, out) for way, out in ways(template)]
    [([False], 'some'), ([True], 'none')]
    """
    waiting: list[list[bool]] = [[]]
    for _ in range(MOST_WAYS):
        if not waiting:
            return
        given = waiting.pop()
        way = Way(given)
        out = follow(way)
        yield way, out
        waiting += [[*way.answers[:at], not way.answers[at]] for at in range(len(given), len(way.answers))]
    if waiting:
        raise UndecidedError(f"asks so much about the text that there are more than {MOST_WAYS} ways")
