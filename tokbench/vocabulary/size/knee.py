"""The gain of further tokens, and the knee of a curve over vocabulary sizes."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tokbench.errors import InputError
from tokbench.vocabulary.size.checks import vocab_sizes

_MIN_POINTS = 3


class Knee(NamedTuple):
    """The size at which a curve turns from steep to flat.

    Attributes:
        size: the size, one of the given sizes.
        low, high: its 95 % interval; ``None`` without replicates.
        distance: the distance of the curve from the straight line, relative to its height: 0 (straight) … 1 (a corner).
    """

    size: int
    low: float | None
    high: float | None
    distance: float


def marginal_gain(sizes: ArrayLike, values: ArrayLike) -> NDArray[np.float64]:
    """Return float64[s - 1], the change of a value per 1,000 further tokens between neighbouring sizes.

    >>> marginal_gain([1000, 2000, 4000], [3.0, 3.5, 4.0]).tolist()
    [0.5, 0.25]
    """
    x, y = _curve(sizes, values)
    return 1000 * np.diff(y) / np.diff(x)


def marginal_saving(sizes: ArrayLike, tokens: ArrayLike) -> NDArray[np.float64]:
    """Return float64[s - 1], the share of tokens that 1,000 further ids save between neighbouring sizes.

    >>> marginal_saving([1000, 2000, 4000], [1000, 900, 810]).round(3).tolist()
    [0.1, 0.05]
    """
    return -marginal_gain(sizes, tokens) / np.asarray(tokens, dtype=np.float64)[:-1]


def knee(
    sizes: ArrayLike, values: ArrayLike, replicates: ArrayLike | None = None, *, quantile: float = 1.96
) -> Knee | None:
    """Return the knee of a curve over the logarithm of the size: the point farthest from the line between its ends.

    Both axes are scaled to 0 … 1 and the largest difference from the diagonal is taken (Satopaa, Albrecht, Irwin and
    Raghavan 2011, "Finding a 'Kneedle' in a Haystack"; unsmoothed, one knee). **It depends on the range of sizes**:
    a curve that goes on to larger sizes has its knee later. So it says where this range bends, not what is optimal.

    The interval comes from curves with one group of documents left out in turn: with g of them and knees k_i, the
    logarithm's standard error is sqrt((g - 1) / g x sum((k_i - mean(k))**2)), as elsewhere here, and the interval
    exp(log knee ± quantile x error). A knee is known no better than to the sizes beside it, which it always spans.

    Args:
        sizes: int[s], rising, 3 or more.
        values: float[s], such as bytes per token or token counts; rising or falling throughout.
        replicates: float[g, s], the same curve with each of g groups left out.
        quantile: of Student's t at g - 1 degrees of freedom, 97.5 %; the default is the normal one.

    Returns:
        The knee; ``None`` where the curve is straight or bends the other way, so that it has none.

    Raises:
        InputError: fewer than 3 sizes, sizes that do not rise, or values that both rise and fall.

    >>> sizes = 2 ** np.arange(8, 17)
    >>> bytes_per_token = [1.0, 1.6, 2.2, 2.8, 3.3, 3.6, 3.8, 3.95, 4.0]
    >>> found = knee(sizes, bytes_per_token)
    >>> found.size, round(found.distance, 3)
    (4096, 0.267)
    >>> knee([1000, 2000, 4000], [3.0, 3.5, 4.0]) is None
    True
    """
    x, y = _curve(sizes, values)
    place, distance = _farthest(np.log(x), y)
    if distance <= 1e-9:  # noqa: PLR2004 - rounding of a straight line
        return None
    size = int(x[place])
    if replicates is None:
        return Knee(size, None, None, distance)
    rows = np.atleast_2d(np.asarray(replicates, dtype=np.float64))
    groups = len(rows)
    if groups < 2:  # noqa: PLR2004
        raise InputError("an interval needs 2 replicates of the curve or more")
    knees = np.array([math.log(x[_farthest(np.log(x), _curve(sizes, row)[1])[0]]) for row in rows])
    error = math.sqrt((groups - 1) / groups * float(((knees - knees.mean()) ** 2).sum()))
    low, high = size * math.exp(-quantile * error), size * math.exp(quantile * error)
    before, after = x[max(place - 1, 0)], x[min(place + 1, len(x) - 1)]
    return Knee(size, max(min(low, float(before)), float(x[0])), min(max(high, float(after)), float(x[-1])), distance)


def _farthest(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[int, float]:
    """Return the point farthest above the line between the ends, and its distance, with both axes scaled to 0 … 1."""
    across, up = (x - x[0]) / (x[-1] - x[0]), (y - y[0]) / (y[-1] - y[0])
    place = int(np.argmax(up - across))
    return place, float(up[place] - across[place])


def _curve(sizes: ArrayLike, values: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    x, y = vocab_sizes(sizes), np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape or len(x) < _MIN_POINTS:
        raise InputError(f"a curve needs a value for each of {_MIN_POINTS} sizes or more, not {x.shape} and {y.shape}")
    if (np.diff(x) <= 0).any():
        raise InputError("the sizes of a curve must rise; sort them and drop repeated ones")
    steps = np.diff(y)
    if not np.isfinite(y).all() or not ((steps >= 0).all() or (steps <= 0).all()):
        raise InputError("the curve both rises and falls, or has gaps; is it one tokenizer, cut at each size?")
    if not steps.any():
        raise InputError("the curve is flat: no size gains anything")
    return x, y
