"""Metrics by declaration: a function counts by document, and each metric is a ratio of two sums of such counts.

>>> import numpy as np
>>> def count(encoded, options):
...     return {"tokens": encoded.tokens, "bytes": encoded.shard.n_bytes}
>>> density = Metric("density", "tokens/byte", "lower", of=("tokens", "bytes"))
>>> family = counted("density", "tokens per byte", count, density.means("Σ tokens / Σ bytes", "Tokens of a byte."))
>>> sums = Sums(2, {"tokens": np.array([3.0, 1.0]), "bytes": np.array([6.0, 10.0])})
>>> family.text(None).finish(sums)["density"].value
0.25
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from numpy.typing import NDArray

from tokbench.measuring.encoded_shard import EncodedShard
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.metric import Basis, Measured, Metric, NotApplicable
from tokbench.measuring.sums import SummedMetric, Sums
from tokbench.tokenizers.contract import EncodesWithOffsets, HasTokenBytes

__all__ = ["TOKEN_PLACES", "Basis", "Count", "CountedMetric", "Counts", "counted", "declared"]

Counts = Mapping[str, NDArray[Any]]
"""By name, a number for each document of a shard."""

Count = Callable[[EncodedShard, Any], Counts]
"""Counts a shard; it gets the options of the family, too."""

TOKEN_PLACES: Final = (HasTokenBytes, EncodesWithOffsets)
"""What a metric of the places of tokens needs."""


def declared(metrics: Iterable[Metric], sums: Sums) -> dict[str, Measured | NotApplicable]:
    """Return by id the values of the metrics whose columns (``Metric.of``) are among the sums.

    >>> import numpy as np
    >>> sums = Sums(9, {"tokens": np.array([8.0]), "words": np.array([4.0]), "counted": np.array([0.0])})
    >>> fertility = Metric("fertility", "tokens/word", "lower", of=("tokens", "words"))
    >>> [value.value for value in declared([fertility, Metric("words", "words", "none", of=("words",))], sums).values()]
    [2.0, 4.0]
    >>> exact = Metric("exact", "", "lower", of=("tokens", "words"), basis=Basis("counted", "no document is exact"))
    >>> declared([exact], sums)
    {'exact': NotApplicable(reason='no document is exact')}
    """
    return {
        metric.id: _value(metric, sums) for metric in metrics if metric.of and set(metric.of) <= sums.columns.keys()
    }


def _value(metric: Metric, sums: Sums) -> Measured | NotApplicable:
    n = int(sums.columns[metric.basis.column].sum()) if metric.basis else None
    if metric.basis and not n:
        return NotApplicable(metric.basis.missing)
    if len(metric.of) == 1:
        return sums.total(*metric.of)
    return (sums.share if metric.unit.startswith("share") else sums.ratio)(*metric.of, n=n)


class CountedMetric(SummedMetric):
    """The text metric of a family whose metrics are all declared."""

    def __init__(self, count: Count, metrics: Iterable[Metric], options: Any) -> None:
        super().__init__(options)
        self._count, self._metrics = count, metrics

    def map(self, encoded: EncodedShard) -> Sums:
        return Sums.of(encoded.shard, **self._count(encoded, self._options))

    def finish(self, state: Sums) -> Mapping[str, Measured | NotApplicable]:
        return declared(self._metrics, state)


def counted(name: str, summary: str, count: Count, *metrics: Metric, **more: Any) -> MetricFamily:
    """Return a family of declared metrics; ``more`` are other fields of the family.

    Raises:
        TypeError: ``count`` does not take a shard and the options.
    """
    try:
        inspect.signature(count).bind(None, None)
    except TypeError:
        msg = f"{name!r}: {count.__name__}{inspect.signature(count)} must take (encoded, options)"
        raise TypeError(msg) from None

    def make(options: Any) -> CountedMetric:
        return CountedMetric(count, metrics, options)

    make.__module__ = count.__module__  # whose code the key of a cache entry has
    return MetricFamily(name=name, summary=summary, values=metrics, text=make, **more)
