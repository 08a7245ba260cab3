"""Continued BPE: learns merges on top of a vocabulary, as if training had gone on. Its ids do not change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench import plugin
from tokbench.foundation.jit import has_numba
from tokbench_plugins.bpe import Encoder, Pair, Tie, Vocabulary
from tokbench_trainers.continued import Learned, continue_merges

_WORTH_COMPILING: Final = 100_000
"""Loads compiled code from this many characters or ids of different chunks."""


class Extension(NamedTuple):
    """A vocabulary with more merges."""

    vocabulary: Vocabulary

    tokens: list[int]


class MergeRule(NamedTuple):
    """Which pair is merged next: the most frequent one that may be merged."""

    tie: Tie = "first"

    may_make: Callable[[bytes], bool] | None = None
    """Says whether a merge may make these bytes; ``None`` allows all."""

    overlapping: bool = True
    """``False`` counts merges that would happen, without overlaps."""


_ANY_TOKEN: Final = MergeRule()


def extend(
    vocabulary: Vocabulary,
    chunks: Mapping[str, int],
    n_more: int,
    first_id: int,
    rule: MergeRule = _ANY_TOKEN,
    progress: plugin.TrainProgress = plugin.silent,
) -> Extension:
    """Add merges to a vocabulary; fewer if no pair is left.

    A pair whose bytes are a token already is not merged. ``first_id`` must be above all ids, special tokens included.

    >>> base = Vocabulary.trained([(108, 111)])  # lo
    >>> extended = extend(base, {"low": 3, "lower": 2}, 2, first_id=300)
    >>> extended.vocabulary.merges, extended.vocabulary.tokens[300:], extended.tokens
    (((108, 111, 256), (256, 119, 300), (300, 101, 301)), (b'low', b'lowe'), [14, 9, 7])
    """
    encoded = _encode_chunks(vocabulary, chunks)
    learned = learn(vocabulary, encoded, range(first_id, first_id + n_more), rule, progress)
    sizes = list(accumulate((-merge.times for merge in learned), initial=encoded.n_tokens))
    merges = [(*merge.pair, made) for made, merge in enumerate(learned, first_id)]
    return Extension(_with_merges(vocabulary, merges, first_id) if merges else vocabulary, sizes)


def _with_merges(vocabulary: Vocabulary, merges: Sequence[tuple[int, int, int]], first_id: int) -> Vocabulary:
    tokens = [*vocabulary.tokens, *[b""] * (first_id - len(vocabulary.tokens))]
    for left, right, _ in merges:
        tokens.append(tokens[left] + tokens[right])
    return replace(vocabulary, tokens=tuple(tokens), merges=(*vocabulary.merges, *merges))


class EncodedChunks(NamedTuple):
    """Different chunks in ids, in the order of first occurrence."""

    ids: NDArray[np.uint32]
    """uint32[n], the ids of all chunks."""

    offsets: NDArray[np.int64]
    """int64[c + 1], the start of each chunk, and the end of the last."""

    counts: NDArray[np.int64]
    """int64[c], how often each occurs."""

    @property
    def n_tokens(self) -> int:
        return int(np.diff(self.offsets) @ self.counts)

    def sequences(self) -> Iterator[tuple[Sequence[int], int]]:
        ids = self.ids.tolist()
        for (start, end), count in zip(pairwise(self.offsets.tolist()), self.counts.tolist(), strict=True):
            yield ids[start:end], count


def _encode_chunks(vocabulary: Vocabulary, chunks: Mapping[str, int]) -> EncodedChunks:
    counts = np.fromiter(chunks.values(), np.int64, len(chunks))
    if has_numba() and sum(map(len, chunks)) >= _WORTH_COMPILING:
        from tokbench_plugins.bpe.compiled.encode import CompiledEncoder

        encoded = CompiledEncoder(vocabulary, None).encode_batch(list(chunks))
    else:
        encoded = plugin.from_lists(list(map(Encoder(vocabulary, None), chunks)))
    return EncodedChunks(encoded.ids, encoded.offsets, counts)


def learn(
    vocabulary: Vocabulary,
    encoded: EncodedChunks,
    ids: range,
    rule: MergeRule = _ANY_TOKEN,
    progress: plugin.TrainProgress = plugin.silent,
) -> list[Learned]:
    """Learn merges that make ``ids`` from chunks that are encoded; fewer if no pair is left.

    >>> ids, offsets, counts = np.array([108, 111, 119], np.uint32), np.array([0, 3]), np.array([5])
    >>> learn(Vocabulary.trained([]), EncodedChunks(ids, offsets, counts), range(256, 257))
    [Learned(pair=(108, 111), times=5)]
    """
    tie, may_make, overlapping = rule
    known = {token for token in vocabulary.tokens if token}
    tokens = [*vocabulary.tokens, *[b""] * (ids.start - len(vocabulary.tokens))]

    def claim(pair: Pair) -> bool:
        token = tokens[pair[0]] + tokens[pair[1]]
        if token in known or (may_make is not None and not may_make(token)):
            return False
        tokens.append(token)
        known.add(token)
        return True

    if has_numba() and len(encoded.ids) >= _WORTH_COMPILING:
        from tokbench_plugins.bpe.compiled.count import Counts
        from tokbench_trainers.extend_compiled import continue_counts

        return continue_counts(Counts(*encoded), ids, progress, tie, claim, overlapping=overlapping)
    return list(continue_merges(encoded.sequences(), ids, progress, tie, claim, overlapping=overlapping))
