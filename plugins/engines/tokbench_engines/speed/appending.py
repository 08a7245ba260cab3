"""The timed metric ``appending``: the time until an engine knows the ids of a text that grows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar, Final

from tokbench.plugin.metrics import Metric, MetricFamily
from tokbench.plugin.timing import TimedSlice
from tokbench.studies.speed.measure import Raced, Speed

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
    """The timed metric."""

    name = "appending"
    values = (APPENDS,)
    ratio = APPENDS_RATIO
    raced = _Appended
    as_lists = False


SPEC: Final = MetricFamily(
    name="appending",
    summary="appends per second to a text whose ids are all needed after each append",
    values=(APPENDS, APPENDS_RATIO),
    study="speed",
    make=Appending,
    options=Speed.options,
)
