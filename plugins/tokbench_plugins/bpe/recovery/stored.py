"""Caches recovered merges in the store, by the hash of the candidates or ranks; recovery takes seconds."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Final, TypeAlias

from tokbench.foundation.store import open_store_if_usable
from tokbench_plugins.bpe.recovery.recovered import Candidate, Recovered
from tokbench_plugins.bpe.vocabulary import Pair

KIND: Final = "merges"

_VERSION: Final = 1
"""Raise it when the same candidates give other merges."""

_ANY: Final = (-1, -1)
_NEVER: Final = (-2, -2)

WantedPair: TypeAlias = Pair | tuple[()] | None


def recovered_once(candidates: Sequence[Candidate], make: Callable[[], Recovered], *, late: bool) -> Recovered:
    """Return the cached result of ``make`` for candidates."""
    return _once(lambda: {"candidates": _digest(candidates), "late": late, "version": _VERSION}, make)


def recovered_from_ranks_once(ranks: Mapping[bytes, int], make: Callable[[], Recovered]) -> Recovered:
    """Return the cached result of ``make`` for ranks."""
    return _once(lambda: {"engines": _digest_of_ranks(ranks), "version": _VERSION}, make)


def _once(key_of: Callable[[], Mapping[str, object]], make: Callable[[], Recovered]) -> Recovered:
    store = open_store_if_usable()
    recovered: Recovered = make() if store is None else store.result(KIND, key_of(), make)
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
