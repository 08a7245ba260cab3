"""Shards: batches of documents of one group, with counts of their text that all tokenizers share."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import cached_property
from itertools import groupby, islice, pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.contract import CountedChunk, Document
from tokbench.corpus.words.positions import byte_widths, code_points
from tokbench.foundation.errors import InputError
from tokbench.statistics.sample_units import Placed, SampleUnits, unit_keys

if TYPE_CHECKING:  # words and characters are found where a metric asks for them
    from tokbench.corpus.words.find import Clusters, Spans
    from tokbench.corpus.words.gold import GoldWords
    from tokbench.corpus.words.units import Unit

T = TypeVar("T")

SHARD_CHARS: Final = 1 << 20
"""A shard is complete with this many characters."""

SHARD_CHUNKS: Final = 1 << 16
"""The chunks of a shard of counts."""

_LONG: Final = 1 << 26

BUCKET_BITS: Final = 5
BUCKETS: Final = 1 << BUCKET_BITS
"""Jackknife groups for counts of ids."""


class Shard:
    """Documents of one group, of which ``first`` are before them.

    What a metric makes of them must not depend on the name of the corpus: the store knows the documents under any.
    """

    split: str = ""
    """The regular expression that made the documents, where they are counted chunks."""
    times: NDArray[np.int64] | None = None
    """int64[d], how often each chunk occurs; ``None`` where documents are texts."""

    def __init__(self, corpus: str, group: str, first: int, documents: list[Document], *, by_key: bool) -> None:
        self.corpus, self.group, self.first = corpus, group, first
        self.keys = [document.key for document in documents]
        self.origins = [document.origin for document in documents]
        self.parallel = by_key
        """Whether the groups are translations: document ``first + k`` is the same text in each group."""
        self.texts = [document.text for document in documents]
        encoded = [text.encode("utf-8") for text in self.texts]
        hashed = [key.encode("utf-8") for key in self.keys] if by_key else encoded
        self.n_chars = np.fromiter(map(len, self.texts), dtype=np.int64, count=len(documents))
        self.n_bytes = np.fromiter(map(len, encoded), dtype=np.int64, count=len(documents))
        hashes = np.fromiter(map(zlib.crc32, hashed), dtype=np.int64, count=len(documents))
        self.unit_keys = unit_keys(hashes, None if by_key else zlib.crc32(group.encode("utf-8")))
        """int64[d], the sampling unit: the hash of a key that translations share, else of the text."""
        golds = [document.gold for document in documents if document.gold is not None]
        self.gold: GoldWords | None = None
        """``None`` if the corpus has no gold words."""
        if len(golds) == len(documents):
            from tokbench.corpus.words.gold import gold_words

            self.gold = gold_words(self.texts, golds)
        self._cached: dict[Hashable, Any] = {}

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def key(self) -> tuple[str, str, int]:
        return self.corpus, self.group, self.first

    @property
    def documents(self) -> int:
        return len(self.texts)

    @property
    def total_bytes(self) -> int:
        return int(self.n_bytes.sum())

    @cached_property
    def digest(self) -> str:
        """The hash of group, place in it, texts, unit keys and gold words; the corpus may have another name."""
        joined = "".join(self.texts).encode()
        place = [self.group, self.first, self.keys, self.origins]
        head = [*place, self.parallel, self.n_chars.tolist(), self.unit_keys.tolist()]
        digest = hashlib.sha256(json.dumps(head).encode())
        if self.times is not None:
            digest.update(self.split.encode() + self.times.tobytes())
        if self.gold:
            words, punctuation, morphemes = self.gold
            for array in (*words, punctuation, morphemes):
                digest.update(f"{len(array)}\n".encode() + array.tobytes() if array is not None else b"none\n")
        digest.update(joined)
        return digest.hexdigest()

    @cached_property
    def byte_offsets(self) -> NDArray[np.int64]:
        """int64[d + 1], where each document begins in the joined bytes, and the end."""
        return np.concatenate([[0], np.cumsum(self.n_bytes)])

    @property
    def data(self) -> bytes:
        """The joined UTF-8 bytes."""
        return self.cached("data", lambda: "".join(self.texts).encode())

    @cached_property
    def n_spaces(self) -> NDArray[np.int64]:
        """int64[d], code points with the Unicode property White_Space."""
        from tokbench.corpus.words.graphemes import is_white

        white = is_white("".join(self.texts))
        places = pairwise([0, *np.cumsum(self.n_chars).tolist()])
        return np.array([np.count_nonzero(white[start:end]) for start, end in places], dtype=np.int64)

    @cached_property
    def ink_before(self) -> NDArray[np.int64]:
        """int64[bytes + 1], the bytes before each position that are not white space."""
        from tokbench.corpus.words.graphemes import is_white

        text = "".join(self.texts)
        ink = np.repeat(~is_white(text), byte_widths(code_points(text)))
        return np.concatenate([[0], np.cumsum(ink)])

    @property
    def clusters(self) -> Clusters:
        """Grapheme clusters, in a byte of memory for each byte of text."""
        from tokbench.corpus.words.find import find_clusters

        return self.cached("clusters", lambda: find_clusters(self.texts, self.n_bytes))

    @property
    def is_long(self) -> bool:
        """Whether :meth:`cached` keeps nothing, to save memory."""
        return self.total_bytes > _LONG

    def cached(self, key: Hashable, make: Callable[[], T]) -> T:
        """Compute once for all tokenizers, unless a document has more than 67 million bytes."""
        if self.is_long:
            return make()
        if key not in self._cached:
            self._cached[key] = make()
        return self._cached[key]  # type: ignore[no-any-return]

    def words(self, unit: Unit) -> Spans:
        """Return words; an InputError if the unit needs gold words, and the corpus has none."""
        return self.cached(("words", unit), lambda: self._find_words(unit))

    def word_counts(self, unit: Unit) -> NDArray[np.int64]:
        """Return int64[d], the words of each document; raises as :meth:`words`."""
        from tokbench.corpus.words import find, gold

        if self.is_long and unit not in gold.GOLD_UNITS:
            return find.count_words(self.texts, unit, self.n_bytes)
        return np.bincount(self.words(unit).documents, minlength=len(self))

    def _find_words(self, unit: Unit) -> Spans:
        from tokbench.corpus.words import find, gold

        if unit not in gold.GOLD_UNITS:
            return find.find_words(self.texts, unit, self.n_bytes)
        if not self.gold:
            raise InputError(f"corpus {self.corpus!r} has no gold words")
        return self.gold.unit(unit)

    @cached_property
    def sampled(self) -> Placed:
        """The sampling units, and the unit of each document."""
        return SampleUnits.of(self.unit_keys)

    @property
    def buckets(self) -> NDArray[np.int64]:
        return self.unit_keys % BUCKETS


def shards(corpus: str, documents: Iterable[Document], *, by_key: bool, size: int = SHARD_CHARS) -> Iterator[Shard]:
    """Yield complete shards, each of one group."""
    open_: dict[str, list[Document]] = {}
    chars: dict[str, int] = {}
    first: dict[str, int] = {}

    def close(group: str) -> Shard:
        batch = open_.pop(group)
        start = first.get(group, 0)
        first[group] = start + len(batch)
        chars[group] = 0
        return Shard(corpus, group, start, batch, by_key=by_key)

    for document in documents:
        group = document.group
        open_.setdefault(group, []).append(document)
        chars[group] = chars.get(group, 0) + len(document.text) + 1
        if chars[group] >= size:
            yield close(group)
    for group in list(open_):
        yield close(group)


def shards_of_counts(corpus: str, chunks: Iterable[CountedChunk], split: str) -> Iterator[Shard]:
    """Yield chunks of a table in shards of one group; the parts of the text are the sampling units."""
    first: Counter[str] = Counter()
    for group, some in groupby(chunks, attrgetter("group")):
        while batch := list(islice(some, SHARD_CHUNKS)):
            rows = range(first[group], first[group] + len(batch))
            documents = [
                Document(chunk.text, group, str(row), f"row {row + 1}") for row, chunk in zip(rows, batch, strict=True)
            ]
            shard = Shard(corpus, group, first[group], documents, by_key=False)
            parts = np.fromiter((chunk.part for chunk in batch), np.int64, len(batch))
            shard.unit_keys = unit_keys(parts, zlib.crc32(group.encode("utf-8")))
            shard.split = split
            shard.times = np.fromiter((chunk.times for chunk in batch), np.int64, len(batch))
            first[group] += len(batch)
            yield shard
