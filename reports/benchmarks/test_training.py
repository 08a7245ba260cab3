"""Training byte-level BPE against other libraries, in turns. ``pytest reports/benchmarks --benchmark-enable`` says it all."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from child import on_cores, take_turns

import trainers

pytest.importorskip("numba")

OTHERS = [name for name in ("rustbpe", "tokenizers", "gigatoken") if find_spec(name)]
IDS = 32_768


@pytest.mark.slow
@pytest.mark.parametrize("cores", [1, 2])
@pytest.mark.parametrize("megabytes", [10, 50])
def test_training(benchmark, megabytes, cores):
    """Small trainings where nothing is measured, to see that they run."""
    benchmark.extra_info["title"] = f"training, GPT-4 split, {megabytes} MB, {IDS:,} ids, cores: {cores}"
    size, ids = (megabytes * 1_000_000, IDS) if benchmark.enabled else (20_000, 400)
    with on_cores(cores) as call:
        run = lambda name, _: call(trainers.seconds, name, size, ids, cores)  # noqa: E731
        take_turns(benchmark, run, "tokbench", OTHERS, 3)


@pytest.mark.slow
def test_memory(benchmark):
    benchmark.extra_info["title"] = f"peak memory, training, GPT-4 split, 50 MB, {IDS:,} ids (MiB of a new process)"
    size, ids = (50_000_000, IDS) if benchmark.enabled else (20_000, 400)
    peaks = {}
    for name in OTHERS:
        with on_cores(1) as call:
            peaks[name] = round(call(trainers.peak_mib, name, size, ids, 1))
    with on_cores(1) as call:
        peaks["tokbench"] = round(benchmark.pedantic(call, (trainers.peak_mib, "tokbench", size, ids, 1)))
    benchmark.extra_info["MiB"] = peaks
