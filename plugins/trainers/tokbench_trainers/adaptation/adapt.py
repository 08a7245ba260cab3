"""Adapts a vocabulary to a text: removes tokens, then adds merges."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tokbench import plugin
from tokbench_plugins.bpe import Tie, Vocabulary, count_in_processes
from tokbench_trainers.adaptation.prune import Pruned, prune
from tokbench_trainers.extend import MergeRule, extend


class Adapted(NamedTuple):
    """A vocabulary adapted to a text."""

    vocabulary: Vocabulary

    n_bytes: int
    """UTF-8 bytes of the text."""

    removed: list[int]

    tokens_removing: list[int]
    """Ids of the text: before, and after each removal."""

    tokens_adding: list[int]


class AdaptationPlan(NamedTuple):
    """The tokens to remove from a vocabulary and to add to it."""

    first_id: int
    """Above all ids, special tokens included."""

    add: int

    remove: int | None
    """``None`` removes all that the text does not need."""

    tie: Tie = "first"


def adapt(
    vocabulary: Vocabulary,
    pattern: str | None,
    documents: Iterable[str],
    plan: AdaptationPlan,
    progress: plugin.TrainProgress = plugin.silent,
    processes: int = 1,
) -> Adapted:
    """Remove tokens from a vocabulary, then add others.

    >>> base = Vocabulary.trained([(108, 111), (104, 105)])  # lo, hi
    >>> adapted = adapt(base, "gpt2", ["low low"], AdaptationPlan(300, add=1, remove=None))
    >>> adapted.removed, adapted.vocabulary.merges, adapted.tokens_removing, adapted.tokens_adding
    ([257], ((108, 111, 256), (256, 119, 300)), [5, 5], [5, 3])
    """
    chunks = count_in_processes(documents, pattern, processes)
    n_bytes = sum(len(chunk.encode()) * count for chunk, count in chunks.items())
    pruned = prune(vocabulary, chunks, plan.remove) if plan.remove != 0 else Pruned(vocabulary, [], [])
    extended = extend(pruned.vocabulary, chunks, plan.add, plan.first_id, MergeRule(plan.tie), progress)
    return Adapted(extended.vocabulary, n_bytes, pruned.removed, pruned.tokens or extended.tokens[:1], extended.tokens)
