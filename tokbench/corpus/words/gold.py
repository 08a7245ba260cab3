"""Gold words in bytes of joined documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.contract import Gold
from tokbench.corpus.words.find import Spans
from tokbench.corpus.words.positions import byte_positions

GOLD_UNITS: Final = frozenset({"gold", "gold_nonpunct"})


class GoldWords(NamedTuple):
    """Words that people marked."""

    words: Spans
    punctuation: NDArray[np.bool_]
    morphemes: NDArray[np.int64] | None
    """int64[m], bytes inside words where a morpheme ends; ``None`` if not marked."""

    def unit(self, name: str) -> Spans:
        return self.words if name == "gold" else self.words.where(~self.punctuation)


def gold_words(texts: Sequence[str], golds: Sequence[Gold]) -> GoldWords:
    """Convert code points to bytes of the joined documents.

    >>> one = Gold(words=((0, 4), (5, 6)), punctuation=(False, True), morphemes=(2,))
    >>> marked = gold_words(["né s !", "né s !"], [one, one])
    >>> marked.words.starts.tolist(), marked.words.ends.tolist(), marked.morphemes.tolist()
    ([0, 6, 7, 13], [5, 7, 12, 14], [3, 10])
    """
    joined = "".join(texts)
    to_byte = byte_positions(joined)
    first = np.cumsum([0, *map(len, texts)])[:-1]

    def bytes_of(positions: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        counts = [len(row) for row in positions]
        flat = np.fromiter((p for row in positions for p in row), dtype=np.int64, count=sum(counts))
        chars = flat + np.repeat(first, counts)
        return to_byte[chars], np.repeat(np.arange(len(texts)), counts)

    starts, documents = bytes_of([[start for start, _ in gold.words] for gold in golds])
    ends, _ = bytes_of([[end for _, end in gold.words] for gold in golds])
    punctuation = np.fromiter((p for gold in golds for p in gold.punctuation), dtype=np.bool_, count=len(starts))
    marked = [gold.morphemes for gold in golds if gold.morphemes is not None]
    morphemes = bytes_of(marked)[0] if len(marked) == len(golds) else None
    return GoldWords(Spans(starts, ends, documents), punctuation, morphemes)
