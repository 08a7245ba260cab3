"""The timed metric ``counting``: the speed of counting tokens, by encoding where an engine has no count.

Separate from ``speed``, because a text that was just encoded may be in a cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import ClassVar, Final

from tokbench.plugin.metrics import Metric, MetricFamily
from tokbench.plugin.timing import TimedSlice
from tokbench.studies.speed.measure import Raced, Speed
from tokbench.tokenizers.batch import count_batch

COUNT: Final = Metric("count_mb_per_s", "MB/s", "higher", label="count").means(
    "median over rounds of bytes / seconds / 10^6",
    "UTF-8 bytes of text whose tokens are counted per second: by the engine's own count where it has one, else by "
    "encoding. One thread, warm engine, unseen text.",
)
COUNT_RATIO: Final = Metric("count_ratio", "x", "higher", label="count, reference = 1").means(
    "median over rounds of MB/s / MB/s of the reference in the same round",
    "Counting speed relative to the reference of `encode_ratio`.",
)


class _Counted(Raced):
    once: ClassVar[str] = COUNT.id
    returns = "counts"

    def calls(self, part: TimedSlice) -> Iterator[tuple[str, Callable[[], object]]]:
        yield self.once, partial(count_batch, self.tokenizer, part.texts)


class Counting(Speed):
    """The timed metric."""

    name = "counting"
    values = (COUNT,)
    ratio = COUNT_RATIO
    raced = _Counted
    as_lists = False


SPEC: Final = MetricFamily(
    name="counting",
    summary="MB/s of counting tokens, which engines without ids can do, too",
    values=(COUNT, COUNT_RATIO),
    study="speed",
    make=Counting,
    options=Speed.options,
)
