"""Decides which worker gets which tokenizers of a shard.

To load a large vocabulary takes as long as to encode twenty megabytes with it. So each worker keeps to a share of the
tokenizers, and takes over one of another worker only if enough work is left for it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from tokbench.corpus.shards import Shard
from tokbench.engine.workers.pool import InMemory

WORTH_LOADING: Final = 2.0
"""Seconds of work that must be left with a tokenizer for another worker to load it, too."""

_SHARDS_A_WORKER: Final = 8

Asked = Mapping[str, tuple[str, ...]]
"""By tokenizer, the metric families that are to be measured."""


class ShardPart(NamedTuple):
    """A shard, and the tokenizers by which one worker measures it."""

    shard: Shard
    asked: Asked


class _Waiting(NamedTuple):
    shard: Shard
    names: tuple[str, ...]
    left: dict[str, tuple[str, ...]]


@dataclass
class Backlog:
    """The shards that were read, each with the tokenizers that no worker has got yet, oldest first."""

    seconds_left: dict[str, float] = field(default_factory=dict)
    """By tokenizer, about how many seconds of work are left, if that is known."""
    strangers: Collection[str] = ()
    """The tokenizers that share no process with others."""
    _waiting: deque[_Waiting] = field(default_factory=deque)

    def add(self, shard: Shard, asked: Asked) -> None:
        if asked:
            self._waiting.append(_Waiting(shard, tuple(asked), dict(asked)))

    def is_full(self, workers: int) -> bool:
        return len(self._waiting) >= _SHARDS_A_WORKER * workers

    def take(self, memory: InMemory | None) -> ShardPart | None:
        """Return the next part for a worker; without ``memory`` shards are not divided."""
        for entry in self._waiting:
            names = list(entry.left) if memory is None else _own(entry.left, entry.names, memory)
            if names:
                return self._part(entry, [name for name in names if name not in self.strangers] or names[:1])
        return None

    def take_over(self) -> ShardPart | None:
        """Return a part with the tokenizer of another worker that has most work left, if it is worth loading."""
        for entry in self._waiting:
            seconds = {name: self.seconds_left.get(name, float("inf")) for name in entry.left}
            name = max(seconds, key=seconds.__getitem__)
            if seconds[name] >= WORTH_LOADING:
                return self._part(entry, [name])
        return None

    def _part(self, waiting: _Waiting, names: list[str]) -> ShardPart:
        part = ShardPart(waiting.shard, {name: waiting.left.pop(name) for name in names})
        self._waiting = deque(entry for entry in self._waiting if entry.left)
        return part


def _own(left: Collection[str], names: Collection[str], memory: InMemory) -> list[str]:
    """Return the tokenizers of the worker, and enough of those that no worker has to make up its share.

    >>> _own(["a", "b", "c", "d"], ["a", "b", "c", "d"], InMemory(["a"], ["b"], 2))
    ['a', 'c']
    """
    own = [name for name in left if name in memory.here]
    free = [name for name in left if name not in memory.here and name not in memory.elsewhere]
    room = -(-len(names) // memory.workers) - sum(name in memory.here for name in names)
    return [name for name in left if name in own or name in free[: max(room, 0 if own else 1)]]
