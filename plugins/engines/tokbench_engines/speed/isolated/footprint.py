"""The isolated metric ``footprint``: time and memory to load, encode and train in fresh processes."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from statistics import linear_regression
from typing import Final, NamedTuple

from pydantic import Field

from tokbench.foundation.memory import begin_memory_peak, memory_peak, resident_memory
from tokbench.plugin import Options, Tokenizer, encode_batch
from tokbench.plugin.metrics import OWN_TEXTS, WHOLE, Cell, Metric, MetricFamily, Outcome
from tokbench.plugin.timing import TimingPlace
from tokbench_engines.speed.isolated.contract import StepAnswers, TrainedIn

_LEAST_SIZES: Final = 2
_DOCUMENT_WORDS: Final = 200
_BATCH: Final = 200
_DOCUMENT_BYTES: Final = 1_700


class FootprintOptions(Options):
    """Options of ``footprint``."""

    processes: int = Field(
        default=3, ge=1, le=100, description="fresh processes of each tokenizer; an interval needs six"
    )
    max_bytes: int = Field(default=4_000_000, ge=1000, description="text encoded to find the peak of memory, in bytes")


_loading = partial(Metric, direction="lower", loss_cannot_help="loading reads no text")

LOAD = _loading("load_s", "s", label="load").means(
    "median over fresh processes of the wall time of loading",
    "Seconds to load the tokenizer in a fresh process. The import of its library is included; files are in the "
    "system's cache. A trained tokenizer is read from a pickle.",
)
LOADED = _loading("memory_loaded_mb", "MB", label="memory, loaded").means(
    "median over fresh processes of resident memory after loading - before / 10^6",
    "Resident memory that a process gains when it loads the tokenizer, its library included.",
)
PEAK = Metric(
    "memory_peak_mb",
    "MB",
    "lower",
    label="memory, peak",
    loss_cannot_help="the engine makes the peak; ids are a small part of it",
).means(
    "median over fresh processes of the peak of resident memory while encoding - before loading / 10^6",
    "Most resident memory, above the memory before loading, while words of several scripts are encoded in batches of "
    "about 300 KB, on one thread. The ids of one batch are included.",
)
_training = partial(Metric, direction="lower", loss_cannot_help="a lossy tokenizer trains on the same text")

SECONDS: Final = _training("train_s", "s", label="train").means(
    "wall time of the training",
    "Seconds of training, on the text that the configuration names. Compiling, which tokbench does once per machine, "
    "is not included.",
)
MEMORY: Final = _training("train_memory_mb", "MB", label="memory, train").means(
    "peak of resident memory while training - before / 10^6",
    "Most resident memory of the training process and its children, above the memory before training. The process is "
    "fresh, so the library counts, too. The text streams in from another process, so text in this memory was kept by "
    "the trainer.",
)
MEMORY_SLOPE: Final = _training("train_memory_slope", "bytes/byte", label="memory by text").means(
    "slope of least squares of train_memory_mb on the MB of training text",
    "Bytes of memory that training takes for each further byte of text. It needs the same training on two or more "
    "shares of one text, and is the same number for each of them.",
)
SECONDS_SLOPE: Final = _training("train_s_slope", "s/MB", label="train by text").means(
    "slope of least squares of train_s on the MB of training text",
    "Seconds that training takes for each further megabyte of text. It needs the same training on two or more "
    "shares of one text, and is the same number for each of them.",
)
TRAINING: Final = (SECONDS, MEMORY, SECONDS_SLOPE, MEMORY_SLOPE)

VALUES: Final = (LOAD, LOADED, PEAK, *TRAINING)


class Footprint(NamedTuple):
    """Of one process; the peak in bytes is ``None`` where not reported."""

    load_s: float
    loaded: int
    peak: int | None


def _texts(n_bytes: int) -> Iterator[list[str]]:
    source = random.Random(1)  # noqa: S311 - no secret
    letters = (
        "abcdefghijklmnopqrstuvwxyz",
        "абвгдежзийклмнопрстуфхцч",
        "अआइईउऊएऐकखगघचछ",
        "的一是不了人我在有他这中大来",
    )
    words = ["".join(source.choices(alphabet, k=source.randint(1, 9))) for alphabet in letters for _ in range(5000)]
    done, documents = 0, max(1, min(_BATCH, n_bytes // _DOCUMENT_BYTES))
    while done < n_bytes:
        batch = [" ".join(source.choices(words, k=_DOCUMENT_WORDS)) for _ in range(documents)]
        done += sum(len(text.encode()) for text in batch)
        yield batch


class Footprints:
    """The isolated metric."""

    fresh = True
    seconds: float | None = None

    def __init__(self, options: FootprintOptions) -> None:
        self._options = options
        self.steps: Sequence[str] = [f"process {k}" for k in range(1, options.processes + 1)]

    def measure(self, _step: str, load: Callable[[], Tokenizer]) -> Iterator[Footprint]:
        before = resident_memory()
        start = time.perf_counter()
        tokenizer = load()
        took = time.perf_counter() - start
        after = resident_memory()
        if hasattr(tokenizer, "warm_up"):
            tokenizer.warm_up()
        batches = _texts(self._options.max_bytes)
        first = next(batches)
        begin_memory_peak()
        for batch in chain([first], batches):
            encode_batch(tokenizer, batch)
        peak = memory_peak()
        yield Footprint(took, max(0, after - before), None if peak is None else max(0, peak - before))

    def finish(self, by_tokenizer: Mapping[str, Mapping[str, StepAnswers]], facts: Mapping[str, TrainedIn]) -> Outcome:
        cells, notes, failures = [], [], []
        for name, steps in by_tokenizer.items():
            failed = next((step.failure for step in steps.values() if step.failure), None)
            results: list[Footprint] = [answer for step in steps.values() for answer in step.answers]
            for metric, values in (
                (LOAD, [footprint.load_s for footprint in results]),
                (LOADED, [footprint.loaded / 1e6 for footprint in results]),
                (PEAK, [footprint.peak / 1e6 for footprint in results if footprint.peak is not None]),
            ):
                place = TimingPlace(name, OWN_TEXTS, WHOLE, metric.id, metric.unit)
                cells.append(place.failed(failed) if failed else _cell(place, values))
            failures += [failed] if failed else []
            cells += training_cells(name, facts)
            if name in facts and facts[name].earlier:
                notes.append(f"footprint: time and memory of the training of {name} come from an earlier run")
        return Outcome(cells=cells, notes=notes).traced(failures)


def _cell(place: TimingPlace, values: Sequence[float]) -> Cell:
    if not values:
        return place.without_value("this system does not report a process's peak")
    return place.of_rounds(values, "processes")


def training_cells(name: str, trainings: Mapping[str, TrainedIn]) -> Iterator[Cell]:
    """Yield the cells of :data:`TRAINING`."""
    places = {metric.id: TimingPlace(name, OWN_TEXTS, WHOLE, metric.id, metric.unit) for metric in TRAINING}
    if name not in trainings:
        yield from (place.without_value("it was loaded, not trained") for place in places.values())
        return
    trained = trainings[name]
    alike = [other for other in trainings.values() if other.like == trained.like]
    for value_of, value_id, slope_id in (
        (_seconds, SECONDS.id, SECONDS_SLOPE.id),
        (_megabytes, MEMORY.id, MEMORY_SLOPE.id),
    ):
        value, place = value_of(trained), places[value_id]
        if value is None:
            yield place.without_value(_NOT_MEASURED)
        else:
            yield Cell(*place[:4], value, place.unit, n=1, caution="no interval: there is one training")
        yield _slope(places[slope_id], alike, value_of)


_NOT_MEASURED: Final = "the memory of its training was not measured: other trainings ran at the same time"


def _seconds(trained: TrainedIn) -> float | None:
    return trained.seconds


def _megabytes(trained: TrainedIn) -> float | None:
    return None if trained.memory is None else trained.memory / 1e6


def _slope(place: TimingPlace, alike: Sequence[TrainedIn], value_of: Callable[[TrainedIn], float | None]) -> Cell:
    points = [(trained.n_bytes / 1e6, value) for trained in alike if (value := value_of(trained)) is not None]
    sizes = sorted({size for size, _ in points})
    if len(sizes) < _LEAST_SIZES:
        return place.without_value("it needs the same training on more than one share of its text")
    slope, start = linear_regression([size for size, _ in points], [value for _, value in points])
    off = max(abs(start + slope * size - value) for size, value in points) / max(value for _, value in points)
    caution = f"no interval: {len(sizes)} sizes of text, {sizes[0]:.3g} to {sizes[-1]:.3g} MB"
    if len(sizes) > _LEAST_SIZES:
        caution += f"; none is further from the line than {off:.0%} of the largest value"
    return Cell(*place[:4], slope, place.unit, n=len(sizes), caution=caution)


SPEC: Final = MetricFamily(
    name="footprint",
    summary="seconds and memory to load, to encode and to train, and how training grows with its text: fresh processes",
    values=VALUES,
    study="isolated",
    make=Footprints,
    options=FootprintOptions,
)
