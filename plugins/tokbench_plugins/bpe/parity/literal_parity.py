"""The textbook loop of parity-aware BPE, and its rule: short and slow, the oracle of the tests.

:mod:`.train_parity` and :mod:`.compiled_parity` must give the same merges, faster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import NamedTuple

from tokbench.plugin import silent
from tokbench_plugins.bpe.literal import Tie, count_pairs, merge_pair, most_frequent
from tokbench_plugins.bpe.vocabulary import FIRST_MERGE, Pair

LanguageChunk = tuple[str, bytes]
"""A language, and the UTF-8 of a chunk of its text."""


class ParityRule(NamedTuple):
    """The rule that says which language chooses the next merge.

    The language that is worst off chooses: that with the most tokens per unit of its text (Foroutan et al. 2025,
    "Parity-Aware Byte-Pair Encoding"). A unit is a byte, or a document that has a translation in each language.
    """

    global_merges: int = 0
    """The number of first merges that are those of plain BPE on all languages (hybrid variant)."""

    window: int = 0
    """The number of last choices that are looked at: a language that made too many of them is passed over
    (moving-window variant); 0 passes over none."""

    alpha: float = 2.0
    """The multiple of its equal share of the window that a language may choose; more is too often."""

    def most_choices(self, languages: int) -> float:
        """Return how often a language may stand among the last choices and choose again.

        The authors' program divides α by the number of languages, as here, but by one more where there are global
        merges: it keeps the counts of all languages together in one more column. So it passes over a language sooner.

        >>> ParityRule(window=100).most_choices(4), ParityRule().most_choices(4)
        (50.0, inf)
        """
        return self.alpha * self.window / languages if self.window else inf


class MeasuredText(NamedTuple):
    """The text whose tokens are counted to find the language that is worst off."""

    units: Mapping[str, int]
    """The number of units of the text of each language; of languages that are equally badly off, the first chooses."""

    chunks: Iterable[LanguageChunk] | None = None
    """The chunks of the text; ``None`` for those of the training text."""


def train_parity_literally(
    text: Iterable[LanguageChunk],
    vocab_size: int,
    rule: ParityRule,
    measured: MeasuredText,
    tie: Tie = "first",
    on_merge: Callable[[Pair, str], None] = silent,
) -> list[Pair]:
    """Train so that the language that is worst off chooses each merge, which is then done in all languages.

    It chooses the most frequent pair of its own text. A language without a pair chooses no more. If all others are
    passed over because of the window, the worst off of them chooses all the same.

    Args:
        text: the chunks of the training text.
        vocab_size: number of ids to reach, the 256 bytes included.
        rule: the rule that says which language chooses.
        measured: the text on which parity is measured.
        tie: which of several most frequent pairs; see :func:`..literal.most_frequent`.
        on_merge: called for each merge with its pair and the language that chose it; ``*`` for plain BPE.

    Returns:
        At most ``vocab_size - 256`` merges in order of rank.

    The second language is short of merges, so it chooses, though the first has the more frequent pair:

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
        on_merge(best, chooser)
    return merges
