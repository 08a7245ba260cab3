"""Parity-aware training in near-linear time."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final, NamedTuple

from tokbench import plugin
from tokbench_plugins.bpe import FIRST_MERGE, LinkedText, Pair, Tie
from tokbench_trainers.parity.rule import ParityRule

_REPORTS: Final = 200  # calls of ``progress``, about

CountedChunks = Sequence[tuple[bytes, int]]
"""Different chunks in order of first occurrence, each with its count."""


class LanguageText(NamedTuple):
    """The text of one language."""

    chunks: CountedChunks
    """Of the training text."""

    units: int
    """The bytes or documents of the measured text."""

    measured: CountedChunks | None = None
    """``None`` to measure the training text."""


def train_parity(
    languages: Sequence[LanguageText],
    vocab_size: int,
    rule: ParityRule,
    given: Sequence[Pair] = (),
    tie: Tie = "first",
    progress: plugin.TrainProgress = plugin.silent,
) -> list[Pair]:
    """Train on counted chunks; ``given`` are the first merges, as plain BPE makes them.

    >>> train_parity([LanguageText([(b"low", 2)], 6), LanguageText([(b"zzz", 1)], 1)], 257, ParityRule())
    [(122, 122)]
    """
    total = vocab_size - FIRST_MERGE
    stride = max(1, total // _REPORTS)
    texts = _LanguageTexts(languages, rule, tie)
    merges: list[Pair] = []
    progress(0, total)
    while len(merges) < total:
        best = given[len(merges)] if len(merges) < len(given) else texts.choose()
        if best is None:
            break
        texts.merge(best, FIRST_MERGE + len(merges))
        merges.append(best)
        if len(merges) % stride == 0:
            progress(len(merges), total)
    progress(len(merges), len(merges))
    return merges


class _LanguageTexts:
    def __init__(self, languages: Sequence[LanguageText], rule: ParityRule, tie: Tie) -> None:
        self._texts = [LinkedText(text.chunks, tie) for text in languages]
        self._apart = [None if text.measured is None else LinkedText(text.measured, tie) for text in languages]
        measured = [text.chunks if text.measured is None else text.measured for text in languages]
        self._tokens = [sum(len(chunk) * count for chunk, count in chunks) for chunks in measured]
        self._units = [text.units for text in languages]
        self._open = list(range(len(languages)))
        self._recent: deque[int] = deque(maxlen=rule.window)
        self._most = rule.most_choices(len(languages))

    def choose(self) -> Pair | None:
        while self._open:
            chooser = self._worst_off()
            best = self._texts[chooser].pop_best()
            if best is not None:
                self._recent.append(chooser)
                return best
            self._open.remove(chooser)
        return None

    def _worst_off(self) -> int:
        in_turn = [language for language in self._open if self._recent.count(language) <= self._most]
        return max(in_turn or self._open, key=lambda language: self._tokens[language] / self._units[language])

    def merge(self, pair: Pair, made: int) -> None:
        for language, (text, apart) in enumerate(zip(self._texts, self._apart, strict=True)):
            times = text.merge(pair, made)
            self._tokens[language] -= times if apart is None else apart.merge(pair, made)
