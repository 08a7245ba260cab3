"""Formats numbers: the same digits down a column, and only exact values become 0 or 100%."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

_COUNTS = frozenset({"tokens", "bytes", "characters", "chars", "documents", "words", "ids"})
_WIDE = 20.0
"""From this ratio of largest to smallest on, each number has its own decimals."""

_MOST_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Style:
    """How the numbers of one column are written."""

    kind: Literal["count", "share", "number"]
    decimals: int | None = None
    """Digits after the point; ``None``: three significant digits."""

    def show(self, value: float) -> str:
        """Return the number without its unit.

        >>> Style("share", 1).show(0.5), Style("share", 1).show(0.99999), Style("share", 1).show(1.0)
        ('50.0', '99.999', '100.0')
        >>> Style("number").show(0.004), Style("number").show(118.4), Style("count").show(12345)
        ('0.00400', '118', '12,345')
        """
        if self.kind == "count":
            return f"{value:,.0f}"
        scaled = value * 100 if self.kind == "share" else value
        if self.decimals is None or (self.kind == "number" and value == 0):
            return _significant(scaled, 3)
        edges = (0.0, 100.0) if self.kind == "share" else (0.0,)
        for decimals in range(self.decimals, _MOST_DECIMALS + 1):
            text = f"{scaled:.{decimals}f}"
            # 999,999 documents of a million must not become 100%, nor one of them 0%.
            if scaled == float(text) or float(text) not in edges:
                return text
        return _significant(scaled, 2) if abs(scaled) < 1 else f"<{round(scaled)}"


def _significant(value: float, digits: int) -> str:
    if value == 0:
        return "0"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{value:,.{max(decimals, 0)}f}" if decimals < 9 else f"{value:.{digits - 1}e}"  # noqa: PLR2004


def style_for(values: Iterable[float], unit: str, digits: int = 4) -> Style:
    """Return one style for all these numbers; their median gets ``digits`` significant digits."""
    known = sorted(abs(value) for value in values if value)
    if unit.startswith("share"):
        return Style("share", max(digits - 3, 0))
    whole = all(float(value).is_integer() for value in known)
    if unit in _COUNTS or (whole and unit and "/" not in unit and unit not in {"s", "ratio"}):
        return Style("count")
    if not known:
        return Style("number", digits - 1)
    if known[-1] / known[0] > _WIDE:
        return Style("number")
    middle = known[len(known) // 2]
    return Style("number", min(max(digits - 1 - math.floor(math.log10(middle)), 0), _MOST_DECIMALS))


def unit_label(unit: str) -> str:
    """Return the unit as written after numbers.

    >>> unit_label("share"), unit_label("share of words"), unit_label("bytes/token")
    ('%', '% of words', 'bytes/token')
    """
    return "%" + unit.removeprefix("share") if unit.startswith("share") else unit


def exact(value: float, unit: str) -> str:
    """Return a number with its unit, for a sentence.

    >>> exact(0.123456789, "share of words"), exact(3.14159265, "bytes/token"), exact(1234567, "tokens")
    ('12.3457% of words', '3.14159 bytes/token', '1,234,567 tokens')
    """
    if float(value).is_integer() and abs(value) >= 1000:  # noqa: PLR2004
        return f"{value:,.0f} {unit}".rstrip()
    scaled = value * 100 if unit.startswith("share") else value
    label = unit_label(unit)
    return f"{scaled:.6g}{'' if label.startswith('%') else ' '}{label}".rstrip()


def byte_size(count: float) -> str:
    """Return a number of bytes with its unit; a megabyte has 10⁶.

    >>> byte_size(532), byte_size(1234567)
    ('532 B', '1.23 MB')
    """
    for factor, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= factor:
            return f"{_significant(count / factor, 3)} {name}"
    return f"{count:.0f} B"


def duration(seconds: float) -> str:
    """Return a number of seconds in words.

    >>> duration(0.25), duration(42.3), duration(192)
    ('0.250 s', '42.3 s', '3 min 12 s')
    """
    if seconds < 100:  # noqa: PLR2004
        return f"{_significant(seconds, 3)} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
