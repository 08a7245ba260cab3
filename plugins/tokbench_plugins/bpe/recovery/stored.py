"""Caches recovered merges in the store, by the hash of what they are recovered from; recovery takes seconds."""

from __future__ import annotations

import hashlib
import marshal
from collections.abc import Callable, Iterable
from typing import Any, Final

from tokbench.foundation.store import open_store_if_usable
from tokbench_plugins.bpe.recovery.recovered import Recovered

KIND: Final = "merges"

_VERSION: Final = 2
"""Raise it when the same rows give other merges."""

_PLAIN: Final = 2  # the format of marshal without references, which depend on more than values


def recovered_once(
    rows: Iterable[tuple[Any, ...]], make: Callable[[], Recovered], *, late: bool | None = None
) -> Recovered:
    """Return the cached result of ``make`` for these rows of numbers and bytes."""
    store = open_store_if_usable()
    if store is None:
        return make()
    sha256 = hashlib.sha256(marshal.dumps(list(map(tuple, rows)), _PLAIN)).hexdigest()
    recovered: Recovered = store.result(KIND, {"rows": sha256, "late": late, "version": _VERSION}, make)
    return recovered
