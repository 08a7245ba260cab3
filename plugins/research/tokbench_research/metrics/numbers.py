"""The family ``numbers``: the cuts of runs of digits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.shards import BUCKETS
from tokbench.plugin import metrics

LONGEST: Final = 12
_LENGTHS: Final = (3, 4)
"""Of runs whose tokens are a metric of their own."""

_RUN: Final = re.compile(rb"(?<![0-9])[0-9]{1,%d}(?![0-9])" % LONGEST)
_GROUP: Final = 3
_BASIS: Final = metrics.Basis("documents laid out", metrics.NOT_ALIGNED)


def _cut_at(places: Callable[[int, int], bool]) -> NDArray[np.int64]:
    """For each length n, cut after digit k where ``places(k, n)``."""
    return np.array([sum(1 << (k - 1) for k in range(1, n) if places(k, n)) for n in range(LONGEST + 1)])


_AIMS: Final = {
    "right_triples": _cut_at(lambda k, n: (n - k) % _GROUP == 0),
    "left_triples": _cut_at(lambda k, _: k % _GROUP == 0),
    "single": _cut_at(lambda _k, _n: True),
}


_BITS: Final = np.array([pattern.bit_count() for pattern in range(1 << (LONGEST - 1))])


class NumbersState(NamedTuple):
    """The state of a group."""

    sums: metrics.Sums
    patterns: Counter[tuple[int, int, int]]
    """By length, pattern of cuts, jackknife group."""

    def __add__(self, other: NumbersState) -> NumbersState:  # type: ignore[override]
        patterns = Counter(self.patterns)
        patterns.update(other.patterns)  # a few of a shard: the sum of two counters would look at all
        return NumbersState(self.sums + other.sums, patterns)

    def counts(self, length: int) -> dict[int, NDArray[np.float64]]:
        """Return by pattern float64[BUCKETS]."""
        by_cut: dict[int, NDArray[np.float64]] = {}
        for (run_length, cut, bucket), count in self.patterns.items():
            if run_length == length:
                by_cut.setdefault(cut, np.zeros(BUCKETS))[bucket] += count
        return by_cut


def _count(
    lengths: NDArray[np.int64], cut: NDArray[np.int64], groups: NDArray[np.integer[Any]]
) -> Counter[tuple[int, int, int]]:
    """Count by length, pattern and jackknife group."""
    shape = (LONGEST + 1, len(_BITS), BUCKETS)
    counts = np.bincount(np.ravel_multi_index((lengths, cut, groups), shape))
    places = np.flatnonzero(counts)
    kinds = zip(*(column.tolist() for column in np.unravel_index(places, shape)), strict=True)
    return Counter(dict(zip(kinds, counts[places].tolist(), strict=True)))


_value = partial(metrics.Metric, needs=metrics.TOKEN_PLACES, basis=_BASIS)

_RUNS: Final = "A run is 1 to 12 consecutive ASCII digits; longer ones are left out."
_LONG: Final = "runs of more than three digits"
_PLACES: Final = f"places in {_LONG}"
_TRIPLES: Final = f"{_LONG} with token boundaries inside"

VALUES: Final = (
    _value("digits_consistency", "share", "higher", headline=True).means(
        "Σ over lengths 2 to 12 of runs cut in the length's most frequent way / Σ runs",
        f"1 if runs of the same length are always cut alike, whatever their digits are. {_RUNS}",
    ),
    _value("digits_right_triples", "share of runs", "none", of=("right_triples", _LONG)).means(
        f"{_TRIPLES} exactly every three digits from the right / runs of more than three digits",
        f"Share of numbers cut into groups of three as they are read aloud: 1|234|567. {_RUNS}",
    ),
    _value("digits_triples_distance", "share of places", "lower", of=("amiss", _PLACES), headline=True).means(
        "places between two digits whose cut differs from groups of three from the right (cut and should not "
        "be, or not cut and should be) / places, in runs of more than three digits",
        f"How far numbers are from groups of three as they are read aloud: 0 if all are cut so. {_RUNS}",
    ),
    _value("digits_triples_f1", "share of boundaries", "higher", of=("double hits", "cuts and aims")).means(
        "2 × token boundaries at every third place from the right / (token boundaries + such places), inside runs of "
        "two digits and more",
        f"Agreement of token boundaries with groups of three as they are read aloud: 1 if numbers are cut there and "
        f"nowhere else, so that one cut inside two or three digits counts against it. {_RUNS}",
    ),
    _value("digits_left_triples", "share of runs", "none", of=("left_triples", _LONG)).means(
        f"{_TRIPLES} exactly every three digits from the left / runs of more than three digits",
        f"Share of numbers in groups of three from the left: 123|456|7, so that the place value of a token "
        f"differs from number to number. Six, nine and twelve digits count for both directions. {_RUNS}",
    ),
    _value("digits_single", "share of runs", "none", of=("single", _LONG)).means(
        f"{_TRIPLES} after every digit / runs of more than three digits",
        f"Share of numbers cut into single digits. {_RUNS}",
    ),
    *(
        _value(
            f"digits_{length}_tokens", "tokens/run", "lower", of=(f"tokens of {length}", f"runs of {length} digits")
        ).means(
            f"Σ tokens that a run of {length} digits touches / Σ runs of {length} digits",
            f"Tokens of {length} digits. {_RUNS}",
        )
        for length in _LENGTHS
    ),
)


class Numbers(metrics.SummedMetric):
    """The text metric."""

    def map(self, encoded: metrics.EncodedShard) -> NumbersState:
        """Leave out unaligned documents."""
        runs = encoded.shard.cached("digits", lambda: metrics.find_spans(encoded.shard, _RUN))
        runs = runs.where(encoded.token_ends.aligned[runs.documents])
        lengths, cut = runs.ends - runs.starts, metrics.cut_patterns(encoded, runs)
        tokens = _BITS[cut] + 1
        columns: dict[str, NDArray[Any]] = {_BASIS.column: encoded.token_ends.aligned.astype(np.int64)}
        for length in _LENGTHS:
            columns[f"runs of {length} digits"] = metrics.sum_by_document(encoded, runs, lengths == length)
            columns[f"tokens of {length}"] = metrics.sum_by_document(encoded, runs, tokens * (lengths == length))
        long = lengths > _GROUP
        columns[_LONG] = metrics.sum_by_document(encoded, runs, long)
        for name, aims in _AIMS.items():
            columns[name] = metrics.sum_by_document(encoded, runs, long & (cut == aims[lengths]))
        columns[_PLACES] = metrics.sum_by_document(encoded, runs, long * (lengths - 1))
        aim = _AIMS["right_triples"][lengths]
        columns["double hits"] = metrics.sum_by_document(encoded, runs, (lengths > 1) * 2 * _BITS[cut & aim])
        columns["cuts and aims"] = metrics.sum_by_document(encoded, runs, (lengths > 1) * (_BITS[cut] + _BITS[aim]))
        columns["amiss"] = metrics.sum_by_document(encoded, runs, long * _BITS[cut ^ _AIMS["right_triples"][lengths]])
        return NumbersState(
            metrics.Sums.of(encoded.shard, **columns), _count(lengths, cut, encoded.shard.buckets[runs.documents])
        )

    def finish(self, state: NumbersState) -> Mapping[str, metrics.Measured | metrics.NotApplicable]:
        documents = int(state.sums.columns[_BASIS.column].sum())
        if not documents:
            return {value.id: metrics.NotApplicable(metrics.NOT_ALIGNED) for value in VALUES}
        return metrics.declared(VALUES, state.sums) | {"digits_consistency": _consistency(state, documents)}


def _consistency(state: NumbersState, documents: int) -> metrics.Measured | metrics.NotApplicable:
    by_length = [counts for counts in map(state.counts, range(2, LONGEST + 1)) if counts]
    if not by_length:
        return metrics.NotApplicable("no runs of 2 digits and more")
    # Of patterns that are as frequent the first, in whatever order shards were merged.
    alike = np.sum([max((counts[cut] for cut in sorted(counts)), key=np.sum) for counts in by_length], axis=0)
    runs = np.sum([count for counts in by_length for count in counts.values()], axis=0)
    return metrics.Sums(documents, {"alike": alike, "runs": runs}).share("alike", "runs")


SPEC: Final = metrics.MetricFamily(
    name="numbers",
    summary="how runs of digits are cut: tokens, consistency, groups of three",
    text=Numbers,
    subject=("numbers",),
    values=VALUES,
)
