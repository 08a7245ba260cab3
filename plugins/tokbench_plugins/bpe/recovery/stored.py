"""Recovered merges in the store, as arrays: what takes seconds is done once for each vocabulary and machine.

Kept are the merges and what no merge builds, under the hash of the candidates or ranks that they were recovered from.
All numbers are int64, little-endian: how many merges, whole chunks and parts there are; the merges, three numbers each;
of each whole chunk its id, rank, wanted pair and number of parts; then the parts of all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Final, TypeAlias

from tokbench.plugin import open_store_if_usable
from tokbench_plugins.bpe.recovery.recovered import Candidate, Recovered, WholeChunk
from tokbench_plugins.bpe.vocabulary import Pair

KIND: Final = "merges"

_VERSION: Final = 1
"""It goes up when other merges come out of the same candidates."""

_HEAD: Final = 3
_MERGE: Final = 3
_CHUNK: Final = 5
_ANY: Final = (-1, -1)
_NEVER: Final = (-2, -2)

WantedPair: TypeAlias = Pair | tuple[()] | None


def recovered_once(candidates: Sequence[Candidate], make: Callable[[], Recovered], *, late: bool) -> Recovered:
    """Return what was recovered from candidates before, or recover and keep it.

    Args:
        candidates: as :func:`.recover.recover_from` takes them.
        make: recovers the merges.
        late: as for :func:`.recover.recover_from`.

    Raises:
        ValueError: ``make`` raises it; nothing is kept then.
    """
    return _once(lambda: {"candidates": _digest(candidates), "late": late, "version": _VERSION}, make)


def recovered_from_ranks_once(ranks: Mapping[bytes, int], make: Callable[[], Recovered]) -> Recovered:
    """Return what was recovered from ranks before, or recover and keep it; see :func:`recovered_once`.

    Args:
        ranks: the id of each token, by its bytes.
        make: recovers all merges that engines do.

    Raises:
        ValueError: ``make`` raises it; nothing is kept then.
    """
    return _once(lambda: {"engines": _digest_of_ranks(ranks), "version": _VERSION}, make)


def _once(key_of: Callable[[], Mapping[str, object]], make: Callable[[], Recovered]) -> Recovered:
    store = open_store_if_usable()
    if store is None:
        return make()
    key = key_of()
    kept = store.get(KIND, key)
    recovered = unpacked(kept) if kept is not None else None
    if recovered is None:
        if kept is not None:
            store.damaged(KIND, key, "its numbers contradict each other")
        recovered = make()
        store.put(KIND, key, packed(recovered))
    return recovered


def _digest_of_ranks(ranks: Mapping[bytes, int]) -> str:
    import numpy as np

    ids, lengths = (np.fromiter(column, "<i8", len(ranks)) for column in (ranks.values(), map(len, ranks)))
    return hashlib.sha256(b"".join([ids.tobytes(), lengths.tobytes(), *ranks])).hexdigest()


def _digest(candidates: Sequence[Candidate]) -> str:
    import numpy as np

    count = len(candidates)
    units = [candidate.units for candidate in candidates]
    made = np.fromiter((candidate.made for candidate in candidates), "<i8", count)
    heads = [made, np.fromiter(map(len, units), "<i8", count)]
    digest = hashlib.sha256(b"".join(map(bytes, heads)))
    if all(isinstance(token, bytes) for token in units):
        digest.update(np.frombuffer(b"".join(units), np.uint8).astype("<i4").tobytes())  # type: ignore[arg-type]
    else:
        digest.update(np.fromiter(chain.from_iterable(units), "<i4").tobytes())
    if any(candidate.pair is not None for candidate in candidates):
        digest.update(np.array([_numbers(candidate.pair) for candidate in candidates], "<i8").tobytes())
    return digest.hexdigest()


def _numbers(pair: WantedPair) -> Pair:
    return _ANY if pair is None else pair or _NEVER


def packed(recovered: Recovered) -> bytes:
    """Return what was recovered as bytes.

    >>> some = Recovered([(97, 98, 256)], [WholeChunk(257, (120, 121, 122), 1), WholeChunk(258, (97, 98), 1, ())])
    >>> unpacked(packed(some)) == some, unpacked(packed(some)[:-8])
    (True, None)
    """
    import numpy as np

    merges, chunks = recovered
    parts = list(chain.from_iterable(chunk.parts for chunk in chunks))
    rows = [(chunk.made, chunk.rank, *_numbers(chunk.pair), len(chunk.parts)) for chunk in chunks]
    numbers = [(len(merges), len(chunks), len(parts)), merges, rows, parts]
    return b"".join(np.array(part, "<i8").tobytes() for part in numbers)


def unpacked(data: bytes) -> Recovered | None:
    """Return what :func:`packed` made bytes of; ``None`` if the numbers contradict each other."""
    import numpy as np

    if len(data) < 8 * _HEAD or len(data) % 8:
        return None
    numbers = np.frombuffer(data, "<i8")
    sizes, numbers = numbers[:_HEAD], numbers[_HEAD:]
    limits = np.cumsum(sizes * (_MERGE, _CHUNK, 1))
    if sizes.min() < 0 or limits[-1] != len(numbers):
        return None
    merges, rows, parts = np.split(numbers, limits[:-1])
    rows = rows.reshape(-1, _CHUNK)
    lengths = rows[:, -1]
    sound = merges.min(initial=0) >= 0 and parts.min(initial=0) >= 0 and rows.min(initial=0) >= _NEVER[0]
    if not sound or lengths.min(initial=0) < 0 or lengths.sum() != len(parts) or rows[:, 1].max(initial=0) > sizes[0]:
        return None
    flat = iter(parts.tolist())
    chunks = []
    for made, rank, left, right, length in rows.tolist():
        pair: WantedPair = {_ANY: None, _NEVER: ()}.get((left, right), (left, right))
        chunks.append(WholeChunk(made, tuple(next(flat) for _ in range(length)), rank, pair))
    left, right, made = merges.reshape(-1, _MERGE).T.tolist()
    return Recovered(list(zip(left, right, made, strict=True)), chunks)
