"""Mixtures of counts: shares of languages, and the weighted sum of their counts in whole numbers."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench_plugins.bpe.compiled.count import Counts
from tokbench_trainers.mixtures.languages import LanguageCounts
from tokbench_trainers.mixtures.options import Mixture

_FINEST: Final = 720_720
"""What one occurrence counts in the language with the least weight: divisible by 1 to 16, so that texts which are
repeated up to 16 times count exactly as often."""

_MOST: Final = 1 << 62


def shares_of(mixture: Mixture, n_bytes: Mapping[str, int]) -> dict[str, float]:
    """Return the share of each language in the bytes, without those that have none.

    With a temperature, a share is proportional to bytes ** alpha: 1 leaves the text as it is, 0 makes all alike, .3 is
    what XLM-R used (Conneau et al. 2020).

    >>> shares_of(0.5, {"en": 900, "sw": 100})
    {'en': 0.75, 'sw': 0.25}
    >>> shares_of({"en": 3, "sw": 0}, {"en": 900, "sw": 100})
    {'en': 1.0}
    """
    weights = mixture if isinstance(mixture, dict) else {name: size**mixture for name, size in n_bytes.items() if size}
    total = sum(weights.values())
    return {name: weight / total for name, weight in weights.items() if weight}


def factors_of(mixture: Mixture, n_bytes: Mapping[str, int]) -> dict[str, Fraction]:
    """Return what one occurrence counts in each language.

    A language of twice the bytes and the same share counts half:

    >>> factors = factors_of({"de": 1, "hi": 1}, {"de": 200, "hi": 100})
    >>> int(factors["de"]), int(factors["hi"])
    (720720, 1441440)
    """
    weights = mixture if isinstance(mixture, dict) else {name: size**mixture for name, size in n_bytes.items()}
    per_byte = {name: Fraction(weight) / n_bytes[name] for name, weight in weights.items() if weight and n_bytes[name]}
    finest = min(
        Fraction(_FINEST), _MOST * min(per_byte.values()) / sum(per_byte[name] * n_bytes[name] for name in per_byte)
    )
    return {name: one * finest / min(per_byte.values()) for name, one in per_byte.items()}


def mix(languages: LanguageCounts, mixture: Mixture) -> Counts:
    """Return the counts of a mixture: weighted sums, rounded half up, in the order of first occurrence.

    Training on them is training on text in which each language has its share of the bytes.
    """
    factors = factors_of(mixture, languages.n_bytes)
    total, rest = np.zeros(languages.size, np.int64), np.zeros(languages.size, np.float64)
    for name, factor in factors.items():
        entries = languages.entries[name]
        whole, part = divmod(factor, 1)
        total[entries.chunks] += whole * entries.counts
        rest[entries.chunks] += float(part) * entries.counts
    total += np.floor(rest + 0.5).astype(np.int64)
    if factors.keys() == languages.entries.keys() and total.all():
        return Counts(languages.data, languages.offsets, total)
    return _selected(languages, _in_order(languages, list(factors), total), total)


def _in_order(languages: LanguageCounts, names: list[str], total: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the chunks that occur, in the order of first occurrence in the languages of the mixture alone."""
    firsts = np.full(languages.size, np.iinfo(np.int64).max)
    for entries in (languages.entries[name] for name in names):
        firsts[entries.chunks] = np.minimum(firsts[entries.chunks], entries.firsts)
    order = np.argsort(firsts, kind="stable")
    return order[total[order] > 0]


def _selected(languages: LanguageCounts, chunks: NDArray[np.int64], total: NDArray[np.int64]) -> Counts:
    lengths = np.diff(languages.offsets)[chunks]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    places = np.arange(offsets[-1]) + np.repeat(languages.offsets[chunks] - offsets[:-1], lengths)
    return Counts(languages.data[places], offsets, total[chunks])
