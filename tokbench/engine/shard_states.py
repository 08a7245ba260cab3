"""The states of one shard under one tokenizer, and the time that they took."""

from __future__ import annotations

from typing import NamedTuple

from tokbench.foundation.failures import Failure


class WorkerSeconds(NamedTuple):
    """CPU time in workers, in seconds: of encoding, of decoding, and of the metrics."""

    encode: float = 0.0
    decode: float = 0.0
    metrics: float = 0.0

    def plus(self, other: WorkerSeconds) -> WorkerSeconds:
        return WorkerSeconds(*map(sum, zip(self, other, strict=True)))


class ShardStates(NamedTuple):
    """The states of a shard, encoded by one tokenizer."""

    name: str
    states: dict[str, bytes | Failure]
    """By metric family the pickled state, or the failure."""
    placed: frozenset[str] = frozenset()
    """The families whose state depends on the place of the shard."""
    seconds: WorkerSeconds = WorkerSeconds()
