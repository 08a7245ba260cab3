"""Whether a program is a tokenizer: it is asked for the ids of a kit over standard input and output."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from unicodedata import combining, normalize

from tokbench import InputError, TokbenchError
from tokbench.command import load_named
from tokbench.plugin import Tokenizer
from tokbench_identity.causes import Cause, pieces_of_ids, place_of_ids, shown
from tokbench_identity.kit import Kit, suspects

_SHOWN: Final = 5
_CHARACTERS: Final = 40
_IDS: Final = 8
_WAIT: Final = 120.0

Encode = Callable[[Sequence[str]], Sequence[Sequence[int]]]
"""Gives the ids of texts."""


class ConformFailure(NamedTuple):
    """A text with other ids."""

    text: str
    expected: list[int]
    got: list[int]

    def shown(self) -> str:
        """Return the text and the ids from the first that differs on, each cut where it is long.

        >>> ConformFailure("a" * 99, [1, 2, 3], [1, 3]).shown()
        "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'… from id 1 on: [2, 3] expected, [3] given"
        """
        pairs = zip(self.expected, self.got, strict=False)
        at = next((k for k, (a, b) in enumerate(pairs) if a != b), min(len(self.expected), len(self.got)))
        ids = (f"{some[at : at + _IDS]}{'…' if len(some) > at + _IDS else ''}" for some in (self.expected, self.got))
        more = "…" if len(self.text) > _CHARACTERS else ""
        return f"{self.text[:_CHARACTERS]!r}{more} from id {at} on: {' expected, '.join(ids)} given"


@dataclass(frozen=True)
class Conformance:
    """What an implementation fails, and which wrong version it is."""

    name: str
    texts: int
    failed: tuple[ConformFailure, ...]
    is_: tuple[str, ...] = ()
    """Wrong versions that give the same ids for every text of the kit."""
    like: tuple[str, ...] = ()
    """If there is none: those that give its ids for most of the failed texts."""
    noticed: int = 0
    """Wrong versions that the texts notice."""
    cause: str = ""
    """The likely cause of most failed texts; empty where the right tokenizer cannot be asked."""

    @property
    def conforms(self) -> bool:
        """Return whether all ids are right."""
        return not self.failed

    def sentence(self) -> str:
        """Return the answer in one sentence."""
        if self.conforms:
            return f"No difference from {self.name} in {self.texts} texts, which notice {self.noticed} known mistakes."
        count = f"It is not {self.name}: {len(self.failed)} of {self.texts} texts have other ids"
        if self.is_:
            return f"{count}. One mistake gives all its ids: {' or '.join(self.is_[:_SHOWN])}."
        if self.like:
            return f"{count}. One mistake gives most of its ids: {self.like[0]}."
        return f"{count}. Likely cause: {self.cause}." if self.cause else f"{count}."


def conform(kit: Kit, encode: Encode) -> Conformance:
    """Hold an implementation against a kit.

    Raises:
        InputError: the implementation gives no ids.

    >>> from tokbench_identity.kit import make_kit
    >>> kit = make_kit("utf8_bytes", most=9)
    >>> conform(kit, lambda texts: [list(text.encode()) for text in texts]).conforms
    True
    >>> conform(kit, lambda texts: [list(text.lower().encode()) for text in texts]).is_[0]
    'normalizer: lower case'
    """
    answers = [list(ids) for ids in encode([text.text for text in kit.texts])]
    rows = zip(kit.texts, answers, strict=True)
    failed = tuple(ConformFailure(row.text, row.ids, ids) for row, ids in rows if ids != row.ids)
    if not failed:
        return Conformance(kit.name, len(kit.texts), (), noticed=kit.noticed)
    try:
        right = load_named(kit.name)
    except TokbenchError:  # its package is not here: which texts fail is all that is known
        named = named_by(kit, {row.text for row in failed})
        return Conformance(kit.name, len(kit.texts), failed, tuple(named), noticed=kit.noticed)
    alike = _alike(kit, right, answers)
    most = max(alike.values(), default=0)
    best = tuple(words for words, count in alike.items() if count == most)
    causes = Counter(place_of_ids(right, row.text, row.expected, row.got).cause for row in failed)
    [(cause, _)] = causes.most_common(1)
    if _only_renumbered(right, kit, answers):
        cause = Cause.IDS
    whole = most == len(kit.texts)
    like = best * (not whole and most > 0)
    return Conformance(kit.name, len(kit.texts), failed, best * whole, like, kit.noticed, cause)


def _only_renumbered(right: Tokenizer, kit: Kit, answers: Sequence[list[int]]) -> bool:
    """Tell whether each right id has one other everywhere, of other letters, as no normalizer makes them."""
    other: dict[int, int] = {}
    for row, ids in zip(kit.texts, answers, strict=True):
        if len(ids) != len(row.ids) or any(other.setdefault(a, b) != b for a, b in zip(row.ids, ids, strict=True)):
            return False
    if any(not 0 <= k < right.vocab_size for k in other.values()):
        return True
    moved = [pieces_of_ids(right, pair) for pair in other.items() if pair[0] != pair[1]]
    return 2 * sum(_letters(a) == _letters(b) for a, b in moved) < len(moved)


def _letters(piece: bytes) -> str:
    text = normalize("NFKD", shown(piece)).casefold()
    return "".join(char for char in text if not combining(char) and not char.isspace())


def _alike(kit: Kit, right: Tokenizer, answers: Sequence[list[int]]) -> Mapping[str, int]:
    """Return for how many texts each wrong version gives these ids; only of those that explain a failed one."""
    counts = {}
    for mutant in suspects(right).mutants:
        ids = [mutant.model.encode(row.text) for row in kit.texts]
        if any(a == b != row.ids for a, b, row in zip(ids, answers, kit.texts, strict=True)):
            counts[str(mutant)] = sum(a == b for a, b in zip(ids, answers, strict=True))
    return counts


def named_by(kit: Kit, failed: Collection[str]) -> list[str]:
    """Return the wrong versions that are noticed by exactly these texts of a kit."""
    words = {words for row in kit.texts for words in row.notices}
    return [some for some in sorted(words) if all((some in row.notices) == (row.text in failed) for row in kit.texts)]


def program(command: str, wait: float = _WAIT) -> Encode:
    """Return what asks a program: a line ``{"text": …}`` in, a line ``{"ids": […]}`` out, for each text.

    Raises:
        InputError: when it is asked and does not start, ends early, takes longer, or writes other lines.
    """

    def encode(texts: Sequence[str]) -> list[list[int]]:
        asked = "".join(json.dumps({"text": text}) + "\n" for text in texts)
        try:
            done = subprocess.run(  # noqa: S603 - the user's own program
                shlex.split(command), input=asked.encode(), stdout=subprocess.PIPE, timeout=wait, check=False
            )
        except (OSError, ValueError) as error:
            raise InputError(f"{command!r} does not start: {error}; give a program and its arguments") from error
        except subprocess.TimeoutExpired as error:
            raise InputError(f"{command!r} took longer than {wait:g} s; it must end when its input ends") from error
        lines = done.stdout.decode("utf-8", "replace").splitlines()
        ids = [_ids(line, number) for number, line in enumerate(lines, 1)]
        if len(ids) != len(texts):
            raise InputError(f"{command!r} wrote {len(ids)} lines for {len(texts)} texts (exit code {done.returncode})")
        return ids

    return encode


def _ids(line: str, number: int) -> list[int]:
    try:
        content: Any = json.loads(line)
        ids = content["ids"]
        if not isinstance(ids, list) or not all(type(k) is int for k in ids):
            raise TypeError("ids are not integers")  # noqa: TRY301 - one message for all
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f'line {number} of the program is not {{"ids": [...]}}: {line[:60]!r} ({error})') from error
    return ids
