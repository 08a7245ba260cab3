"""The texts that are timed: pieces of a corpus that every tokenizer sees for the first time."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from tokbench.studies.speed.contract import TimedText

MAX_PIECE: Final = 4_096
"""In characters; cut at a line end if possible."""

_PIECES_PER_SLICE: Final = 4


class TimedSlice(NamedTuple):
    """Documents that are timed together."""

    texts: list[str]
    n_bytes: int


def slices_of(text: TimedText, count: int, max_bytes: int, seed: int) -> list[TimedSlice]:
    """Return at most ``count`` slices of about equal size with mixed groups; over ``max_bytes``, choose by hash."""
    pieces = shuffled(text, max_bytes, max(1, min(MAX_PIECE, text.n_bytes // (_PIECES_PER_SLICE * count))), seed)
    bins: list[list[str]] = [[] for _ in range(min(count, len(pieces)))]
    sizes = [0] * len(bins)
    for piece in pieces:
        smallest = sizes.index(min(sizes))
        bins[smallest].append(piece)
        sizes[smallest] += len(piece.encode())
    return [TimedSlice(texts, size) for texts, size in zip(bins, sizes, strict=True)]


def shuffled(text: TimedText, max_bytes: int, longest: int, seed: int) -> list[str]:
    """Return pieces of at most ``longest`` characters in random order; over ``max_bytes``, choose by hash."""
    share = min(1.0, max_bytes / max(1, text.n_bytes))
    pieces = [piece for piece in _pieces(text.documents, longest) if zlib.crc32(piece.encode()) < share * 2**32]
    random.Random(seed).shuffle(pieces)  # noqa: S311 - an order, not a secret
    return pieces


def _pieces(documents: Iterable[str], longest: int) -> Iterator[str]:
    for document in documents:
        start = 0
        while len(document) - start > longest:
            end = document.rfind("\n", start, start + longest) + 1 or start + longest
            yield document[start:end]
            start = end
        if document[start:]:
            yield document[start:]
