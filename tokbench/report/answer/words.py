"""Numbers and lists in the words of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

MOST_NAMES: Final = 4
_WHOLE_PERCENT: Final = 0.02


def join(names: Sequence[str], most: int = MOST_NAMES) -> str:
    """Return names as a list.

    >>> join(["a"]), join(["a", "b", "c"]), join(list("abcdef"))
    ('a', 'a, b and c', 'a, b, c, d and 2 more')
    """
    shown = [*names[:most], *([f"{len(names) - most} more"] if len(names) > most else [])]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def percent(share: float) -> str:
    """Return a share as a percentage: whole from 2% on, with as many digits as it needs below.

    >>> percent(0.0612), percent(0.0143), percent(0.0004), percent(0)
    ('6%', '1.4%', '0.04%', '0%')
    """
    if abs(share) >= _WHOLE_PERCENT or not share:
        return f"{100 * share:.0f}%"
    digits = 1
    while digits < 4 and not round(100 * abs(share), digits):  # noqa: PLR2004 - a ten-thousandth of a percent
        digits += 1
    return f"{100 * share:.{digits}f}%"


def more(share: float, low: float | None = None, high: float | None = None, than: str = "") -> str:
    """Return by how many percent the tokens exceed those of the best, or of ``than``, with the interval.

    >>> more(0.0612, 0.04, 0.0812), more(0.0124, 0.011, 0.0137), more(1.2, than="gpt-4o")
    ('6% more [4, 8]', '1.2% more [1.1, 1.4]', '120% more tokens than gpt-4o')
    >>> more(0.0612, 0.0589, 0.0633), more(0.04, 0.003, 0.064)  # never [6, 6], as if certain, nor [0, 6], as if a tie
    ('6% more [5.9, 6.3]', '4% more [0.3, 6.4]')
    """
    ends = ""
    if low is not None and high is not None:
        whole, tenths = ([f"{100 * end:.{digits}f}" for end in (low, high)] for digits in (0, 1))
        exact = share < _WHOLE_PERCENT or (tenths[0] != tenths[1] and whole[0] in {whole[1], "0", "-0"})
        ends = f" [{', '.join(tenths if exact else whole)}]"
    return f"{percent(share)} more{f' tokens than {than}' if than else ''}{ends}"


def megabytes(size_in_bytes: float) -> str:
    """Return bytes in a unit that fits.

    >>> megabytes(307_000), megabytes(6_100_000), megabytes(2.4e9)
    ('307 kB', '6.1 MB', '2.4 GB')
    """
    for unit, factor in (("GB", 1e9), ("MB", 1e6)):
        if size_in_bytes >= factor:
            return f"{size_in_bytes / factor:.1f} {unit}"
    return f"{size_in_bytes / 1e3:.0f} kB"
