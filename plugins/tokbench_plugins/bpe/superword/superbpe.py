"""Training of SuperBPE: ordinary BPE up to some number of ids, and then without a split at spaces.

The result is a list of merges and the second split, so any engine for byte-level BPE encodes with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple, Unpack

from tokbench.foundation.progress import silent
from tokbench.tokenizers.backend import TrainProgress
from tokbench_plugins.bpe.adaptation.extend import MergeRule, extend
from tokbench_plugins.bpe.engines import TrainSettings, train
from tokbench_plugins.bpe.fast.parallel import count_in_processes
from tokbench_plugins.bpe.patterns import Splitter, resolve_pattern
from tokbench_plugins.bpe.superword.literal_superwords import train_superbpe_literally
from tokbench_plugins.bpe.superword.rules import MOST_WORDS, STAGE_TWO, may_cross
from tokbench_plugins.bpe.vocabulary import FIRST_MERGE, Pair, Vocabulary


def size_of_stage_one(stage_one: float, vocab_size: int) -> int:
    """Return where stage one ends; ``stage_one`` is a number of ids or, below 1, a share.

    >>> size_of_stage_one(0.8, 10_000), size_of_stage_one(9000, 10_000), size_of_stage_one(0.1, 300)
    (8000, 9000, 256)
    """
    ids = round(stage_one * vocab_size) if stage_one < 1 else int(stage_one)
    return min(max(ids, FIRST_MERGE), vocab_size)


class SuperBPERule(NamedTuple):
    """The two stages of training."""

    pattern: str | None
    """The split of stage one, a name or a regular expression."""

    stage_one: int
    """The number of ids with which stage one ends."""

    most_words: int = MOST_WORDS
    """Words per token of stage two."""

    @property
    def record(self) -> dict[str, Any]:
        pattern = None if self.pattern is None else resolve_pattern(self.pattern)
        return {"name": "superbpe", **self._asdict(), "pattern": pattern}


def train_superbpe(
    documents: Iterable[str],
    vocab_size: int,
    rule: SuperBPERule,
    progress: TrainProgress = silent,
    **settings: Unpack[TrainSettings],
) -> list[Pair]:
    """Train both stages; fewer merges if no pair is left.

    >>> merges = train_superbpe(["in the end, in the end"], 261, SuperBPERule("gpt4", 260))
    >>> Vocabulary.trained(merges).tokens[256:]
    (b'in', b' t', b' th', b' the', b'in the')
    """
    texts = list(documents)
    tie, may_make = settings.get("tie", "first"), partial(may_cross, most_words=rule.most_words)
    if settings.get("engine") == "literal":
        first, second = (
            [chunk.encode() for text in texts for chunk in split(text)]
            for split in (Splitter(rule.pattern), Splitter(STAGE_TWO))
        )
        return train_superbpe_literally(first, second, rule.stage_one, vocab_size, tie, may_make)
    total = vocab_size - FIRST_MERGE

    def of_stage_one(done: int, _: int) -> None:
        progress(done, total)

    merges = train(texts, rule.stage_one, rule.pattern, of_stage_one, **settings)
    chunks = count_in_processes(texts, STAGE_TWO, settings.get("processes", 1))
    more = vocab_size - FIRST_MERGE - len(merges)

    def of_stage_two(done: int, _: int) -> None:
        progress(len(merges) + done, total)

    base = Vocabulary.trained(merges)
    extended = extend(base, chunks, more, FIRST_MERGE + len(merges), MergeRule(tie, may_make), of_stage_two)
    return [(left, right) for left, right, _ in extended.vocabulary.merges]
