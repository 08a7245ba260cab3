"""Whether two tokenizers are one function: proved, or the shortest text found in which they differ."""

from __future__ import annotations

import pickle
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

import numpy as np

from tokbench.command import load_named
from tokbench.plugin import Tokenizer, encode_batch
from tokbench_identity.causes import Cause, notes_of_pair, pieces_of_ids, shown, why
from tokbench_identity.equal.probes import probes
from tokbench_identity.equal.recipe import StageComparison, compare_stages

_BATCH: Final = 20_000
_SHRUNK: Final = 20


@dataclass(frozen=True)
class Counterexample:
    """A text with different ids."""

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
    """Why it is not proved."""
    counterexample: Counterexample | None = None
    stopped: bool = False
    """Whether the time was over before all texts were tried."""
    notes: tuple[str, ...] = ()
    """What the files of A and B say that changes no ids here."""

    def sentence(self, one: str, other: str) -> str:
        """Return the answer in one sentence."""
        if shown := self.counterexample:
            return f"{one} and {other} differ in {shown.text!r}, because of the {shown.cause} ({shown.why})."
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
    pair = (load_named(one), load_named(other))
    notes = notes_of_pair(pair)
    if pickle.dumps(pair[0]) == pickle.dumps(pair[1]):
        return Equality("equal", 0, notes=notes)
    stages = compare_stages(pair)
    not_proved = [*stages.unknown, *(f"{one.stage}: {one.text}" for one in stages.differences)]
    tried, stopped, end = 0, False, time.monotonic() + 60 * minutes
    texts = probes(pair, [one.probes for one in stages.differences])
    while (batch := list(islice(texts, _BATCH))) and not (stopped := time.monotonic() > end):
        if some := _differing(pair, batch):
            text = min((_shrunk(pair, text) for text in sorted(some, key=_simple)[:_SHRUNK]), key=_simple)
            return Equality("different", tried, counterexample=_explained(pair, text, stages), notes=notes)
        tried += len(batch)
    return Equality("unknown" if not_proved else "equal", tried, tuple(not_proved), stopped=stopped, notes=notes)


def _differing(pair: Sequence[Tokenizer], texts: Sequence[str]) -> list[str]:
    one, other = (encode_batch(tokenizer, texts) for tokenizer in pair)
    if np.array_equal(one.offsets, other.offsets) and np.array_equal(one.ids, other.ids):
        return []
    rows = (np.split(encoded.ids, encoded.offsets[1:-1]) for encoded in (one, other))
    return [text for text, a, b in zip(texts, *rows, strict=True) if not np.array_equal(a, b)]


def _simple(text: str) -> tuple[int, bool, int, str]:
    return len(text), not text.isprintable(), len(text.encode()), text


def _shrunk(pair: Sequence[Tokenizer], text: str) -> str:
    """Delete characters until no more can be deleted."""
    shorter = [text[:k] + text[k + 1 :] for k in range(len(text))] if len(text) > 1 else []
    some = _differing(pair, shorter) if shorter else []
    return _shrunk(pair, min(some, key=_simple)) if some else text


def _explained(pair: Sequence[Tokenizer], text: str, stages: StageComparison) -> Counterexample:
    one, other = (list(map(int, tokenizer.encode(text))) for tokenizer in pair)
    a, b = ([*map(shown, pieces_of_ids(*some))] for some in zip(pair, (one, other), strict=True))
    cause, words = why(pair, text, stages)
    # All code points are tried first.
    return Counterexample(text, (one, other), (a, b), cause, words, shortest=len(text) <= 2)  # noqa: PLR2004
