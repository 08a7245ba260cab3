"""Where and why two tokenizers differ in a text: the one place that decides it, for every command."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tokbench.plugin import HasTokenBytes, HasUnknown, Tokenizer
from tokbench_identity.pins.cut import form_of

if TYPE_CHECKING:
    from tokbench_identity.equal.recipe import StageComparison

_AROUND: Final = 24
"""Bytes of text shown before and after a place."""


class Cause(StrEnum):
    """The stage that is the likely cause of other ids."""

    SPACE = "prefix space"
    NORMALIZER = "normalizer"
    SPLIT = "split"
    MERGES = "merges"
    TOKEN = "token"  # noqa: S105 - no password
    IDS = "ids"
    UNKNOWN_TOKEN = "unknown token"  # noqa: S105 - no password
    ADDED = "added tokens"
    MARKS = "marks"
    SIZE = "size"
    UNKNOWN = "unknown"


class TokenReading(NamedTuple):
    """How a text is cut."""

    surface: bytes | None
    """The bytes of the tokens in a row; ``None`` if they are not known."""
    ends: Sequence[int]
    """The byte at which each token ends."""
    form: str = "="
    """What the surface is of the text, as in the cuts of pins."""
    whole: bool = True
    """Whether all ends are known."""

    def pieces(self, at: int, until: int) -> tuple[str, ...]:
        """Return the tokens around some bytes."""
        if self.surface is None:
            return ()
        first, last = max(0, at - _AROUND), until + _AROUND
        spans = [(start, end) for start, end in pairwise([0, *self.ends]) if end > first and start < last]
        return tuple(shown(self.surface[start:end]) for start, end in spans)


class Place(NamedTuple):
    """The first place in which two readings of a text differ."""

    cause: Cause
    byte: int | None
    """``None`` if cuts are the same, or the place is not known."""
    one: tuple[str, ...] = ()
    """The tokens there."""
    other: tuple[str, ...] = ()


def shown(data: bytes) -> str:
    """Return bytes as text."""
    return data.decode("utf-8", "backslashreplace")


def notes_of(tokenizer: Any) -> tuple[str, ...]:
    """Return what a loader says of a file, such as a setting that changes no ids here."""
    return tuple(getattr(tokenizer, "notes", ()))


def notes_of_pair(pair: Iterable[Any]) -> tuple[str, ...]:
    """Return what a loader says of the files of A and B."""
    return tuple(f"{name}: {note}" for name, some in zip("AB", pair, strict=True) for note in notes_of(some))


def pieces_of_ids(tokenizer: Any, ids: Sequence[int]) -> list[bytes]:
    """Return the bytes of each id; what it decodes to if the tokenizer does not give them."""
    if isinstance(tokenizer, HasTokenBytes):
        return [tokenizer.token_bytes(token_id) for token_id in ids]
    return [tokenizer.decode([token_id]).encode("utf-8", "replace") for token_id in ids]


def reading(text: str, pieces: Sequence[bytes]) -> TokenReading:
    """Return how a text is cut into pieces."""
    surface = b"".join(pieces)
    return TokenReading(surface, [*accumulate(map(len, pieces))], form_of(text, surface))


def place_of_difference(one: TokenReading, other: TokenReading) -> Place:
    """Return where two readings with other ids differ, and the likely cause.

    >>> place_of_difference(TokenReading(b"abcdef", [2, 3, 6]), TokenReading(b"abcdef", [1, 3, 6]))
    Place(cause=<Cause.MERGES: 'merges'>, byte=1, one=('ab', 'c', 'def'), other=('a', 'bc', 'def'))
    """
    if one.form != other.form:
        at = 0 if one.surface is None or other.surface is None else _common_bytes(one.surface, other.surface)
        alike = one.form.strip("=+") == other.form.strip("=+")
        return Place(Cause.SPACE if alike else Cause.NORMALIZER, at, one.pieces(at, at), other.pieces(at, at))
    first = _first_difference(one, other)
    if first is None:
        return Place(Cause.IDS if one.whole and other.whole else Cause.UNKNOWN, None, (), other.pieces(0, 0))
    common = sorted({*one.ends} & {*other.ends})
    again = next((end for end in common if end >= first), max([*one.ends[-1:], *other.ends[-1:]]))
    surface = other.surface or b""
    ends = [end for end in {*one.ends} ^ {*other.ends} if first <= end <= again and 0 < end < len(surface)]
    split = bool(ends) and all(_classes_meet(surface, end) for end in ends)
    return Place(Cause.SPLIT if split else Cause.MERGES, first, one.pieces(first, again), other.pieces(first, again))


def place_of_ids(tokenizer: Tokenizer, text: str, *ids: Sequence[int]) -> Place:
    """Return where two lists of ids of one vocabulary differ in a text, and the likely cause.

    >>> import tokbench
    >>> place_of_ids(tokbench.load("utf8_bytes"), "Ab", [65, 98], [97, 98]).cause
    <Cause.NORMALIZER: 'normalizer'>
    >>> place_of_ids(tokbench.load("utf8_bytes"), "Abcd", [65, 98, 99, 100], [66, 99, 100, 101]).cause
    <Cause.IDS: 'ids'>
    """
    if any(not 0 <= k < tokenizer.vocab_size for some in ids for k in some):
        return Place(Cause.IDS, None)
    readings = [reading(text, pieces_of_ids(tokenizer, some)) for some in ids]
    pairs = [Counter(pairwise(some.surface or b"")) for some in readings]
    if any(some.form.startswith("~") for some in readings) and 2 * (pairs[0] & pairs[1]).total() < pairs[0].total():
        return Place(Cause.IDS, None)  # no normalizer makes such a text: the ids are of another vocabulary
    return place_of_difference(*readings)


def _first_difference(one: TokenReading, other: TokenReading) -> int | None:
    """Return the first byte where only one of two readings ends a token, as far as both are known."""
    for a, b in zip(one.ends, other.ends, strict=False):
        if a != b:
            return min(a, b)
    shorter, longer = sorted((one, other), key=lambda some: len(some.ends))
    if shorter.whole and len(longer.ends) > len(shorter.ends):
        return longer.ends[len(shorter.ends)]
    return None


def _common_bytes(one: bytes, other: bytes) -> int:
    shorter = min(len(one), len(other))
    return next((k for k in range(shorter) if one[k] != other[k]), shorter)


def _classes_meet(surface: bytes, at: int) -> bool:
    """Tell whether a split may cut here: where classes of characters meet, or among digits."""
    if surface[at] & 0xC0 == 0x80:  # noqa: PLR2004 - inside of a character no split cuts
        return False
    before = surface[:at].decode("utf-8", "replace")[-1:]
    after = surface[at : at + 8].decode("utf-8", "replace")[:1]
    kinds = _kind(before), _kind(after)
    return kinds[0] != kinds[1] or kinds[0] in {"N", "Z", "P"}


def _kind(char: str) -> str:
    category = unicodedata.category(char)
    if char.isspace():
        return "Z"
    if category[0] in "LM":
        return "Lu" if category == "Lu" else "L"
    return "N" if category[0] == "N" else "P"


class Why(NamedTuple):
    """The cause of other ids in a text, in words."""

    cause: Cause
    words: str


def why(pair: Sequence[Tokenizer], text: str, stages: StageComparison | None = None) -> Why:
    """Return why two tokenizers give other ids for a text.

    Args:
        pair: A and B.
        text: a text with other ids.
        stages: how their stages differ, as far as it is known.
    """
    ids = [list(map(int, tokenizer.encode(text))) for tokenizer in pair]
    for name, tokenizer, some in zip("AB", pair, ids, strict=True):
        if isinstance(tokenizer, HasUnknown) and tokenizer.unk_id in some:
            return Why(Cause.UNKNOWN_TOKEN, f"{name} does not know all of it")
    data = [pieces_of_ids(tokenizer, some) for tokenizer, some in zip(pair, ids, strict=True)]
    readings = [reading(text, pieces) for pieces in data]
    place = place_of_difference(*readings)
    if place.cause is Cause.SPACE:
        return Why(place.cause, f"{'A' if readings[0].form.startswith('+') else 'B'} puts a space before a text")
    if place.cause is Cause.NORMALIZER:
        return Why(place.cause, "; ".join(f"{n} {_read_as(some)}" for n, some in zip("AB", readings, strict=True)))
    for name, pieces, tokenizer in zip("AB", data, reversed(pair), strict=True):
        if lacking := {*pieces}.difference(pieces_of_ids(tokenizer, range(tokenizer.vocab_size))):
            return Why(Cause.TOKEN, f"only {name} has {shown(min(lacking))!r}")
    if stages and stages.only_cutter and place.cause is not Cause.IDS:
        stage = stages.only_cutter
        return Why(Cause(stage), stages.differing.get(stage, "all stages before them are the same"))
    words = {
        Cause.IDS: "the same pieces have different ids",
        Cause.MERGES: "likely: inside a word",
        Cause.SPLIT: "likely: no letters are at both sides of the other cuts",
    }
    return Why(place.cause, words[place.cause])


def _read_as(some: TokenReading) -> str:
    if some.form == "=":
        return "leaves the text as it is"
    named = not some.form.startswith(("+", "~"))
    return f"makes {some.form.upper()} of it" if named else f"reads {shown(some.surface or b'')!r}"


class MarkChange(NamedTuple):
    """A special token that differs."""

    name: str
    one: int | None
    other: int | None
    renamed: str = ""
    """The name that the same id has in the other tokenizer."""

    def between(self, one: str, other: str) -> str:
        """Return it in words, with names for the tokenizers."""
        if self.one is not None and self.other is not None:
            return f"{self.name} is {self.one} {one}, {self.other} {other}"
        if self.renamed:
            return f"{self.one} is {self.name} {one}, {self.renamed} {other}"
        return f"{self.name} is only {other if self.one is None else one}"


def changed_marks(one: Mapping[str, int], other: Mapping[str, int]) -> Iterator[MarkChange]:
    """Yield the special tokens that moved, were renamed, or are in one only.

    >>> [some.between("in A", "in B") for some in changed_marks({"<s>": 1, "<a>": 2, "<p>": 3}, {"<s>": 1, "<b>": 2})]
    ['2 is <a> in A, <b> in B', '<p> is only in A']
    """
    mine, others = _by_id(one), _by_id(other)
    renamed = {k: min(others[k]) for k in mine.keys() & others.keys() if not mine[k] & others[k]}
    for name, token_id in sorted(one.items(), key=lambda row: int(row[1])):
        if other.get(name) != token_id:
            yield MarkChange(name, token_id, other.get(name), renamed.get(int(token_id), ""))
    told = {renamed[k] for name, k in one.items() if name not in other and k in renamed}
    for name in sorted(other.keys() - one.keys() - told, key=lambda name: (other[name], name)):
        yield MarkChange(name, None, other[name])


def _by_id(marks: Mapping[str, int]) -> dict[int, set[str]]:
    names: dict[int, set[str]] = {}
    for name, token_id in marks.items():
        names.setdefault(int(token_id), set()).add(name)
    return names
