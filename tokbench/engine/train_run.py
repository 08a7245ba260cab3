"""The training phase of a run."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tokbench.engine.check import Checked
from tokbench.engine.describe import identify
from tokbench.engine.folder import save_artefact
from tokbench.engine.prepare import train_all
from tokbench.engine.stored import StoredWork
from tokbench.engine.workers.pool import WorkerPool
from tokbench.foundation.errors import STOPS
from tokbench.foundation.failures import Failure
from tokbench.measuring.prepared import PreparedTokenizer
from tokbench.results.cells import TokenizerState


class TrainedRun(NamedTuple):
    """A run after its training phase."""

    checked: Checked
    stopped: str
    """``training`` if Ctrl-C or the loss of the workers ended the phase early: what was not trained is failed then."""


def train_run(checked: Checked, folder: Path | None, pool: WorkerPool, stored: StoredWork) -> TrainedRun:
    """Train the tokenizers that are to be trained, save them, and hash the vocabularies of all."""
    prepared: list[PreparedTokenizer] = []
    try:
        trained = train_all(checked.plan, checked.prepared, pool, stored)
        prepared.extend(save_artefact(folder, tokenizer, pool) if folder else tokenizer for tokenizer in trained)
        return TrainedRun(checked._replace(prepared=identify(prepared, pool)), "")
    except STOPS:
        pool.end()
        stopped = Failure("the run was stopped before it was trained")
        untrained = [
            tokenizer.with_outcome(stopped, TokenizerState.FAILED)
            if tokenizer.planned.train_on and not tokenizer.failure
            else tokenizer
            for tokenizer in checked.prepared[len(prepared) :]
        ]
        return TrainedRun(checked._replace(prepared=prepared + untrained), "training")
