"""Makes tables of counts that superwords are learned from, in two passes over the text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench import plugin
from tokbench_plugins.bpe import FIRST_MERGE, Pair, Vocabulary
from tokbench_plugins.bpe.backend import split_problem
from tokbench_plugins.bpe.compiled.count import Counts
from tokbench_plugins.bpe.compiled.encode import ChunkwiseEncoder
from tokbench_plugins.bpe.compiled.train import train_counts
from tokbench_plugins.counts.count import blocks_of_partition
from tokbench_plugins.counts.facts import CountFacts, read_facts
from tokbench_plugins.counts.local import Counted, Task, count, through
from tokbench_plugins.counts.pieces import Piece, PieceReader, Reading, pieces
from tokbench_plugins.counts.read import TableRows, read_counts
from tokbench_plugins.counts.source import table_at
from tokbench_trainers.extend import EncodedChunks, MergeRule, learn
from tokbench_trainers.superwords.cutting import BORDERS, CuttingPlan, SuperwordCutter
from tokbench_trainers.superwords.kernels import SLOTS
from tokbench_trainers.superwords.rules import may_cross
from tokbench_trainers.superwords.train_boundless import TrainedBoundless, learn_ordinary, train_on_counted
from tokbench_trainers.superwords.wanted import SuperwordTraining, wanted_of

_SPARE: Final = 4
"""How many times as many pairs as superwords are kept: a merge takes away from its neighbours."""

Progress = Callable[[str, int], object]
"""Called with a step and the bytes of files read so far."""


def make_table(
    task: Task, words: TableRows, wanted: SuperwordTraining, progress: Progress, least: int | None = None
) -> Counted:
    """Count a text by the superwords that may be learned from it.

    Args:
        task: the text, and the table to write.
        words: a table of the same text, counted with the split of words.
        wanted: the training.
        progress: is told what is being read.
        least: how often the rarest merge is done, at least; ``None`` to find out.

    Raises:
        InputError: the words are of another text, or lack rare ones; and as :func:`.local.count`.
    """
    planned = plan_of(words.rows, wanted)
    reading = task.reading._replace(border=BORDERS[wanted.kind])
    make = partial(_Sketcher, SuperwordCutter(planned.plan), reading)
    sketch, n_bytes = np.zeros(SLOTS, np.int64), 0
    for one in through(pieces(task.files, reading), make, task.processes, partial(progress, "counting pairs (MB)")):
        sketch += one.counts
        n_bytes += one.bytes
    if n_bytes != words.facts.bytes:
        message = f"the table of words is of {words.facts.bytes:,} bytes of text, and this text has {n_bytes:,}"
        raise plugin.InputError(f"{message}; count the words of the same files, read alike")
    cut = replace(task, reading=reading, cutter=planned.cutter(sketch, least))
    return count(cut, partial(progress, "counting superwords (MB)"))


def plan_partitions(words: Path | str, vocab_size: int, backend: str = "superbpe", **options: Any) -> Planned:
    """Plan a table whose parts are counted on a cluster.

    Args:
        words: a table of the whole text, counted with the split of words.
        vocab_size: ids of the tokenizer, or of the largest one.
        backend: ``superbpe`` or ``boundless_bpe``.
        options: of its training.

    Raises:
        InputError: the options are wrong, or the table is, or lacks rare words.
    """
    wanted, path = wanted_of(backend, vocab_size, **options), table_at(words)
    with TemporaryDirectory() as folder:
        rows = words_of(path, wanted, Path(folder))
    return plan_of(rows.rows, wanted)


class Planned(NamedTuple):
    """How a text will be cut; it can be sent to other machines."""

    wanted: SuperwordTraining
    plan: CuttingPlan
    """Without what is frequent."""
    surely: int = 0
    """How often the last merge is done, at least; 0 if that is unknown."""

    def sketch(self, batches: Iterable[Any], field: str = "") -> NDArray[np.int64]:
        """Return int64[SLOTS], counts of the pairs of what :func:`.count_partition` takes; they add up."""
        cutter, sketch = SuperwordCutter(self.plan), np.zeros(SLOTS, np.int64)
        for block in blocks_of_partition(batches, field):
            cutter.add_to(sketch, block.data, block.offsets)
        return sketch

    def cutter(self, sketch: NDArray[np.int64], least: int | None = None) -> SuperwordCutter:
        """Return what cuts the text, for the sum of all sketches; ``least`` as for :func:`make_table`."""
        least = least or self.surely or least_of(sketch, self.wanted)
        return SuperwordCutter(self.plan._replace(least=least, frequent=sketch >= least))


def words_of(path: Path, wanted: SuperwordTraining, folder: Path) -> TableRows:
    """Return the words of a table; ``folder`` is for what memory does not hold.

    Raises:
        InputError: it is none of words, of another split, or lacks rare ones.
    """
    facts = read_facts(path)
    file = plugin.CountsFile(path, "", facts.pattern, facts.documents, facts.bytes)
    if problem := split_problem(wanted.pattern, {"words": file}):
        raise plugin.InputError(problem)
    if facts.left_out:
        raise plugin.InputError(f"the table of words is not whole: {facts.left_out}; count without --min-count")
    return TableRows(read_counts(path, wanted.tie, folder), facts)


def plan_of(words: Counts, wanted: SuperwordTraining) -> Planned:
    """Train the merges within words."""
    if wanted.kind == "superbpe":
        merges = train_counts(words, wanted.stage_one, wanted.tie)
        return Planned(wanted, CuttingPlan(wanted.kind, wanted.rule, merges, wanted.most_words))
    ordinary = learn_ordinary({chunk.decode(): n for chunk, n in words.chunks()}, wanted.vocab_size, wanted.tie)
    merges = [(left, right) for left, right, _ in ordinary.vocabulary.merges]
    enough = len(merges) == wanted.vocab_size - FIRST_MERGE and merges
    # Supermerges take the places of rarer ones.
    return Planned(wanted, CuttingPlan(wanted.kind, wanted.rule, merges), ordinary.times[-1] if enough else 1)


def least_of(sketch: NDArray[np.int64], wanted: SuperwordTraining) -> int:
    """Return a count that the last superword is not below, if text is as usual; training checks it."""
    place = max(0, SLOTS - 1 - _SPARE * (wanted.vocab_size - wanted.stage_one))
    return max(1, int(np.partition(sketch, place)[place]))


class _Sketch(NamedTuple):
    counts: NDArray[np.int64]
    bytes: int


class _Sketcher:
    """Counts the joints of pieces."""

    def __init__(self, cutter: SuperwordCutter, reading: Reading) -> None:
        self._cutter, self._reading = cutter, reading
        self._sketch, self._bytes = np.zeros(SLOTS, np.int64), 0

    def count(self, piece: Piece, report: Callable[[int], object]) -> None:
        reader = PieceReader(piece, self._reading)
        for block in reader:
            self._cutter.add_to(self._sketch, block.data, block.offsets)
            report(reader.read)
        self._bytes += reader.amount.bytes

    def finish(self) -> _Sketch:
        return _Sketch(self._sketch, self._bytes)


def superbpe_of_table(
    rows: Counts, facts: CountFacts, wanted: SuperwordTraining, progress: plugin.TrainProgress = plugin.silent
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
    encoded = EncodedChunks(*ChunkwiseEncoder(base)(rows.data, rows.offsets[1:]), rows.counts)
    rule = MergeRule(wanted.tie, partial(may_cross, most_words=wanted.most_words))
    learned = learn(base, encoded, range(first, max(first, wanted.vocab_size)), rule, progress)
    rarest = min((one.times for one in learned), default=0)
    _check_least(rarest if len(learned) >= wanted.vocab_size - first else 0, made["least"])
    return [*merges, *(one.pair for one in learned)]


def boundless_of_table(
    rows: Counts, facts: CountFacts, wanted: SuperwordTraining, progress: plugin.TrainProgress = plugin.silent
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
    trained = train_on_counted(documents, wanted.vocab_size, wanted.pattern, tie=wanted.tie, progress=progress)
    _check_least(trained.rarest, made["least"])
    return trained


def _check_least(rarest: int, least: int) -> None:
    if least > 1 and rarest < least:
        raise plugin.BackendError(
            f"the last merges are done {rarest:,} times, and the table lacks what is rarer than {least:,}; "
            f"make it again with --least {max(1, min(rarest, least // 4))}"
        )
