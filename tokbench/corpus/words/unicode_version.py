"""The versions of Unicode that decide where texts are cut, and the property that does not follow the libraries.

``regex`` brings its own tables: they decide about words by UAX #29, grapheme clusters, characters, syllables, scripts and
the classes of pre-tokenization patterns. ICU brings its own, too. Normalization and general categories are Python's.

One property is pinned. Unicode 18 took 707 symbols out of ``Extended_Pictographic``, so that a zero width joiner no longer
binds them. Here they stay in it, with what later versions add, so that the breaks of Unicode's own test files hold.
"""

from __future__ import annotations

import importlib.metadata
import re
import unicodedata
from functools import cache
from typing import Final

from tokbench.corpus.words.icu import icu_unicode_version, icu_version

PINNED: Final = "15.0"
"""The version of Unicode whose pictographs are pictographs here, whatever the version of ``regex``."""

_PINNED_PICTOGRAPHS: Final = """
a9 ae 203c 2049 2122 2139 2194-2199 21a9-21aa 231a-231b 2328 2388 23cf 23e9-23f3 23f8-23fa 24c2 25aa-25ab 25b6
25c0 25fb-25fe 2600-2605 2607-2612 2614-2685 2690-2705 2708-2712 2714 2716 271d 2721 2728 2733-2734 2744 2747
274c 274e 2753-2755 2757 2763-2767 2795-2797 27a1 27b0 27bf 2934-2935 2b05-2b07 2b1b-2b1c 2b50 2b55 3030 303d
3297 3299 1f000-1f0ff 1f10d-1f10f 1f12f 1f16c-1f171 1f17e-1f17f 1f18e 1f191-1f19a 1f1ad-1f1e5 1f201-1f20f
1f21a 1f22f 1f232-1f23a 1f23c-1f23f 1f249-1f3fa 1f400-1f53d 1f546-1f64f 1f680-1f6ff 1f774-1f77f 1f7d5-1f7ff
1f80c-1f80f 1f848-1f84f 1f85a-1f85f 1f888-1f88f 1f8ae-1f8ff 1f90c-1f93a 1f93c-1f945 1f947-1faff 1fc00-1fffd
"""
"""The code points of Extended_Pictographic in emoji-data.txt of the pinned version, in hexadecimal."""

PICTOGRAPH: Final = (
    r"[\p{Extended_Pictographic}"
    + "".join(re.sub("[0-9a-f]+", lambda code: rf"\U{code[0]:0>8}", _PINNED_PICTOGRAPHS).split())
    + "]"
)
"""A pattern for ``regex``: one character that a zero width joiner may bind to the one before."""


def pinned_pictographs() -> list[range]:
    """Return the code points that are pictographs in the pinned version of Unicode, rising.

    >>> pinned_pictographs()[0], sum(map(len, pinned_pictographs()))
    (range(169, 170), 3537)
    """
    ends = [[int(code, 16) for code in each.split("-")] for each in _PINNED_PICTOGRAPHS.split()]
    return [range(each[0], each[-1] + 1) for each in ends]


@cache
def regex_unicode_version() -> str:
    """Return the version of Unicode that ``regex`` supports, as its package says; ``unknown`` if it does not say.

    >>> regex_unicode_version() >= "15.1"
    True
    """
    about = importlib.metadata.metadata("regex")
    text = str(about.get_payload() or about.get("Description") or "")
    found = re.search(r"supports Unicode (\d+(?:\.\d+)*)", text)
    return found[1] if found else "unknown"


def segmentation_versions() -> dict[str, str]:
    """Return the version of Unicode behind each way to cut or classify text, with the library that brings it.

    >>> sorted(segmentation_versions())
    ['grapheme clusters', 'normalization, general categories', 'scripts, classes of characters', 'syllables, characters', \
'words (ICU)', 'words (UAX #29)']
    """
    by_regex = f"Unicode {regex_unicode_version()} (regex {importlib.metadata.version('regex')})"
    pinned = f"{by_regex}; pictographs also those of Unicode {PINNED}"
    return {
        "words (UAX #29)": pinned,
        "grapheme clusters": pinned,
        "syllables, characters": by_regex,
        "scripts, classes of characters": by_regex,
        "words (ICU)": f"Unicode {icu_unicode_version()} (ICU {icu_version()})" if icu_version() else "not installed",
        "normalization, general categories": f"Unicode {unicodedata.unidata_version} (Python)",
    }
