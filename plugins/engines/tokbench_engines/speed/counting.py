"""Timed metrics beside ``speed``, because a text that was just encoded may be in a cache.

``counting`` is the speed of counting tokens, by encoding where an engine has no count; ``appending`` is the time until
an engine knows the ids of a text that grows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import ClassVar, Final

from tokbench.plugin import encode_batch
from tokbench.plugin.metrics import Metric, MetricFamily
from tokbench.plugin.timing import TimedSlice
from tokbench.studies.speed.measure import Raced, Speed

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
        count = getattr(self.tokenizer, "count_batch", partial(encode_batch, self.tokenizer))
        yield self.once, partial(count, part.texts)


class Counting(Speed):
    """The timed metric."""

    name = "counting"
    values = (COUNT,)
    ratio = COUNT_RATIO
    raced = _Counted
    as_lists = False


STEPS: Final = 16

APPENDS: Final = Metric("appends_per_s", "appends/s", "higher", label="appends").means(
    "median over rounds of appends / seconds",
    f"Appends per second: a text of at most 4,096 characters grows in {STEPS} equal steps, and the engine encodes all "
    "of it after each. One thread, warm engine, unseen text. An engine that caches what it has encoded is fast here; "
    "`append_p99` says how many ids at the end change.",
)
APPENDS_RATIO: Final = Metric("appends_ratio", "x", "higher", label="appends, reference = 1").means(
    "median over rounds of appends/s / appends/s of the reference in the same round",
    "Appends per second relative to the reference of `encode_ratio`.",
)


def grown(text: str) -> list[str]:
    """Return a text after each append; a shorter one has fewer.

    >>> grown("abc"), len(grown("a" * 100)), grown("a" * 100)[0]
    (['a', 'ab', 'abc'], 16, 'aaaaaa')
    """
    steps = min(STEPS, len(text))
    return [text[: len(text) * k // steps] for k in range(1, steps + 1)]


class _Appended(Raced):
    once: ClassVar[str] = APPENDS.id
    returns = "lists"

    def calls(self, part: TimedSlice) -> Iterator[tuple[str, Callable[[], object]]]:
        texts = [so_far for text in part.texts for so_far in grown(text)]
        yield self.once, lambda: list(map(self.tokenizer.encode, texts))

    def amount(self, part: TimedSlice) -> float:
        return sum(min(STEPS, len(text)) for text in part.texts)


class Appending(Speed):
    """The timed metric of texts that grow."""

    name = "appending"
    values = (APPENDS,)
    ratio = APPENDS_RATIO
    raced = _Appended
    as_lists = False


SPECS: Final = tuple(
    MetricFamily(
        name=kind.name,
        summary=summary,
        values=(*kind.values, kind.ratio),
        study="speed",
        make=kind,
        options=Speed.options,
    )
    for kind, summary in (
        (Counting, "MB/s of counting tokens, which engines without ids can do, too"),
        (Appending, "appends per second to a text whose ids are all needed after each append"),
    )
)
