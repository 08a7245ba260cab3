"""The time and memory of a training, and how they grow with the text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from statistics import linear_regression
from typing import Final

from tokbench.measuring.isolated_metric import TrainedIn
from tokbench.metrics.speed.contender import Place
from tokbench.plugin.metrics import OWN_TEXTS, WHOLE, Cell, Metric

_training = partial(Metric, direction="lower", loss_cannot_help="a lossy tokenizer trains on the same text")

SECONDS: Final = _training("train_s", "s", label="train").means(
    "wall time of the training",
    "Seconds that the training of the tokenizer took, on the text that the configuration names for it. Compiling, "
    "which tokbench does once on a machine, is not part of it.",
)
MEMORY: Final = _training("train_memory_mb", "MB", label="memory, train").means(
    "peak of resident memory while training - before / 10^6",
    "Most resident memory of the process that trains, and of those that it starts, above that before the training. "
    "The process is a fresh one, so that the library counts, too. The text comes piece by piece from another "
    "process: what of it is in this memory, the trainer has kept.",
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

_LEAST_SIZES: Final = 2


def training_cells(name: str, trainings: Mapping[str, TrainedIn]) -> Iterator[Cell]:
    """Yield the cells of :data:`TRAINING`."""
    places = {metric.id: Place(name, OWN_TEXTS, WHOLE, metric.id, metric.unit) for metric in TRAINING}
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
            yield Cell(*place[:4], value, place.unit, n=1, reason="no interval: there is one training")
        yield _slope(places[slope_id], alike, value_of)


_NOT_MEASURED: Final = (
    "the memory of its training was not measured: the system does not tell it, or other trainings ran beside it"
)


def _seconds(trained: TrainedIn) -> float | None:
    return trained.seconds


def _megabytes(trained: TrainedIn) -> float | None:
    return None if trained.memory is None else trained.memory / 1e6


def _slope(place: Place, alike: Sequence[TrainedIn], value_of: Callable[[TrainedIn], float | None]) -> Cell:
    points = [(trained.n_bytes / 1e6, value) for trained in alike if (value := value_of(trained)) is not None]
    sizes = sorted({size for size, _ in points})
    if len(sizes) < _LEAST_SIZES:
        return place.without_value("it needs the same training on more than one share of its text")
    slope, start = linear_regression([size for size, _ in points], [value for _, value in points])
    off = max(abs(start + slope * size - value) for size, value in points) / max(value for _, value in points)
    reason = f"no interval: {len(sizes)} sizes of text, {sizes[0]:.3g} to {sizes[-1]:.3g} MB"
    if len(sizes) > _LEAST_SIZES:
        reason += f"; none is further from the line than {off:.0%} of the largest value"
    return Cell(*place[:4], slope, place.unit, n=len(sizes), reason=reason)
