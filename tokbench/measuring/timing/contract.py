"""The contract of a metric that times all tokenizers together, and its texts: each sees them for the first time."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from tokbench.foundation.progress import Progress
from tokbench.measuring.study import Outcome
from tokbench.results.cells import WHOLE
from tokbench.tokenizers.contract import Tokenizer

MAX_PIECE: Final = 4_096
"""In characters; cut at a line end if possible."""

_PIECES_PER_SLICE: Final = 4


class TimedSlice(NamedTuple):
    """Documents that are timed together."""

    texts: list[str]
    n_bytes: int


class TimedText(NamedTuple):
    """The text of a corpus, or of its held-out part."""

    corpus: str
    evaluated: bool
    """``False`` if only the key ``corpora`` of the family names it."""
    n_bytes: int
    """In UTF-8."""
    documents: Iterable[str]
    """They can be iterated once."""
    group: str = WHOLE
    """The group of the cells; ``*`` for the whole corpus."""

    @property
    def name(self) -> str:
        """The corpus, and the group of a part."""
        return self.corpus if self.group == WHOLE else f"{self.corpus}, {self.group}"

    def slices(self, count: int, max_bytes: int, seed: int) -> list[TimedSlice]:
        """Return at most ``count`` slices of about equal size with mixed groups; over ``max_bytes``, choose by hash."""
        longest = max(1, min(MAX_PIECE, self.n_bytes // (_PIECES_PER_SLICE * count)))
        pieces = self.shuffled(max_bytes, seed, longest)
        bins: list[list[str]] = [[] for _ in range(min(count, len(pieces)))]
        sizes = [0] * len(bins)
        for piece in pieces:
            smallest = sizes.index(min(sizes))
            bins[smallest].append(piece)
            sizes[smallest] += len(piece.encode())
        return [TimedSlice(texts, size) for texts, size in zip(bins, sizes, strict=True)]

    def shuffled(self, max_bytes: int, seed: int, longest: int = MAX_PIECE) -> list[str]:
        """Return pieces of at most ``longest`` characters in random order; over ``max_bytes``, choose by hash."""
        share = min(1.0, max_bytes / max(1, self.n_bytes))
        pieces = [piece for piece in _pieces(self.documents, longest) if zlib.crc32(piece.encode()) < share * 2**32]
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


class TimedMetric(Protocol):
    """What a family of the study makes from its options.

    Two options are the study's: ``by_group`` asks for a :class:`TimedText` of each group, too, and with ``processes``
    everything is measured in as many fresh processes. A metric that has an attribute ``same_as`` gets there the
    tokenizers that are declared the same as another, with its name.
    """

    def measure(
        self, tokenizers: Mapping[str, Tokenizer], texts: Sequence[TimedText], progress: Progress, /
    ) -> Outcome:
        """Measure each tokenizer on each text, and return cells and notes; one that raises gets failed cells."""
