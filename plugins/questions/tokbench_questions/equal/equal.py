"""Whether two tokenizers are one function: proved, or the shortest text found in which they differ."""

from __future__ import annotations

import pickle
import time
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import Any, Final, Literal, cast

import numpy as np

import tokbench
from tokbench.plugin import HasTokenBytes, HasUnknown, Tokenizer, encode_batch
from tokbench_questions.equal.probes import probes
from tokbench_questions.equal.recipe import Difference, Recipe, compare_recipes, read_recipe

_BATCH: Final = 20_000
_KEPT: Final = 200
_SHRUNK: Final = 20
_FORMS: Final = ("NFC", "NFD", "NFKC", "NFKD")

Cause = Literal["normalizer", "prefix space", "split", "merges", "token", "ids", "unknown token", "added tokens"]


@dataclass(frozen=True)
class Counterexample:
    """A text with other ids."""

    text: str
    ids: tuple[list[int], list[int]]
    pieces: tuple[list[str], list[str]]
    cause: Cause
    why: str
    shortest: bool
    """Whether every shorter text was tried: of one code point, of all that Unicode has."""


@dataclass(frozen=True)
class Equality:
    """The answer, and what it was found by."""

    verdict: Literal["equal", "different", "unknown"]
    texts: int
    """Texts with the same ids that were tried."""
    not_proved: tuple[str, ...] = ()
    """Why there is no proof."""
    counterexample: Counterexample | None = None
    stopped: bool = False
    """Whether the time was over before all texts were tried."""

    def sentence(self, one: str, other: str) -> str:
        """Return the answer in one sentence."""
        if self.counterexample is not None:
            found = self.counterexample
            return (
                f"{one} and {other} differ: {found.text!r} has other ids, because of the {found.cause} ({found.why})."
            )
        if self.verdict == "equal":
            return f"{one} and {other} are proved equal: every text has the same ids."
        return f"{one} and {other} do not differ in {self.texts:,} texts; that is not proved for all."


def equal(one: str | Tokenizer, other: str | Tokenizer, *, minutes: float = 10.0) -> Equality:
    """Prove that two tokenizers give the same ids for every text, or find a short text where they do not.

    Args:
        one: a published name, ``backend:value``, a file, or a tokenizer.
        other: likewise.
        minutes: stop looking for a difference after this time.

    Returns:
        ``equal`` only with a proof: both are byte-level BPEs, and normalizer, split, tokens and merges are the same
        function, or both are copies of one tokenizer. ``unknown`` says in ``not_proved`` why there is none.

    >>> import tokbench
    >>> a, b = (tokbench.train(f"regex_bpe:{split}", ["the 12 thin things of 1234"], 266) for split in ("gpt2", "gpt4"))
    >>> equal(a, a).verdict
    'equal'
    >>> found = equal(a, b).counterexample
    >>> found.text, found.ids
    (' 1', ([257], [32, 49]))
    """
    first, second = tokbench.load(one), tokbench.load(other)
    if pickle.dumps(first) == pickle.dumps(second):
        return Equality("equal", 0)
    recipes = read_recipe(first), read_recipe(second)
    differences = _differences(recipes, same_engine=type(first) is type(second))
    unread = [f"{name}: {recipe}" for name, recipe in zip("AB", recipes, strict=True) if isinstance(recipe, str)]
    search = _Search(first, second, time.monotonic() + 60 * minutes)
    texts = search.run(differences)
    if texts:
        text = min((search.shrink(text) for text in texts), key=_simple)
        return Equality("different", search.tried, counterexample=search.explain(text, differences))
    reasons = (*unread, *(f"{found.stage}: {found.text}" for found in differences))
    return Equality("unknown" if reasons else "equal", search.tried, reasons, stopped=search.stopped)


def _differences(recipes: tuple[Recipe | str, Recipe | str], *, same_engine: bool) -> list[Difference]:
    one, other = recipes
    if isinstance(one, str) or isinstance(other, str):
        return []
    return compare_recipes(one, other, same_engine=same_engine)


def _simple(text: str) -> tuple[int, bool, int, str]:
    return len(text), not text.isprintable(), len(text.encode()), text


