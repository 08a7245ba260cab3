"""Works on batches of documents in parallel, and keeps their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from functools import partial
from itertools import islice
from multiprocessing import get_context
from typing import Final, TypeVar

from tokbench_plugins.bpe.fast.train import count_chunks

_BATCH: Final = 1 << 19  # characters: what stays in the processor's cache, and in little memory

_Work = TypeVar("_Work")
_Result = TypeVar("_Result")


def batches(documents: Iterable[str], size: int = _BATCH) -> Iterator[list[str]]:
    """Yield lists of at least ``size`` characters, except the last."""
    batch: list[str] = []
    room = size
    for document in documents:
        batch.append(document)
        room -= len(document)
        if room <= 0:
            yield batch
            batch, room = [], size
    if batch:
        yield batch


def in_order(work: Callable[[_Work], _Result], items: Iterator[_Work], workers: int) -> Iterator[_Result]:
    """Yield the results of work on each item, in order, from processes that are up to ``workers`` items ahead."""
    if workers == 1:
        yield from map(work, items)
        return
    executor = ProcessPoolExecutor(workers, get_context("spawn"))  # a fork of a process with threads may hang
    pending: deque[Future[_Result]] = deque()
    try:
        pending.extend(executor.submit(work, item) for item in islice(items, workers + 1))
        while pending:
            done = pending.popleft().result()
            pending.extend(executor.submit(work, item) for item in islice(items, 1))
            yield done
    finally:
        executor.shutdown(cancel_futures=True)


def count_in_processes(documents: Iterable[str], pattern: str | None, processes: int) -> dict[str, int]:
    """Count chunks as :func:`.train.count_chunks` does, in several processes.

    >>> count_in_processes(["no no", "no!"], "gpt2", 1)
    {'no': 2, ' no': 1, '!': 1}
    """
    total: dict[str, int] = {}
    for counts in in_order(partial(count_chunks, pattern=pattern), batches(documents), processes):
        for chunk, count in counts.items():
            total[chunk] = total.get(chunk, 0) + count
    return total
