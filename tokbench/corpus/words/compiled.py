"""Compiled loops over bytes and words. Importing this file needs numba."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tokbench.foundation.jit import compiled, inlined

_CR, _LF, _BLANK = 0x0D, 0x0A, 0x20
_ONE, _BYTE = np.uint64(1), np.uint64(0xFF)
_WIDE: Final = np.uint64(64)
_TWO, _THREE, _FOUR = 0x80, 0xE0, 0xF0  # from which first byte on a character has that many bytes


@inlined
def _code(codes: Any, at: Any) -> tuple[Any, Any]:
    first = np.int64(codes[at])
    if first < _TWO:
        return first, 1
    second = np.int64(codes[at + 1]) & 0x3F
    if first < _THREE:
        return (first & 0x1F) << 6 | second, 2
    third = np.int64(codes[at + 2]) & 0x3F
    if first < _FOUR:
        return (first & 0x0F) << 12 | second << 6 | third, 3
    return (first & 0x07) << 18 | second << 12 | third << 6 | np.int64(codes[at + 3]) & 0x3F, 4


@inlined
def _emit(edges: Any, count: Any, start: Any, end: Any) -> Any:
    """Write a segment; count it if it has a place where the word starts."""
    edges[count], edges[count + 1] = start, end
    return count + 2 if start >= 0 else count


@inlined
def _end_of_ascii(codes: Any, at: Any) -> Any:
    size, place = np.uint64(len(codes)), np.uint64(at)  # unsigned: numba looks whether a signed index is negative
    while place + _WIDE < size:
        some = np.uint8(0)
        for k in range(_WIDE):
            some |= codes[place + np.uint64(k)]
        if some >= _TWO:
            break
        place += _WIDE
    while place < size and codes[place] < _TWO:
        place += _ONE
    return np.int64(place)


@inlined
def _is_inside(codes: Any, at: Any, first: Any, last: Any, table: Any, bits: Any) -> Any:
    in_word, _, sides, shift = bits[:4]
    here = table[codes[at]]
    before = table[codes[at - 1]] if at > first else np.uint16(0)
    after = table[codes[at + 1]] if at + 1 < last else np.uint16(0)
    return np.uint64(((here & in_word) | (before & (here >> shift) & after & sides)) != 0)


def _edges_of_masks() -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    places, counts = np.zeros((256, 8), np.uint8), np.zeros(256, np.int64)
    for mask in range(256):
        bits = [place for place in range(8) if mask >> place & 1]
        places[mask, : len(bits)], counts[mask] = bits, len(bits)
    return places, counts


_PLACES, _COUNTS = _edges_of_masks()
_STEP: Final = 8
_MIDDLE: Final = np.uint64(8)  # masks of eight bytes: the low eight bits are bytes in words, the next eight are middles
_LAST: Final = np.uint64(_STEP - 1)


@inlined
def _plain_words(codes: Any, first: Any, last: Any, table: Any, bits: Any, masks: Any, edges: Any, count: Any) -> Any:
    """Write the words of ASCII, eight bytes at a time; return the number of edges."""
    inside, at, count = np.uint64(0), np.int64(first), np.uint64(count)
    while at + _STEP < last:
        here = np.uint64(at)  # unsigned: numba looks whether a signed index is negative
        mask = np.uint64(0)
        for k in range(_STEP):
            mask |= np.uint64(masks[codes[here + np.uint64(k)]]) << np.uint64(k)
        word = mask & _BYTE
        middles = mask >> _MIDDLE
        if middles:
            follows = np.uint64(masks[codes[here + np.uint64(_STEP)]]) & _ONE
            before = np.uint64(masks[codes[here - _ONE]]) & _ONE if at > first else np.uint64(0)
            # Only a middle between two bytes in words may join them.
            middles &= (mask << _ONE | before) & ((mask & _BYTE) >> _ONE | follows << _LAST)
            for k in range(_STEP):
                if middles >> np.uint64(k) & _ONE:
                    word |= _is_inside(codes, at + k, first, last, table, bits) << np.uint64(k)
        change = (word ^ (word << _ONE | inside)) & _BYTE
        for k in range(_STEP):
            edges[count + np.uint64(k)] = at + np.int64(_PLACES[change, k])
        count += np.uint64(_COUNTS[change])
        inside = word >> _LAST
        at += _STEP
    while at < last:
        word = _is_inside(codes, at, first, last, table, bits)
        edges[count] = at
        count += word ^ inside
        inside = word
        at += 1
    edges[count] = last
    return np.int64(count + inside)


@inlined
def _foreign_words(codes: Any, first: Any, size: Any, table: Any, bits: Any, edges: Any, count: Any) -> Any:
    """Write words by the rules for all characters."""
    _, alike, sides, shift, middles, hebrew, apostrophe, regional = bits[:8]
    space, joiner, pictograph, newline, attached, written = bits[8:]
    end = first
    regionals = 0
    word = late_word = -1  # where the words of this segment, and of one that may begin at a sign, start
    sign = -1  # the place of a sign whose boundary waits
    before = one = two = np.int64(0)  # the character before, and the last two that are not attached to others
    code_before = np.int64(0)
    while end < size:
        at = end
        code, width = _code(codes, at)
        end += width
        kind = np.int64(table[code])
        start = at if kind & written else -1
        if at > first and kind & attached and not before & newline:  # WB4, WB3a
            if sign >= 0:
                late_word = start if late_word < 0 else late_word
            else:
                word = start if word < 0 else word
            before, code_before = kind, code
            continue
        fits = (two & (one >> shift) & kind & sides) != 0
        if sign >= 0:
            if fits:
                word = late_word if word < 0 else word
            else:
                count = _emit(edges, count, word, sign)
                word = late_word
            sign = -1
        regionals = regionals + 1 if kind & regional else 0
        joined = fits or one & kind & alike or (one & hebrew and kind & apostrophe) or (regionals and not regionals & 1)
        joined = joined or before & kind & space or (before & joiner and kind & pictograph)
        if joined or (code_before == _CR and code == _LF):
            word = start if word < 0 else word
        elif at > first and kind & middles:
            sign, late_word = at, start
        else:
            count = _emit(edges, count, word, at)
            word = start
        two, one, before, code_before = one, kind, kind, code
    if sign >= 0:
        count = _emit(edges, count, word, sign)
        word = late_word
    return _emit(edges, count, word, size)


@compiled
def word_edges(codes: Any, table: Any, bits: Any) -> Any:
    """Return int64[2 * w], the start and end of each word by UAX #29.

    Args:
        codes: uint8[n], the text in UTF-8.
        table: uint16[0x110000], the bits of each code point; uint16[256] for ASCII.
        bits: what the bits mean.
    """
    size = len(codes)
    edges = np.empty(2 * size + _STEP, np.int64)  # the system gives this memory only where something is written
    masks = np.empty(256, np.uint16)
    for code in range(256):
        in_word = (table[code] & bits[0]) != 0
        masks[code] = np.uint16(in_word) | np.uint16((table[code] & bits[4]) != 0) << np.uint16(_STEP)
    count = done = at = np.int64(0)
    while done < size:
        at = _end_of_ascii(codes, at)
        start = at
        while done < start < size and codes[start] != _BLANK and codes[start] != _LF:
            start -= 1
        count = _plain_words(codes, done, start, table, bits, masks, edges, count)
        while at < size and codes[at] != _BLANK and codes[at] != _LF:
            at += 1
        if start < size:
            count = _foreign_words(codes, start, at, table, bits, edges, count)
        done = at
    return edges[:count].copy()


@compiled
def places_after(rising: Any, values: Any) -> Any:
    """Return for each value ``searchsorted`` from the right: both arrays in one pass, restarted where values fall."""
    places = np.empty(len(values), np.int64)
    at, size = np.uint64(0), np.uint64(len(rising))  # unsigned: numba looks whether a signed index is negative
    previous = np.int64(0)
    for k in range(len(values)):
        value = values[k]
        if value < previous:
            at = np.uint64(0)
        previous = value
        while at < size and rising[at] <= value:
            at += _ONE
        places[k] = at
    return places
