r"""The named splits on 64 bytes of ASCII at a time, one bit a byte, one word a class of characters; imports numba.

A *window* begins where a chunk begins. It reports nothing that depends on what it cannot see: the last chunks, and what
follows a byte that is not ASCII or a rare control character. There the automaton of :mod:`.scan` continues.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tokbench.foundation.jit import inlined
from tokbench_plugins.bpe.compiled.intrinsics import address_in, intrinsic, ir, types

WINDOW: Final = 64
GPT2, GPT4, O200K = range(3)
"""The kinds of rules, one for each split."""

_LEAST: Final = np.uint64(12)  # bytes of ASCII; a window of fewer is not worth its time
_ALL: Final = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
_U0, _U1, _U2, _U3, _U62, _U63, _U64 = (np.uint64(n) for n in (0, 1, 2, 3, 62, 63, 64))
_FOLD: Final = np.uint8(32)  # what a small letter has more than its capital


def _masks(_typing: Any, array: Any, at: Any) -> Any:
    """Return a word with one bit a byte for each class; the last is for bytes without a class."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = ir.VectorType(ir.IntType(8), WINDOW)
        place = builder.bitcast(address_in(context, builder, signature, arguments), vector.as_pointer())
        data = builder.load(place, align=1)

        def each(value: int) -> Any:
            return ir.Constant(vector, [value] * WINDOW)

        def within(values: Any, first: int, size: int) -> Any:
            return builder.icmp_unsigned("<", builder.sub(values, each(first)), each(size))

        def equal(character: str) -> Any:
            return builder.icmp_unsigned("==", data, each(ord(character)))

        lines = builder.or_(equal("\n"), equal("\r"))
        tabs = equal("\t")
        shown = within(data, 0x20, 0x5F)
        classes = [
            within(builder.or_(data, each(int(_FOLD))), ord("a"), 26),
            within(data, ord("A"), 26),
            within(data, ord("0"), 10),
            equal(" "),
            lines,
            tabs,
            equal("'"),
            equal("/"),
            builder.not_(builder.or_(shown, builder.or_(lines, tabs))),
        ]
        words = [builder.bitcast(one, ir.IntType(64)) for one in classes]
        return context.make_tuple(builder, signature.return_type, words)

    return types.UniTuple(types.uint64, 9)(array, at), generate


def _count_of_zeros(name: str) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return getattr(builder, name)(arguments[0], ir.Constant(ir.IntType(1), 1))

    def zeros(_typing: Any, word: Any) -> Any:
        return types.uint64(word), generate

    return intrinsic(zeros)


_class_masks: Any = intrinsic(_masks)
lowest_bit: Any = _count_of_zeros("cttz")
_zeros_above: Any = _count_of_zeros("ctlz")


@inlined
def highest_bit(word: Any) -> Any:
    """Return the place of the highest bit."""
    return _U63 - _zeros_above(word)


@inlined
def _first_of_runs(word: Any) -> Any:
    return word & ~(word << _U1)


@inlined
def _length_of_contraction(data: Any, at: Any, known: Any, folded: Any) -> Any:
    first, second = data[at + 1], data[at + 2] if known > _U2 else np.uint8(0)
    if folded:
        first, second = first | _FOLD, second | _FOLD
    if first in (ord("s"), ord("d"), ord("m"), ord("t")):
        return _U2
    if first not in (ord("l"), ord("v"), ord("r")):
        return _U0
    if known <= _U2:
        return _U1
    return _U3 if second == (ord("l") if first == ord("l") else ord("e")) else _U0


@inlined
def _spaces_of_lines(spaces: Any, lines: Any, behind_signs: Any, all_spaces: Any) -> Any:
    r"""Return where chunks begin in runs of spaces: ``\s*[\r\n]|\s+(?!\S)|\s+``."""
    run = all_spaces & ~behind_signs
    blanks = run & spaces
    indents = blanks & ((lines & run) << _U1)
    more = (blanks + indents) & ~blanks & lines  # line breaks behind an indent, which is then not a separate chunk
    while more:
        before = indents & ((_U1 << lowest_bit(more)) - _U1)
        if before:
            indents &= ~(_U1 << highest_bit(before))
        more &= more - _U1
    return _first_of_runs(run) | indents | (blanks & ~(all_spaces >> _U1))


