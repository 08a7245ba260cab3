"""Memory: the peak of a block counts what was freed again, and processes below, and nothing from before."""

import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from tokbench.foundation.memory import MemoryOf, PeakMemory

pytestmark = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux tells all of it")
MB = 10**6


def in_new_process(function):
    """Run a function where no earlier test has left memory that could be used again."""
    with ProcessPoolExecutor(1, get_context("spawn")) as executor:
        return executor.submit(function).result(60)


def moment_after_a_larger_one():
    earlier = b"x" * (200 * MB)
    del earlier
    kept = b"y" * (30 * MB)
    with PeakMemory() as memory:
        moment = b"z" * (90 * MB)
        del moment
    return memory.n_bytes, len(kept)


def test_a_peak_has_what_was_freed_again_and_nothing_from_before():
    n_bytes, _ = in_new_process(moment_after_a_larger_one)
    assert 80 * MB < n_bytes < 180 * MB


def test_descendants_count_and_what_has_ended_has_none():
    large = "text = 'x' * 50_000_000; print(1, flush=True); input()"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {large!r}])"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        memory = MemoryOf(child.pid)
        resident, below = memory.resident(), len(memory.below())
        child.communicate(b"\n")
    assert below == 1
    assert 50 * MB < resident < 200 * MB
    assert MemoryOf(child.pid).resident() == memory.resident() == 0
