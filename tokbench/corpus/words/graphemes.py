"""Finds extended grapheme clusters by the rules of UAX #29 on arrays.

Rules: version :data:`.unicode_tables.GRAPHEME_RULES` of
https://www.unicode.org/reports/tr29/#Grapheme_Cluster_Boundary_Rules; character classes: ``regex``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.words.positions import byte_positions
from tokbench.corpus.words.unicode_tables import bit_table, bits_of, every_second

_CLASSES: Final = (
    *("Other", "CR", "LF", "Control", "Extend", "ZWJ", "Regional_Indicator", "Prepend", "SpacingMark"),
    *("L", "V", "T", "LV", "LVT"),
)
"""Grapheme_Cluster_Break; the place is the lowest four bits."""

_ASCII: Final = 0x80
_PIECE: Final = 1 << 20

_WIDTH: Final = 4
_EXTEND, _ZWJ, _REGIONAL = (np.uint16(_CLASSES.index(name)) for name in ("Extend", "ZWJ", "Regional_Indicator"))
_CLASS: Final = np.uint16((1 << _WIDTH) - 1)
_PICTOGRAPH, _LINKER, _CONSONANT, _BETWEEN, _WHITE = (np.uint16(1 << k) for k in range(_WIDTH, _WIDTH + 5))

_PATTERNS: Final = (
    (
        r"\p{GCB=Other}+|" + "|".join(rf"(\p{{GCB={name}}}+)" for name in _CLASSES[1:]),
        tuple(range(1, len(_CLASSES))),
    ),
    (
        r"\p{InCB=None}+|(\p{InCB=Linker}+)|(\p{InCB=Consonant}+)|(\p{InCB=Extend}+)",
        (int(_LINKER), int(_CONSONANT), int(_BETWEEN)),
    ),
    (r"(\s+)", (int(_WHITE),)),
)


@cache
def _table() -> NDArray[np.uint16]:
    return bit_table(_PATTERNS, int(_PICTOGRAPH))


@cache
def _pairs() -> NDArray[np.bool_]:
    """Return where no boundary is between neighbours, at 16 × first class + second."""
    table = np.zeros((1 << _WIDTH, 1 << _WIDTH), dtype=np.bool_)

    def join(before: str, after: str) -> None:
        first, second = ([_CLASSES.index(name) for name in names.split()] for names in (before, after))
        table[np.ix_(first, second)] = True

    join("L", "L V LV LVT")  # GB6
    join("LV V", "V T")  # GB7
    join("LVT T", "T")  # GB8
    all_others = " ".join(set(_CLASSES) - {"CR", "LF", "Control"})  # GB4, GB5
    join(all_others, "Extend ZWJ SpacingMark")  # GB9, GB9a
    join("Prepend", all_others)  # GB9b
    join("CR", "LF")  # GB3
    return table.ravel()


def grapheme_spans(text: str) -> NDArray[np.int64]:
    r"""Return start and end in code points, without white space; a mark after white space counts.

    >>> text = "né\u0301 🇫🇮👩\u200d🚀"
    >>> [text[start:end] for start, end in grapheme_spans(text)]
    ['n', 'é́', '🇫🇮', '👩\u200d🚀']
    """
    points = np.frombuffer(text.encode("utf-32-le"), dtype="<u4")
    kinds = _table()[points]
    starts = np.flatnonzero(cluster_breaks(kinds))
    ends = np.append(starts, len(points))[1:]
    white = (kinds & _WHITE) != 0
    starts = starts + white[starts]
    kept = (starts < ends) & ~white[np.minimum(starts, len(points) - 1)]  # a line feed behind a carriage return is not
    return np.column_stack([starts[kept], ends[kept]])


def cluster_breaks(kinds: NDArray[np.uint16]) -> NDArray[np.bool_]:
    """Return where clusters begin (GB1 to GB999); ``kinds`` are entries of the table."""
    some = np.bitwise_or.reduce(kinds)
    classes = kinds & _CLASS
    breaks = np.ones(len(kinds), dtype=np.bool_)
    breaks[1:] = ~_pairs()[(classes[:-1] << _WIDTH) | classes[1:]]
    if some & _LINKER:  # GB9c: from a linker on, up to the next consonant, nothing but linkers and extenders
        at = np.flatnonzero((kinds & (_CONSONANT | _LINKER)) != 0)
        other = np.flatnonzero((kinds & (_BETWEEN | _LINKER)) == 0)
        consonants = np.flatnonzero((kinds[at] & _CONSONANT) != 0)
        consonants = consonants[consonants > 0]
        after_linker = consonants[(kinds[at[consonants - 1]] & _LINKER) != 0]
        linker, consonant = at[after_linker - 1], at[after_linker]
        direct = np.searchsorted(other, linker) == np.searchsorted(other, consonant)
        breaks[consonant[direct]] = False
    if some & _PICTOGRAPH:  # GB11
        at = np.flatnonzero((kinds[1:] & _PICTOGRAPH) != 0) + 1
        at = at[classes[at - 1] == _ZWJ]
        if len(at):
            firm = np.flatnonzero(classes != _EXTEND)
            before = np.searchsorted(firm, at - 1) - 1
            first = firm[np.maximum(before, 0)]
            breaks[at[(before >= 0) & ((kinds[first] & _PICTOGRAPH) != 0)]] = False
    breaks[every_second(classes == _REGIONAL)] = False  # GB12, GB13
    return breaks


class Clusters(NamedTuple):
    """Grapheme clusters without white space, in one byte of memory for each of the text."""

    counts: NDArray[np.int64]
    """int64[d]."""
    inside: NDArray[np.bool_]
    """bool[n + 1], positions strictly inside a cluster, in joined UTF-8 bytes."""


def find_clusters(texts: Sequence[str], size: int = _PIECE) -> Clusters:
    r"""Find clusters in pieces of ``size`` characters, cut after line feeds.

    >>> clusters = find_clusters(["n\u0303 a", "\r\n", "é"])
    >>> clusters.counts.tolist(), np.flatnonzero(clusters.inside).tolist()
    ([2, 0, 1], [1, 2, 8])
    """
    sizes = np.fromiter((len(text.encode()) for text in texts), dtype=np.int64, count=len(texts))
    clusters = Clusters(np.zeros(len(texts), dtype=np.int64), np.zeros(int(sizes.sum()) + 1, dtype=np.bool_))
    document = before = 0
    while document < len(texts):
        last, chars = document + 1, len(texts[document])
        while last < len(texts) and chars + len(texts[last]) < size:
            chars += len(texts[last]) + 1
            last += 1
        # With a line feed between documents no cluster crosses from one to the next.
        joined, begin, at = "\n".join(texts[document:last]), 0, 0
        borders = np.cumsum(sizes[document:last] + 1)
        while begin < len(joined):
            end = joined.find("\n", begin + size) + 1 or len(joined)
            piece = joined[begin:end]
            starts, ends = _cluster_bytes(piece)
            documents = np.searchsorted(borders, starts + at, side="right")
            clusters.counts[document:last] += np.bincount(documents, minlength=last - document)
            long = np.flatnonzero(ends - starts > 1)
            lengths = (ends - starts)[long] - 1
            first = starts[long] + 1 + before + at - documents[long]
            clusters.inside[np.repeat(first - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())] = True
            at, begin = at + len(piece.encode()), end
        before += int(sizes[document:last].sum())
        document = last
    return clusters


def _cluster_bytes(text: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return starts and ends in bytes."""
    if text.isascii():  # every character is a cluster, but for a carriage return and its line feed, which are white
        starts = np.flatnonzero(np.frombuffer(text.encode().translate(_ascii_ink()), dtype=np.bool_))
        return starts, starts + 1
    spans = grapheme_spans(text)
    positions = byte_positions(text)
    spans = spans if positions is None else positions[spans]
    return spans[:, 0], spans[:, 1]


@cache
def _ascii_ink() -> bytes:
    bits = bits_of("".join(map(chr, range(_ASCII))), _PATTERNS)
    ink: bytes = ((bits & _WHITE) == 0).tobytes()
    return ink + bytes(256 - _ASCII)
