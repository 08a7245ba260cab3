"""The bits that documents cost under several models, with errors from documents and training text.

The former is a jackknife over groups; for the latter, each of several disjoint parts trains a model. The squares of
both add up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin.metrics import student_t
from tokbench.statistics.jackknife import leave_out, spread, too_few
from tokbench_models.language_models.block import BitsComparison, Verdict

GROUPS: Final = 256

TRAINING_PARTS: Final = 5

LEAST_DIFFERENCE: Final = 0.02
"""The smallest difference that counts, in bits per byte."""

_NORMAL: Final = NormalDist().inv_cdf(0.975)

_ERRORS: Final = 2.0


class Uncertain(NamedTuple):
    """Bits per byte with a standard error and its degrees of freedom, or the reason why there is none."""

    value: float
    error: float | None = None
    freedom: int = 0
    reason: str = ""

    def ends(self) -> tuple[float | None, float | None]:
        """Return the ends of Student's 95% interval, if there is an error.

        >>> [round(end, 3) for end in Uncertain(2.0, 0.1, 10).ends()], Uncertain(2.0).ends()
        ([1.777, 2.223], (None, None))
        """
        if self.error is None:
            return None, None
        reach = student_t(self.freedom) * self.error
        return self.value - reach, self.value + reach


@dataclass(frozen=True, eq=False)
class ScoredBits:
    """The bits of scored documents under several models."""

    bits: NDArray[np.float64]
    """float64[m, g], by model and group of documents."""

    n_bytes: NDArray[np.float64]

    parts: NDArray[np.float64]
    """float64[p, m], bits per byte by part of the training text and model."""

    documents: int

    @classmethod
    def of(
        cls, bits: NDArray[np.float64], parts: Sequence[NDArray[np.float64]], n_bytes: NDArray[np.int64]
    ) -> ScoredBits:
        """Put the bits of documents together, float64[m, d]; document k is in group k modulo 256.

        ``parts`` are the same for each part of the training text.

        >>> state = ScoredBits.of(np.array([[16.0, 8.0]]), [], np.array([8, 8]))
        >>> state.value(0).value
        1.5
        """
        many = min(GROUPS, len(n_bytes))
        groups = np.arange(len(n_bytes)) % GROUPS
        total = float(n_bytes.sum())
        return cls(
            np.array([np.bincount(groups, row, many) for row in bits]),
            np.bincount(groups, n_bytes, many).astype(np.float64),
            np.array([part.sum(axis=1) / total for part in parts]).reshape(-1, len(bits)),
            len(n_bytes),
        )

    def value(self, model: int) -> Uncertain:
        return self._uncertain(self.bits[model], self.parts[:, model])

    def minus(self, other: ScoredBits) -> list[Uncertain]:
        differences = zip(self.bits - other.bits, (self.parts - other.parts).T, strict=True)
        return [self._uncertain(bits, parts) for bits, parts in differences]

    def _uncertain(self, bits: NDArray[np.float64], parts: NDArray[np.float64]) -> Uncertain:
        value = float(bits.sum() / self.n_bytes.sum())
        estimate = spread(leave_out(bits, self.n_bytes))
        if estimate is None:
            return Uncertain(value, reason=too_few(self.documents))
        if len(parts) < 2:  # noqa: PLR2004 - one does not vary
            return Uncertain(value, reason="too few training documents for an interval")
        documents, training = estimate.error**2, float(parts.var(ddof=1)) / len(parts)
        both = documents + training
        if not both:
            return Uncertain(value, 0.0, estimate.freedom)
        freedom = both**2 / (documents**2 / estimate.freedom + training**2 / (len(parts) - 1))
        return Uncertain(value, math.sqrt(both), int(freedom))


def bits_verdict(differences: Sequence[Uncertain]) -> tuple[Verdict, bool]:
    """Return what differences under several models say of two tokenizers, and ``True`` if the second one is better.

    ``better``: they differ under every model, in one direction, by at least 0.02 bits per byte and by more than two
    standard errors, more for few documents or trainings (Student's t). ``depends``: they differ under one of them by as
    much, and by more standard errors, as each model is a test (Bonferroni): 2.53 with four models. ``level``: they
    differ under none.

    >>> bits_verdict([Uncertain(-0.05, 0.01, 9), Uncertain(-0.03, 0.01, 9)])
    ('better', False)
    >>> bits_verdict([Uncertain(0.05, 0.01, 9), Uncertain(0.03, 0.01, 9)])
    ('better', True)
    >>> bits_verdict([Uncertain(-0.05, 0.01, 9), Uncertain(-0.03, 0.02, 9)])
    ('depends', False)
    >>> bits_verdict([Uncertain(-0.05, 0.04, 9), Uncertain(-0.019, 0.001, 9)])
    ('level', False)
    >>> bits_verdict([Uncertain(-0.05)])
    ('unknown', False)
    """
    if any(difference.error is None for difference in differences):
        return "unknown", False
    signs = {math.copysign(1, difference.value) if _apart(difference, _ERRORS) else 0 for difference in differences}
    if signs in ({-1}, {1}):
        return "better", signs == {1}
    corrected = -NormalDist().inv_cdf(NormalDist().cdf(-_ERRORS) / len(differences))
    return "depends" if any(_apart(difference, corrected) for difference in differences) else "level", False


def compare_bits(one: str, other: str, scored: Mapping[str, ScoredBits], deciding: Sequence[int]) -> BitsComparison:
    """Compare two tokenizers under the models that decide, by their numbers; the better one comes first."""
    differences = scored[one].minus(scored[other])
    said, swap = bits_verdict([differences[model] for model in deciding])
    sign = -1 if swap else 1
    return BitsComparison(
        tokenizer=other if swap else one,
        other=one if swap else other,
        differences=[sign * difference.value for difference in differences],
        errors=[difference.error for difference in differences],
        verdict=said,
    )


def _apart(difference: Uncertain, errors: float) -> bool:
    reach = errors * student_t(difference.freedom) / _NORMAL if difference.error else 0.0
    return abs(difference.value) >= LEAST_DIFFERENCE and abs(difference.value) > reach * (difference.error or 0.0)
