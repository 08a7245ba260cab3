"""Training by whichever engine suits: the one entry to :mod:`..train` and :mod:`..compiled.train`.

Both give the same merges. The compiled one is some ten times as fast, but needs numba, a second to get
ready and, the first time on a machine, many seconds to be compiled: a short text is not worth it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Final, Literal

from tokbench.plugin import BackendUnavailable, TrainProgress, silent
from tokbench_plugins.bpe.compiled.jit import has_numba
from tokbench_plugins.bpe.fast.parallel import count_in_processes
from tokbench_plugins.bpe.fast.train import train_merges
from tokbench_plugins.bpe.literal import Tie
from tokbench_plugins.bpe.patterns import resolve_pattern
from tokbench_plugins.bpe.vocabulary import FIRST_MERGE, Pair

__all__ = ["TrainEngine", "train"]

TrainEngine = Literal["auto", "python", "numba"]
"""Who trains; ``auto`` takes numba where it is installed and the text is long."""

# Characters from which on the compiled engine is done first, even when it has to get ready.
_LONG_SPLIT: Final = 4_000_000
_LONG_NAIVE: Final = 500_000


def train(
    documents: Iterable[str],
    vocab_size: int,
    pattern: str | None,
    progress: TrainProgress = silent,
    tie: Tie = "first",
    engine: TrainEngine = "auto",
    processes: int = 1,
) -> list[Pair]:
    """Train byte-level BPE.

    Training stops early when no pair is left to merge: the vocabulary is then smaller than asked for.

    Args:
        documents: the training texts, gone through once and not held; no merge crosses from one to the next.
        vocab_size: number of ids to reach, the 256 bytes included.
        pattern: the pre-tokenization split, a name or a regular expression; ``None`` for naive BPE.
        progress: called with (merges done, merges in all).
        tie: which of several most frequent pairs; see :func:`..literal.most_frequent`.
        engine: who trains; the merges are the same.
        processes: how many parts of the text are split and counted at a time.

    Returns:
        At most ``vocab_size - 256`` merges in order of rank; the merge of rank ``r`` makes id ``256 + r``.

    Raises:
        ValueError: ``vocab_size`` is below 256, or ``pattern`` is invalid.
        BackendUnavailable: the engine is ``numba``, and numba is not installed.

    >>> train(["low lower lowest", "slow"], 259, "gpt2")
    [(108, 111), (256, 119), (32, 257)]
    >>> len(train(["ab"], 1000, None))
    1
    """
    if vocab_size < FIRST_MERGE:
        raise ValueError(f"vocab_size is {vocab_size}, but the 256 bytes alone take {FIRST_MERGE} ids")
    if pattern is not None:
        resolve_pattern(pattern)
    if engine == "auto":
        documents, is_long = _look_ahead(documents, _LONG_NAIVE if pattern is None else _LONG_SPLIT)
        engine = "numba" if is_long and has_numba() else "python"
    if engine == "python":
        return train_merges(count_in_processes(documents, pattern, processes), vocab_size, progress, tie)
    if not has_numba():
        raise BackendUnavailable("engine 'numba' needs numba, which is not installed: pip install 'tokbench[fast]'")
    from tokbench_plugins.bpe.compiled.count import count_documents
    from tokbench_plugins.bpe.compiled.train import train_counts

    return train_counts(count_documents(documents, pattern, processes), vocab_size, tie, progress)


def _look_ahead(documents: Iterable[str], long: int) -> tuple[Iterable[str], bool]:
    """The same documents, and whether they have at least ``long`` characters; the rest is not yet gone through."""
    rest = iter(documents)
    seen: list[str] = []
    characters = 0
    for document in rest:
        seen.append(document)
        characters += len(document)
        if characters >= long:
            return chain(seen, rest), True
    return seen, False
