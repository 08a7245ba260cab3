"""Both steps of fitting a vocabulary to a text: tokens that it does not need go, and merges that it needs come."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tokbench.plugin import TrainProgress, silent
from tokbench_plugins.bpe.adaptation.extend import MergeRule, extend
from tokbench_plugins.bpe.adaptation.prune import Pruned, prune
from tokbench_plugins.bpe.fast.parallel import count_in_processes
from tokbench_plugins.bpe.literal import Tie
from tokbench_plugins.bpe.vocabulary import Vocabulary


class Adapted(NamedTuple):
    """A vocabulary that was fitted to a text."""

    vocabulary: Vocabulary
    """The vocabulary."""

    n_bytes: int
    """The size of the text, UTF-8."""

    removed: list[int]
    """The ids that are gone, in the order in which they went."""

    tokens_removing: list[int]
    """The number of ids of the text: before, and after each removal."""

    tokens_adding: list[int]
    """The number of ids of the text: before the first merge, and after each."""


class AdaptationPlan(NamedTuple):
    """The tokens that are removed from a vocabulary and added to it."""

    first_id: int
    """The id of the first token that is added; above all others, those of special tokens too."""

    add: int
    """The number of tokens to add."""

    remove: int | None
    """The number of tokens to remove; ``None`` for all that the text does not need."""

    tie: Tie = "first"
    """The rule that breaks ties between most frequent pairs; see :func:`..literal.most_frequent`."""


def adapt(
    vocabulary: Vocabulary,
    pattern: str | None,
    documents: Iterable[str],
    plan: AdaptationPlan,
    progress: TrainProgress = silent,
    processes: int = 1,
) -> Adapted:
    """Remove tokens from a vocabulary, and then add others.

    Args:
        vocabulary: the vocabulary.
        pattern: its split; ``None`` for naive BPE.
        documents: the text, gone through once and not held.
        plan: what is removed and added.
        progress: called with (merges done, merges in all).
        processes: how many parts of the text are split and counted at a time.

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
