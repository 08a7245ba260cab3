"""The timed metric ``threads``: the speed and efficiency of threads that share one tokenizer.

Engines that hold Python's global interpreter lock gain nothing.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from pydantic import Field

from tokbench.plugin import Failure, Options, Progress, Tokenizer, encode_batch, timing
from tokbench.plugin.metrics import Cell, Metric, MetricFamily, Outcome

_COUNTS: Final = (1, 2, 4, 8)
_JOB_BYTES: Final = 64_000
_LEAST_BYTES: Final = 1_000_000
"""By thread; with less text, starting work is measurable."""


class ThreadOptions(Options):
    """Options of ``threads``."""

    most: int = Field(default=8, ge=1, le=8, description="maximum threads; never more than the CPUs of the run")
    rounds: int = Field(default=6, ge=3, le=1000, description="rounds; an interval needs six")
    max_bytes: int = Field(default=32_000_000, ge=1, description="maximum text used of a corpus, in bytes")
    seed: int = Field(default=1, description="seed of the order of rounds and documents")


def _speed(count: int) -> Metric:
    return Metric(
        f"threads_{count}_mb_per_s", "MB/s", "higher", label=f"{count} thread{'s' if count > 1 else ''}", by_output=True
    ).means(
        "median over rounds of MB that all threads encode / seconds",
        f"UTF-8 bytes encoded per second by {count} thread{'s that share' if count > 1 else ' with'} one "
        "tokenizer, in batches of about 64 KB, unseen text.",
    )


def _efficiency(count: int) -> Metric:
    return Metric(f"threads_{count}_efficiency", "ratio", "higher", label=f"efficiency of {count} threads").means(
        f"median over rounds of MB/s at {count} / ({count} x MB/s at 1)",
        f"1 means {count} times the speed of one thread, {1 / count:g} that more threads gain nothing.",
    )


VALUES: Final = (
    *(_speed(count) for count in _COUNTS),
    *(_efficiency(count) for count in _COUNTS if count > 1),
)


@dataclass
class _Threaded(timing.Contender):
    speeds: dict[int, list[float]] = field(default_factory=dict)

    @property
    def where(self) -> str:
        return f"in threads, on corpus {self.text.corpus}"

    @property
    def safe(self) -> bool:
        return getattr(self.tokenizer, "thread_safe", False) is True

    def warm_up(self, part: timing.TimedSlice) -> None:
        self.get_ready()
        encode_batch(self.tokenizer, part.texts)

    def time(self, pool: ThreadPoolExecutor, count: int, part: timing.TimedSlice) -> None:
        jobs = iter(_jobs(part.texts))

        def work(_: int) -> None:
            for job in jobs:  # a list iterator: each job is given once, to one thread
                encode_batch(self.tokenizer, job)

        took = timing.seconds(lambda: list(pool.map(work, range(count))), 1)
        self.speeds.setdefault(count, []).append(part.n_bytes / took / 1e6)


def _jobs(texts: Sequence[str]) -> list[list[str]]:
    """Return lists of about 64 KB, at least one."""
    jobs: list[list[str]] = [[]]
    size = 0
    for text in texts:
        if size >= _JOB_BYTES:
            jobs.append([])
            size = 0
        jobs[-1].append(text)
        size += len(text.encode())
    return jobs


class Threads:
    """The timed metric."""

    def __init__(self, options: ThreadOptions) -> None:
        self._options = options
        available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self._counts = [count for count in _COUNTS if count <= min(options.most, available)]

    def measure(
        self, tokenizers: Mapping[str, Tokenizer], texts: Sequence[timing.TimedText], progress: Progress
    ) -> Outcome:
        cells, notes, every = list[Cell](), timing.machine_notes("threads"), list[_Threaded]()
        copies = timing.FreshCopies(tokenizers)
        for text in texts:
            timed = [_Threaded(name, tokenizer, text) for name, tokenizer in copies.for_text(text).items()]
            options = self._options
            parts = text.slices(options.rounds * len(self._counts) + 1, options.max_bytes, options.seed)
            if len(parts) <= options.rounds * len(self._counts):
                reason = f"the text gives {len(parts)} slices, and {options.rounds} rounds need more; give fewer rounds"
                for contender in timed:
                    contender.failure = Failure(reason)
            else:
                with timing.quiet():
                    self._rounds([contender for contender in timed if contender.safe], parts, progress)
                share = parts[1].n_bytes // self._counts[-1]
                if share < _LEAST_BYTES:
                    notes.append(
                        f"threads on {text.corpus}: each thread gets {share / 1e6:.2g} MB at a time, and less than "
                        "1 MB makes threads look worse than they are; use a larger corpus, or a larger max_bytes"
                    )
            cells += [cell for contender in timed for cell in self._cells(contender)]
            every += timed
        return Outcome(cells=cells, notes=notes).traced(contender.failure for contender in every)

    def _rounds(self, timed: Sequence[_Threaded], parts: Sequence[timing.TimedSlice], progress: Progress) -> None:
        order = random.Random(self._options.seed)  # noqa: S311 - an order, not a secret
        with ThreadPoolExecutor(self._counts[-1]) as pool:
            list(pool.map(lambda _: None, range(self._counts[-1])))  # starts them
            for contender in timed:
                contender.guarded(partial(contender.warm_up, parts[0]))
            for k, part in enumerate(parts[1 : 1 + self._options.rounds * len(self._counts)]):
                count = self._counts[k % len(self._counts)]
                timing.take_turns(timed, order, partial(_Threaded.time, pool=pool, count=count, part=part))
                progress("threads", k + 1, self._options.rounds * len(self._counts))

    def _cells(self, timed: _Threaded) -> Iterator[Cell]:
        for count in self._counts:
            speeds = timed.speeds.get(count, [])
            yield _cell(timed, _speed(count), speeds)
            if count > 1:
                single = timed.speeds.get(1, [])
                ratios = [many / (count * one) for many, one in zip(speeds, single, strict=False)]
                yield _cell(timed, _efficiency(count), ratios)


def _cell(timed: _Threaded, metric: Metric, values: Sequence[float]) -> Cell:
    place = timed.place(metric.id, metric.unit)
    if timed.failure:
        return place.failed(timed.failure)
    if not timed.safe:
        return place.without_value("it does not say that several threads may share it (thread_safe)")
    return place.of_rounds(values)


SPEC: Final = MetricFamily(
    name="threads",
    summary="MB/s of 1, 2, 4 and 8 threads that share a tokenizer, and their efficiency",
    values=VALUES,
    study="speed",
    make=Threads,
    options=ThreadOptions,
)