@inlined
def _thirds(digits: Any, first: Any) -> Any:
    starts = first
    four = digits & (digits << _U1) & (digits << _U2) & (digits << _U3)
    while four:
        first = (first << _U3) & four
        if not first:
            break
        starts |= first
    return starts


@inlined
def _sure(valid: Any, known: Any, all_spaces: Any) -> Any:
    sure = valid >> _U1  # the last byte may be followed by anything
    if (all_spaces >> (known - _U1)) & _U1:  # in an open run of spaces only its first is sure
        before = valid & ~all_spaces
        sure = sure & (_ALL >> (_U62 - highest_bit(before))) if before else _U0
    return sure


@inlined
def _with_contractions(
    data: Any, at: Any, known: Any, kind: Any, quotes: Any, letters: Any, starts: Any, sure: Any
) -> tuple[Any, Any]:
    done = _U0
    while quotes:
        quote = lowest_bit(quotes)
        quotes &= quotes - _U1
        if kind == O200K and quote == done:
            continue  # behind a contraction the apostrophe begins a chunk
        length = _length_of_contraction(data, at + np.int64(quote), known - quote, kind != GPT2)
        if length == _U1:
            return starts, sure & ((_U1 << quote) - _U1)
        if length:
            done = quote + length
            starts &= ~(((_U1 << length) - _U1) << quote)
            starts |= (_U1 << quote) if kind != O200K else _U0
            starts |= ((_U1 << done) & letters) if done < _U64 else _U0
    return starts, sure


@inlined
def chunk_starts(data: Any, at: Any, size: Any, kind: Any) -> Any:
    """Return where chunks are sure to begin behind the first byte of a window, one bit a byte.

    ``data`` has 64 bytes or more from ``at``, where a chunk begins; the text has ``size`` bytes from there on.
    """
    letters, capitals, digits, blanks, lines, tabs, apostrophes, slashes, unknown = _class_masks(data, at)
    unknown |= _ALL << np.uint64(size) if size < WINDOW else _U0
    known = lowest_bit(unknown) if unknown else _U64
    if known < _LEAST:
        return _U0
    valid = _ALL >> (_U64 - known)
    letters, digits, blanks, lines = letters & valid, digits & valid, blanks & valid, lines & valid
    spaces = blanks | (tabs & valid)
    all_spaces = spaces | lines
    signs = valid & ~(letters | digits | all_spaces)
    first_letters, first_signs, first_digits = _first_of_runs(letters), _first_of_runs(signs), _first_of_runs(digits)
    sure = _sure(valid, known, all_spaces)
    alone = first_signs & ~(blanks << _U1)  # a sign that begins a chunk
    if kind == GPT2:
        words = (first_letters | first_digits | first_signs) & ~(blanks << _U1)
        starts = words | _first_of_runs(all_spaces) | (all_spaces & ~(all_spaces >> _U1))
    else:
        opening = (spaces | alone) & (first_letters >> _U1)
        behind_signs = lines & ~(lines + ((signs << _U1) & lines))
        starts = opening | (first_letters & ~(opening << _U1)) | alone | (blanks & (first_signs >> _U1))
        starts |= _thirds(digits, first_digits) | _spaces_of_lines(spaces, lines, behind_signs, all_spaces)
        if kind == O200K:
            starts |= capitals & ((letters & ~capitals) << _U1)
            late = (behind_signs << _U1) & slashes & valid  # slashes behind signs and line breaks stay with them
            sure &= late - _U1 & ~late  # below the first of them; all, if there is none
    quotes = apostrophes & (letters >> _U1) & ((letters << _U1) if kind == O200K else alone)
    if quotes:
        starts, sure = _with_contractions(data, at, known, kind, quotes, letters, starts, sure)
    return starts & sure & ~_U1
