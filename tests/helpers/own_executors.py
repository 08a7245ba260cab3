"""Executors of a plugin: one does every job in this process, and one lacks a library."""

from tokbench.engine.workers.pool import InProcessPool
from tokbench.plugin import ExecutorSpec, hookimpl


def alone(scheduler, workers, limits, progress):
    assert (scheduler, workers) == ("", 1)
    pool = InProcessPool(progress)
    pool.notes.append("the executor alone has done it")
    return pool


@hookimpl
def register_executors(register):
    register(ExecutorSpec(name="alone", summary="this process", open=alone))
    register(ExecutorSpec(name="lacking", summary="never", open=alone, requires=("no-such-library",)))
