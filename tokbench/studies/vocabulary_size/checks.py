"""Checks of the numbers in the formulas of this folder."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tokbench.foundation.errors import InputError


def vocab_sizes(values: ArrayLike) -> NDArray[np.int64]:
    """Return vocabulary sizes as int64, of the same shape.

    Raises:
        InputError: a size is not a whole number from 1 on.

    >>> vocab_sizes([1024, 50257]).tolist()
    [1024, 50257]
    >>> vocab_sizes(0)
    Traceback (most recent call last):
    tokbench.foundation.errors.InputError: a vocabulary size is a whole number from 1 on, not 0
    """
    sizes = np.asarray(values)
    if sizes.dtype.kind not in "iu":
        raise InputError(f"a vocabulary size is a whole number from 1 on, not {sizes.ravel()[:1].tolist()}")
    if (sizes < 1).any():
        raise InputError(f"a vocabulary size is a whole number from 1 on, not {sizes.min()}")
    return sizes.astype(np.int64)


def positive(values: ArrayLike, what: str) -> NDArray[np.float64]:
    """Return numbers above 0 as float64, of the same shape.

    Raises:
        InputError: a number is 0, negative, infinite or NaN.

    >>> positive([4.2, 3.9], "bytes per token").tolist()
    [4.2, 3.9]
    >>> positive([4.2, 0.0], "bytes per token")
    Traceback (most recent call last):
    tokbench.foundation.errors.InputError: bytes per token must be finite and above 0, not 0.0
    """
    numbers = np.asarray(values, dtype=np.float64)
    wrong = ~(np.isfinite(numbers) & (numbers > 0))
    if wrong.any():
        raise InputError(f"{what} must be finite and above 0, not {numbers[wrong][0]}")
    return numbers
