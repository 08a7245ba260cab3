"""The textbook loop of parity-aware BPE: short and slow, the oracle of the tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tokbench_plugins.bpe import FIRST_MERGE, Pair
from tokbench_plugins.bpe.literal import Tie, count_pairs, merge_pair, most_frequent
from tokbench_trainers.parity.rule import ParityRule

LanguageChunk = tuple[str, bytes]
"""A language, and the UTF-8 of a chunk of its text."""


class MeasuredText(NamedTuple):
    """The text on which parity is measured."""

    units: Mapping[str, int]
    """The units of each language's text; the first of equal languages chooses."""

    chunks: Iterable[LanguageChunk] | None = None
    """``None`` for the training text."""


def train_parity_literally(
    text: Iterable[LanguageChunk],
    vocab_size: int,
    rule: ParityRule,
    measured: MeasuredText,
    tie: Tie = "first",
) -> list[Pair]:
    """Train so that the language with the most tokens per unit chooses each merge, which is then done in all languages.

    It chooses the most frequent pair of its own text. Where the window excludes all languages, it has no effect.
    >>> text = [("en", b"low"), ("en", b"low"), ("xx", b"zzz")]
    >>> train_parity_literally(text, 257, ParityRule(), MeasuredText({"en": 6, "xx": 1}))
    [(122, 122)]
    >>> train_parity_literally(text, 257, ParityRule(global_merges=1), MeasuredText({"en": 6, "xx": 1}))
    [(108, 111)]
    """
    units = measured.units
    chunks = [(language, list(chunk)) for language, chunk in text]
    apart = None if measured.chunks is None else [(language, list(chunk)) for language, chunk in measured.chunks]
    most = rule.most_choices(len(units))
    merges: list[Pair] = []
    choices: list[str] = []
    for made in range(FIRST_MERGE, vocab_size):
        if len(merges) < rule.global_merges:
            languages = ["*"]
        else:
            tokens = dict.fromkeys(units, 0)
            for language, ids in chunks if apart is None else apart:
                tokens[language] += len(ids)
            recent = choices[-rule.window :] if rule.window else []
            passed_over = {language for language in units if recent.count(language) > most}
            worst_first = sorted(units, key=lambda language: -tokens[language] / units[language])
            languages = sorted(worst_first, key=passed_over.__contains__)
        for chooser in languages:
            if counts := count_pairs(ids for language, ids in chunks if chooser in {"*", language}):
                break
        else:
            break
        best = most_frequent(counts, tie)
        chunks = [(language, merge_pair(ids, best, made)) for language, ids in chunks]
        apart = apart and [(language, merge_pair(ids, best, made)) for language, ids in apart]
        choices += [chooser] * (chooser != "*")
        merges.append(best)
    return merges
