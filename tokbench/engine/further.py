"""The rest of a run after the text metrics: the studies and then, alone on the machine, the timings."""

from __future__ import annotations

from dataclasses import dataclass, field

from tokbench.engine.check import Checked
from tokbench.engine.evaluate import Evaluation
from tokbench.engine.finish import Finished
from tokbench.engine.isolated import Untimed
from tokbench.engine.stored import StoredWork
from tokbench.engine.studies import StudiesDone, run_studies
from tokbench.engine.time import time_all
from tokbench.engine.workers.pool import WorkerPool
from tokbench.foundation.errors import STOPS
from tokbench.measuring.metric import TimedOutcome
from tokbench.results.cells import Status


@dataclass
class Further:
    """The results of what follows the text metrics."""

    studies: StudiesDone = field(default_factory=StudiesDone)
    timed: TimedOutcome = field(default_factory=lambda: TimedOutcome([], []))
    stopped: str = ""
    """The phase in which the run was stopped, if it was."""
    lost: str = ""
    """Why the workers are out of reach, if that has stopped the run."""


def measure_further(
    checked: Checked, evaluation: Evaluation, finished: Finished, stopped: str, pool: WorkerPool, stored: StoredWork
) -> Further:
    """Run the studies and then, alone on the machine, time. Ctrl-C or the loss of the workers ends it early."""
    further = Further(stopped=stopped)
    if not further.stopped:
        further.studies = run_studies(checked, evaluation, finished, pool, stored)
        further.stopped = further.studies.stopped
    if not further.stopped:
        try:
            with pool.progress.phase("timing"):
                _, plan, prepared = checked
                further.timed = time_all(plan, prepared, _untimed(evaluation), evaluation.unread, pool)
        except STOPS:
            further.stopped = "timing"
    further.lost = pool.lost
    return further


def _untimed(evaluation: Evaluation) -> dict[str, Untimed]:
    """Return by tokenizer why it is not timed: it ended a process, or has other ids than its reference."""
    untimed = {}
    for name, other in evaluation.same_ids.references.items():
        differing, compared = evaluation.same_ids.differing(name)
        if differing:
            what = "counts" if name in evaluation.same_ids.by_counts else "ids"
            reason = f"not ranked: its {what} are not those of {other} in {differing:,} of {compared:,} documents"
            untimed[name] = Untimed(Status.NOT_APPLICABLE, reason)
    untimed.update({name: Untimed.of(failure) for (name, _), failure in evaluation.ended.items()})
    return untimed
