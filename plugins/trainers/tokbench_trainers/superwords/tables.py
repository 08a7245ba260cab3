"""Makes tables of counts that superwords are learned from, in two passes over the text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench import plugin
from tokbench_plugins.bpe import FIRST_MERGE, Pair, Tie, Vocabulary
from tokbench_plugins.bpe.compiled.count import Counts
from tokbench_plugins.bpe.compiled.encode import ChunkEncoder
from tokbench_plugins.bpe.compiled.train import train_counts
from tokbench_plugins.counts.facts import CountFacts, read_facts
from tokbench_plugins.counts.local import Counted, Task, count, through
from tokbench_plugins.counts.pieces import Piece, PieceReader, Reading, pieces
from tokbench_trainers.extend import EncodedChunks, MergeRule, learn
from tokbench_trainers.superwords.cutting import BORDERS, Cutter, Kind, Plan
from tokbench_trainers.superwords.kernels import SLOTS
from tokbench_trainers.superwords.rules import may_cross
from tokbench_trainers.superwords.train_boundless import TrainedBoundless, learn_ordinary, train_boundless

_SPARE: Final = 4
"""How many times as many pairs as superwords are kept: a merge takes away from its neighbours."""

Progress = Callable[[str, int], object]
"""Called with a step and the bytes of files read so far."""


class Wanted(NamedTuple):
    """The training that a table is for."""

    kind: Kind
    pattern: str
    """The expression of the split of words."""
    vocab_size: int
    tie: Tie = "first"
    stage_one: int = 0
    """The number of ids with which stage one of SuperBPE ends."""
    most_words: int = 1

    @property
    def rule(self) -> dict[str, Any]:
        """What the table depends on."""
        rule: dict[str, Any] = {"pattern": self.pattern, "tie": self.tie}
        if self.kind == "superbpe":
            return {**rule, "stage_one": self.stage_one, "most_words": self.most_words}
        return {**rule, "vocab_size": self.vocab_size}


def make_table(task: Task, words: Counts, wanted: Wanted, progress: Progress, least: int | None = None) -> Counted:
    """Count a text by the superwords that may be learned from it.

    Args:
        task: the text, and the table to write.
        words: its chunks, counted with the split of words.
        wanted: the training.
        progress: is told what is being read.
        least: how often the rarest merge is done, at least; ``None`` to find out.

    Raises:
        As :func:`.local.count`.
    """
    plan, surely = _plan(words, wanted)
    reading = task.reading._replace(border=BORDERS[wanted.kind])
    sketch = np.zeros(SLOTS, np.int64)
    cut = pieces(task.files, reading)
    make = partial(_Sketcher, Cutter(plan), reading)
    for counted in through(cut, make, task.processes, partial(progress, "counting pairs (MB)")):
        sketch += counted
    if least is None:
        least = surely or _least(sketch, wanted.vocab_size - wanted.stage_one)
    cutter = Cutter(plan._replace(least=least, frequent=sketch >= least))
    return count(replace(task, reading=reading, cutter=cutter), partial(progress, "counting superwords (MB)"))


class _Planned(NamedTuple):
    plan: Plan
    least: int
    """How often the last merge is done, at least; 0 if that is unknown."""


def _plan(words: Counts, wanted: Wanted) -> _Planned:
    if wanted.kind == "superbpe":
        merges = train_counts(words, wanted.stage_one, wanted.tie)
        return _Planned(Plan(wanted.kind, wanted.rule, merges, wanted.most_words), 0)
    ordinary = learn_ordinary({chunk.decode(): n for chunk, n in words.chunks()}, wanted.vocab_size, wanted.tie)
    merges = [(left, right) for left, right, _ in ordinary.vocabulary.merges]
    enough = len(merges) == wanted.vocab_size - FIRST_MERGE and merges
    # Supermerges take the places of rarer ones.
    return _Planned(Plan(wanted.kind, wanted.rule, merges), ordinary.times[-1] if enough else 1)


def _least(sketch: NDArray[np.int64], superwords: int) -> int:
    """Return a count that the last superword is not below, if text is as usual; training checks it."""
    taken = min(_SPARE * max(superwords, 1), SLOTS - 1)
    return max(1, int(np.partition(sketch, SLOTS - 1 - taken)[SLOTS - 1 - taken]))


class _Sketcher:
    """Counts the joints of pieces."""

    def __init__(self, cutter: Cutter, reading: Reading) -> None:
        self._cutter, self._reading = cutter, reading
        self._sketch = np.zeros(SLOTS, np.int64)

    def count(self, piece: Piece, report: Callable[[int], object]) -> None:
        reader = PieceReader(piece, self._reading)
        for block in reader:
            self._cutter.add_to(self._sketch, block.data, block.offsets)
            report(reader.read)

    def finish(self) -> NDArray[np.int64]:
        return self._sketch


def check_table(wanted: Wanted, tables: Mapping[str, plugin.CountsFile]) -> str:
    """Return why a training does not fit tables; sizes are checked when it begins."""
    for table in tables.values():
        made = read_facts(table.path).superwords
        name = table.path.name
        if made is None or made["kind"] != wanted.kind:
            return f"{name} has no counts for {wanted.kind}; make them: tokbench superwords --backend {wanted.kind}"
        for key, value in wanted.rule.items():
            if key not in {"stage_one", "vocab_size"} and made[key] != value:
                return f"{name} was made with {key} {made[key]}, and not {value}; make it again with {value}"
    return ""


def superbpe_of_table(
    rows: Counts, facts: CountFacts, wanted: Wanted, progress: plugin.TrainProgress = plugin.silent
) -> list[Pair]:
    """Learn the second stage.

    Raises:
        BackendError: stage one has another size, or superwords may be missing.
    """
    made = dict(facts.superwords or {})
    if made["stage_one"] != wanted.stage_one:
        message = f"the table has a stage one of {made['stage_one']:,} tokens, and not {wanted.stage_one:,}"
        raise plugin.BackendError(f"{message}; give stage_one: {made['stage_one']}, or make the table again")
    merges = [(left, right) for left, right in made["merges"]]
    base, first = Vocabulary.trained(merges), FIRST_MERGE + len(merges)
    encoded = EncodedChunks(*ChunkEncoder(base)(rows.data, rows.offsets[1:]), rows.counts)
    rule = MergeRule(wanted.tie, partial(may_cross, most_words=wanted.most_words))
    learned = learn(base, encoded, range(first, max(first, wanted.vocab_size)), rule, progress)
    rarest = min((one.times for one in learned), default=0)
    _check_least(rarest if len(learned) >= wanted.vocab_size - first else 0, made["least"])
    return [*merges, *(one.pair for one in learned)]


def boundless_of_table(
    rows: Counts, facts: CountFacts, wanted: Wanted, progress: plugin.TrainProgress = plugin.silent
) -> TrainedBoundless:
    """Learn merges and supermerges.

    Raises:
        BackendError: the table was made for fewer tokens.
    """
    made = dict(facts.superwords or {})
    if wanted.vocab_size > made["vocab_size"]:
        raise plugin.BackendError(
            f"the table was made for {made['vocab_size']:,} tokens, and not {wanted.vocab_size:,}; make it again"
        )
    documents = ((chunk.decode(), n) for chunk, n in rows.chunks())
    trained = train_boundless(documents, wanted.vocab_size, wanted.pattern, tie=wanted.tie, progress=progress)
    _check_least(trained.rarest, made["least"])
    return trained


def _check_least(rarest: int, least: int) -> None:
    if least > 1 and rarest < least:
        raise plugin.BackendError(
            f"the last merges are done {rarest:,} times, and the table lacks what is rarer than {least:,}; "
            f"make it again with --least {max(1, min(rarest, least // 4))}"
        )