class _Search:
    """Looks for texts with other ids."""

    def __init__(self, one: Tokenizer, other: Tokenizer, end: float) -> None:
        self._both, self._end = (one, other), end
        self.tried, self.stopped = 0, False
        self._singles = False

    def run(self, differences: Sequence[Difference]) -> list[str]:
        """Return some of the first texts that differ, short ones first."""
        targeted = [text for difference in differences for text in difference.probes]
        for number, texts in enumerate(probes(*self._both)):
            found: list[str] = []
            for batch in self._batches(iter([*targeted, *texts]) if number == 1 else texts):
                found += self._differing(batch)
                if len(found) >= _KEPT or (found and number == 0):
                    break
            self._singles = self._singles or number == 0
            if found or self.stopped:
                return sorted(found, key=_simple)[:_SHRUNK]
        return []

    def _batches(self, texts: Iterator[str]) -> Iterator[list[str]]:
        while batch := list(islice(texts, _BATCH)):
            if time.monotonic() > self._end:
                self.stopped = True
                return
            yield batch
            self.tried += len(batch)

    def _differing(self, batch: list[str]) -> list[str]:
        one, other = (encode_batch(tokenizer, batch) for tokenizer in self._both)
        if np.array_equal(one.offsets, other.offsets) and np.array_equal(one.ids, other.ids):
            return []
        same = np.diff(one.offsets) == np.diff(other.offsets)
        for k in np.flatnonzero(same).tolist():
            a, b = (some.ids[some.offsets[k] : some.offsets[k + 1]] for some in (one, other))
            same[k] = np.array_equal(a, b)
        return [batch[k] for k in np.flatnonzero(~same).tolist()]

    def differs(self, text: str) -> bool:
        one, other = (list(tokenizer.encode(text)) for tokenizer in self._both)
        return one != other

    def shrink(self, text: str) -> str:
        """Delete what is not needed."""
        size = max(len(text) // 2, 1)
        while size and len(text) > 1:
            shorter = (text[:k] + text[k + size :] for k in range(len(text) - size + 1))
            smaller = next((part for part in shorter if part and self.differs(part)), None)
            text, size = (text, size // 2) if smaller is None else (smaller, min(size, len(smaller) - 1))
        return text

    def explain(self, text: str, differences: Sequence[Difference]) -> Counterexample:
        ids = [list(map(int, tokenizer.encode(text))) for tokenizer in self._both]
        data = [_pieces(tokenizer, some) for tokenizer, some in zip(self._both, ids, strict=True)]
        cause, why = self._cause(text, ids, data, {found.stage: found.text for found in reversed(differences)})
        shown = [[piece.decode("utf-8", "backslashreplace") for piece in pieces] for pieces in data]
        shortest = len(text) == 1 or (len(text) == 2 and self._singles)  # noqa: PLR2004
        return Counterexample(text, (ids[0], ids[1]), (shown[0], shown[1]), cause, why, shortest)

    def _cause(
        self, text: str, ids: Sequence[list[int]], data: Sequence[list[bytes]], stages: dict[str, str]
    ) -> tuple[Cause, str]:
        for name, tokenizer, some in zip("AB", self._both, ids, strict=True):
            if isinstance(tokenizer, HasUnknown) and tokenizer.unk_id is not None and tokenizer.unk_id in some:
                return "unknown token", f"{name} does not know all of it"
        surfaces = tuple(b"".join(pieces) for pieces in data)
        if surfaces[0] != surfaces[1]:
            return _read_differently(text, *surfaces)
        if data[0] == data[1]:
            return "ids", "the same pieces have other ids"
        known = [stage for stage in ("added tokens", "split", "merges") if stage in stages]
        if len(known) == 1 and not {"token", "ids"} & stages.keys():
            return cast("Cause", known[0]), stages[known[0]]
        vocabularies = [_vocabulary(tokenizer) for tokenizer in self._both]
        for name, pieces, vocabulary in zip("AB", data, reversed(vocabularies), strict=True):
            if lacking := [piece for piece in pieces if piece not in vocabulary]:
                return "token", f"only {name} has {lacking[0].decode('utf-8', 'backslashreplace')!r}"
        return _cut(data)


def _read_differently(text: str, one: bytes, other: bytes) -> tuple[Cause, str]:
    for name, longer, shorter in (("A", one, other), ("B", other, one)):
        if longer == b" " + shorter:
            return "prefix space", f"{name} puts a space before a text"
    return "normalizer", f"{_read_as('A', text, one)}; {_read_as('B', text, other)}"


def _read_as(name: str, text: str, surface: bytes) -> str:
    if surface == text.encode():
        return f"{name} leaves the text as it is"
    form = next((form for form in _FORMS if unicodedata.normalize(form, text).encode() == surface), None)
    return f"{name} makes {form} of it" if form else f"{name} reads {surface.decode('utf-8', 'backslashreplace')!r}"


def _pieces(tokenizer: Any, ids: Sequence[int]) -> list[bytes]:
    if isinstance(tokenizer, HasTokenBytes):
        return [tokenizer.token_bytes(token_id) for token_id in ids]
    return [tokenizer.decode([token_id]).encode() for token_id in ids]


def _vocabulary(tokenizer: Tokenizer) -> set[bytes]:
    return set(_pieces(tokenizer, range(tokenizer.vocab_size)))


def _cut(data: Sequence[list[bytes]]) -> tuple[Cause, str]:
    """Judge by the cuts that only one has: a split cuts where kinds of characters meet, and among digits."""
    surface = b"".join(data[0])
    only = {*accumulate(map(len, data[0]))} ^ {*accumulate(map(len, data[1]))}
    meets = all(
        _kinds_meet(surface[:at].decode(errors="replace"), surface[at:].decode(errors="replace")) for at in only
    )
    return (
        ("split", "likely: kinds of characters meet at the other cut") if meets else ("merges", "likely: inside a word")
    )


def _kinds_meet(before: str, after: str) -> bool:
    kinds = ["Z" if char.isspace() else unicodedata.category(char)[0] for char in (before[-1], after[0])]
    return kinds[0] != kinds[1] or kinds[0] in "NZPS"
