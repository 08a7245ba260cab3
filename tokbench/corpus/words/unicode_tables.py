"""The tables of Unicode by which texts are cut, and their versions.

``regex`` and ICU bring their own tables; normalization and general categories are Python's. 707 symbols that are
``Extended_Pictographic`` in Unicode 15.0 and not in 18.0 are added, so that a zero width joiner binds them.
"""

from __future__ import annotations

import importlib.metadata
import re
import unicodedata
from functools import cache
from typing import Final

import numpy as np
import regex
from numpy.typing import NDArray

from tokbench.corpus.words.icu import icu_unicode_version, icu_version

CODE_POINTS: Final = 0x110000

GRAPHEME_RULES: Final = "18.0"
"""Unicode's version of the rules for grapheme clusters; others cut Burmese and more differently."""

PINNED: Final = "15.0"

_PINNED_PICTOGRAPHS: Final = """
a9 ae 203c 2049 2122 2139 2194-2199 21a9-21aa 231a-231b 2328 2388 23cf 23e9-23f3 23f8-23fa 24c2 25aa-25ab 25b6
25c0 25fb-25fe 2600-2605 2607-2612 2614-2685 2690-2705 2708-2712 2714 2716 271d 2721 2728 2733-2734 2744 2747
274c 274e 2753-2755 2757 2763-2767 2795-2797 27a1 27b0 27bf 2934-2935 2b05-2b07 2b1b-2b1c 2b50 2b55 3030 303d
3297 3299 1f000-1f0ff 1f10d-1f10f 1f12f 1f16c-1f171 1f17e-1f17f 1f18e 1f191-1f19a 1f1ad-1f1e5 1f201-1f20f
1f21a 1f22f 1f232-1f23a 1f23c-1f23f 1f249-1f3fa 1f400-1f53d 1f546-1f64f 1f680-1f6ff 1f774-1f77f 1f7d5-1f7ff
1f80c-1f80f 1f848-1f84f 1f85a-1f85f 1f888-1f88f 1f8ae-1f8ff 1f90c-1f93a 1f93c-1f945 1f947-1faff 1fc00-1fffd
"""
"""Extended_Pictographic in emoji-data.txt, hexadecimal."""


def bits_of(text: str, patterns: tuple[tuple[str, tuple[int, ...]], ...]) -> NDArray[np.uint16]:
    r"""Return uint16[n], bits for each character.

    Args:
        text: the characters.
        patterns: ``regex`` patterns of runs, with the bits of their groups; a match without a group sets nothing.

    >>> bits_of("ab1 ", ((r"(\p{L}+)|(\p{N}+)", (1, 2)), (r"(b+)", (4,)))).tolist()
    [1, 5, 2, 0]
    """
    bits = np.zeros(len(text), dtype=np.uint16)
    for pattern, of_groups in patterns:
        for match in regex.finditer(pattern, text):
            if match.lastindex:
                bits[match.start() : match.end()] |= of_groups[match.lastindex - 1]
    return bits


def bit_table(patterns: tuple[tuple[str, tuple[int, ...]], ...], pictograph: int) -> NDArray[np.uint16]:
    """Return the bits of every code point; ``pictograph`` is for those that a zero width joiner may bind."""
    points = np.arange(CODE_POINTS, dtype="<u4")
    text = points.tobytes().decode("utf-32-le", "surrogatepass")
    table = bits_of(text, (*patterns, (r"(\p{Extended_Pictographic}+)", (pictograph,))))
    for span in _PINNED_PICTOGRAPHS.split():
        first, _, last = span.partition("-")
        table[int(first, 16) : int(last or first, 16) + 1] |= np.uint16(pictograph)
    return table


def every_second(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the second, fourth, … ``True`` of every run: two regional indicators are one flag.

    >>> every_second(np.array([True, True, True, False, True, True, True, True])).tolist()
    [1, 5, 7]
    """
    at = np.flatnonzero(flags)
    rows = np.flatnonzero(np.diff(at, prepend=-2) != 1)
    in_row = np.arange(len(at)) - np.repeat(rows, np.diff(np.append(rows, len(at))))
    seconds: NDArray[np.int64] = at[in_row % 2 == 1]
    return seconds


@cache
def regex_unicode_version() -> str:
    """Return ``unknown`` if the package does not say."""
    text = importlib.metadata.distribution("regex").read_text("METADATA") or ""
    match = re.search(r"supports Unicode (\d+(?:\.\d+)*)", text)
    return match[1] if match else "unknown"


def segmentation_versions() -> dict[str, str]:
    """Return the version of Unicode, and the library, behind each way to cut or classify text."""
    by_regex = f"Unicode {regex_unicode_version()} (regex {importlib.metadata.version('regex')})"
    pinned = f"{by_regex}, with all pictographs of Unicode {PINNED}"
    return {
        "words (UAX #29)": pinned,
        "grapheme clusters (UAX #29)": f"rules of Unicode {GRAPHEME_RULES}; {pinned}",
        "characters, syllables, white space": by_regex,
        "scripts, classes in patterns": by_regex,
        "words (ICU)": f"Unicode {icu_unicode_version()} (ICU {icu_version()})" if icu_version() else "not installed",
        "normalization, general categories": f"Unicode {unicodedata.unidata_version} (Python)",
    }
