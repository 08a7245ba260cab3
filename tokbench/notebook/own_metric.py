"""A metric as a plain function of a document and its ids, for a notebook; for configurations write a plugin."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tokbench.foundation.errors import InputError
from tokbench.statistics.jackknife import interval, leave_out
from tokbench.text.given import check_text, refuse_collection
from tokbench.tokenizers.contract import Tokenizer

if TYPE_CHECKING:
    import pandas as pd

Measure = Callable[[str, Sequence[int]], "float | tuple[float, float]"]
"""A function of a document and its ids. It returns a number, or two, whose sums over all documents are divided."""


class OwnMetric:
    """A function that is a metric; it can still be called. ``unit`` is for the table."""

    def __init__(self, function: Measure, unit: str = "") -> None:
        self._function = function
        self.name = function.__name__
        self.unit = unit
        self.__doc__ = function.__doc__

    def __call__(self, text: str, ids: Sequence[int]) -> float | tuple[float, float]:
        return self._function(text, ids)

    def on(self, texts: Iterable[str], tokenizers: Mapping[str, Tokenizer]) -> pd.DataFrame:
        r"""Return the metric of each tokenizer over some documents, with its 95% jackknife interval.

        Raises:
            InputError: without documents, or if the function returns something else.

        >>> import tokbench
        >>> @metric(unit="ids/line")
        ... def ids_a_line(text, ids):
        ...     return len(ids), len(text.splitlines())
        >>> ids_a_line.on(["a b\nc", "d"], {"bytes": tokbench.load("utf8_bytes")}).to_dict("records")
        [{'tokenizer': 'bytes', 'ids_a_line': 2.0, 'ci_low': None, 'ci_high': None, 'unit': 'ids/line', 'n': 2}]
        """
        import pandas as pd

        refuse_collection(texts, self.name)
        documents = [check_text(text, self.name, number) for number, text in enumerate(texts, 1)]
        if not documents:
            raise InputError(f"{self.name} needs a document at least")
        rows = [{"tokenizer": name, **self._row(documents, tokenizer)} for name, tokenizer in tokenizers.items()]
        return pd.DataFrame(rows).astype({"ci_low": object, "ci_high": object})

    def _row(self, documents: Sequence[str], tokenizer: Tokenizer) -> dict[str, object]:
        parts = np.array([self._parts(text, tokenizer.encode(text)) for text in documents], np.float64)
        above, below = parts.T
        value = float(above.sum() / below.sum()) if below.sum() else float("nan")
        ends = interval(value, leave_out(above, below))
        return {self.name: value, "ci_low": ends.low, "ci_high": ends.high, "unit": self.unit, "n": len(documents)}

    def _parts(self, text: str, ids: Sequence[int]) -> tuple[float, float]:
        given = self._function(text, ids)
        above, below = given if isinstance(given, tuple) else (given, 1.0)
        try:
            return float(above), float(below)
        except (TypeError, ValueError) as error:
            raise InputError(f"{self.name} gave {given!r}; it must return a number, or two to divide") from error


def metric(*, unit: str = "") -> Callable[[Measure], OwnMetric]:
    """Return a decorator that makes a function of a document and its ids a metric.

    >>> @metric(unit="ids")
    ... def longest_repeat(text, ids):
    ...     return max(map(list(ids).count, ids))
    >>> longest_repeat("aab", [97, 97, 98])
    2
    """
    return lambda function: OwnMetric(function, unit)
