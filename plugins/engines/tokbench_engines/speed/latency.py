"""The timed metric ``latency``: documents of four sizes, one at a time (a service) and in a batch (a pipeline).

A fresh copy encodes each document once, so that no answer comes from a cache.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Literal, NamedTuple

from pydantic import Field

from tokbench.plugin import Options, Progress, Tokenizer, encode_batch
from tokbench.plugin.metrics import Cell, Metric, MetricFamily, Outcome, quantile_interval
from tokbench.plugin.timing import (
    Contender,
    FreshCopies,
    TimedText,
    TimingPlace,
    drift_note,
    machine_notes,
    quiet,
    seconds,
    take_turns,
)

SizeName = Literal["100 B", "1 KB", "10 KB", "1 MB"]

_BYTES: Final[Mapping[SizeName, int]] = {"100 B": 100, "1 KB": 1_000, "10 KB": 10_000, "1 MB": 1_000_000}
_SHARES: Final = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
_LEAST: Final = {"p50": 1, "p95": 20, "p99": 100}
"""With fewer documents it would be the slowest one."""

_WARM_BYTES: Final = 20_000
_ROUNDS: Final = 10


class LatencyOptions(Options):
    """Options of ``latency``."""

    sizes: tuple[SizeName, ...] = Field(default=tuple(_BYTES), min_length=1, description="sizes of documents")
    documents: int = Field(default=1000, ge=2, le=100_000, description="maximum documents of a size, in each mode")
    max_bytes: int = Field(default=4_000_000, ge=1000, description="maximum text of a size for both modes, in bytes")
    seed: int = Field(default=1, description="seed of the order of rounds and documents")
    by_group: bool = Field(default=False, description="also time each group alone; rankings differ by language")


def _key(size: SizeName) -> str:
    return size.lower().replace(" ", "")


def _percentile(size: SizeName, name: str) -> Metric:
    return Metric(f"latency_{_key(size)}_{name}", "us", "lower", label=f"latency {size} {name}").means(
        "percentile over documents of the time of one call of encode",
        f"Microseconds within which {name[1:]}% of the documents of {size} are encoded, one at a time, each seen for "
        "the first time. The call from Python is included.",
    )


def _throughput(size: SizeName, mode: str) -> Metric:
    calls = "one at a time" if mode == "single" else "in one call for all of a round"
    return Metric(
        f"{mode}_{_key(size)}_mb_per_s", "MB/s", "higher", label=f"{mode} {size}", by_output=mode == "batch"
    ).means(
        "median over rounds of bytes / seconds / 10^6",
        f"UTF-8 bytes of documents of {size} encoded per second, {calls}, on one thread, unseen text.",
    )


VALUES: Final = tuple(
    metric
    for size in _BYTES
    for metric in (
        *(_percentile(size, name) for name in _SHARES),
        *(_throughput(size, mode) for mode in ("single", "batch")),
    )
)


class _Round(NamedTuple):
    single: list[str]
    batch: list[str]


@dataclass
class _Timed(Contender):
    size: SizeName = "1 KB"
    seconds: list[float] = field(default_factory=list)
    single: list[float] = field(default_factory=list)
    batch: list[float] = field(default_factory=list)

    @property
    def where(self) -> str:
        return f"documents of {self.size} of {self.text.corpus}"

    def warm_up(self, texts: Sequence[str]) -> None:
        self.get_ready()
        for text in texts:
            self.tokenizer.encode(text)
        encode_batch(self.tokenizer, list(texts))

    def time(self, part: _Round) -> None:
        took = time_each(self.tokenizer, part.single)
        self.seconds += took
        self.single.append(_size(part.single) / sum(took) / 1e6)
        batch = seconds(partial(encode_batch, self.tokenizer, part.batch), 1)
        self.batch.append(_size(part.batch) / batch / 1e6)


def time_each(tokenizer: Tokenizer, texts: Sequence[str]) -> list[float]:
    """Encode each text by itself."""
    encode, clock = tokenizer.encode, time.perf_counter_ns
    durations = []
    for text in texts:
        start = clock()
        encode(text)
        durations.append((clock() - start) / 1e9)
    return durations


def _size(texts: Sequence[str]) -> int:
    return sum(len(text.encode()) for text in texts)


class Latency:
    """The timed metric."""

    def __init__(self, options: LatencyOptions) -> None:
        self._options = options

    def measure(self, tokenizers: Mapping[str, Tokenizer], texts: Sequence[TimedText], progress: Progress) -> Outcome:
        cells, notes, every = list[Cell](), machine_notes("latency"), list[_Timed]()
        copies = {size: FreshCopies(tokenizers) for size in self._options.sizes}
        for text in texts:
            place = text.name
            data = joined_text(text, self._options.max_bytes + _WARM_BYTES, self._options.seed)
            for size in self._options.sizes:
                timed = [
                    _Timed(name, tokenizer, text, size=size) for name, tokenizer in copies[size].for_text(text).items()
                ]
                progress(f"latency on {place}, {size}", 0, None)
                with quiet():
                    rounds = self._rounds(timed, data, size)
                cells += [cell for contender in timed for cell in _cells(contender, size, rounds)]
                speeds = {contender.name: contender.single for contender in timed if not contender.failure}
                notes += [f"latency on {place}, {size}: {note}" for note in drift_note(speeds)]
                every += timed
        return Outcome(cells=cells, notes=notes).traced(contender.failure for contender in every)

    def _rounds(self, timed: Sequence[_Timed], data: bytes, size: SizeName) -> list[_Round]:
        options = self._options
        warm = documents_of_size(data[:_WARM_BYTES], min(_BYTES[size], _WARM_BYTES // 4), 20)
        rest = data[_WARM_BYTES:] if len(data) > 2 * _WARM_BYTES else data[len(data) // 10 :]
        rest = rest[: options.max_bytes].lstrip(bytes(range(0x80, 0xC0)))  # begins with a whole character
        documents = documents_of_size(rest, _BYTES[size], 2 * options.documents)
        count = min(_ROUNDS, len(documents) // 2)
        half = len(documents) // (2 * count) if count else 0
        rounds = [
            _Round(documents[2 * k * half : (2 * k + 1) * half], documents[(2 * k + 1) * half : (2 * k + 2) * half])
            for k in range(count)
        ]
        order = random.Random(options.seed)  # noqa: S311 - an order, not a secret
        steps = [partial(_Timed.warm_up, texts=warm)] if rounds else []
        for step in [*steps, *(partial(_Timed.time, part=part) for part in rounds)]:
            take_turns(timed, order, step)
        return rounds


def _cells(timed: _Timed, size: SizeName, rounds: Sequence[_Round]) -> Iterator[Cell]:
    for metric in VALUES:
        mode, key = metric.id.split("_")[:2]
        if key != _key(size):
            continue
        place = timed.place(metric.id, metric.unit)
        if timed.failure:
            yield place.failed(timed.failure)
        elif not rounds:
            yield place.without_value(f"the text has fewer than two documents of {size}: one for each mode")
        elif mode == "latency":
            yield _percentile_cell(place, timed.seconds, metric.id.rsplit("_", 1)[1], size)
        else:
            yield place.of_rounds(timed.single if mode == "single" else timed.batch)


def joined_text(text: TimedText, max_bytes: int, seed: int) -> bytes:
    """Return mixed pieces of all groups, in lines.

    >>> sorted(joined_text(TimedText("c", True, 7, ["one", "two"]), 100, seed=1).split())
    [b'one', b'two']
    """
    return "\n".join(text.shuffled(max_bytes, seed)).encode()


def documents_of_size(data: bytes, size: int, most: int) -> list[str]:
    """Return consecutive texts of ``data``, each of ``size`` bytes or up to 3 fewer; cut no character.

    >>> documents_of_size("añb".encode(), 2, 9)
    ['a', 'ñ']
    """
    documents: list[str] = []
    start = 0
    while len(documents) < most and start + size <= len(data):
        end = start + size
        while end < len(data) and data[end] & 0xC0 == 0x80:  # noqa: PLR2004 - a byte in the middle of a character
            end -= 1
        if end == start:  # one character is larger than the size
            break
        documents.append(data[start:end].decode())
        start = end
    return documents


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that a share of the values does not exceed.

    >>> quantile([30, 10, 20, 40], 0.5), quantile([30, 10, 20, 40], 0.99)
    (20, 40)
    """
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def _percentile_cell(place: TimingPlace, values: Sequence[float], name: str, size: SizeName) -> Cell:
    if len(values) < _LEAST[name]:
        return place.without_value(
            f"the text has {len(values)} documents of {size} for it; {name} needs {_LEAST[name]}"
        )
    scaled = [1e6 * value for value in values]
    interval = quantile_interval(scaled, _SHARES[name])[:2]
    return place.with_value(quantile(scaled, _SHARES[name]), interval, len(values), "documents")


SPEC: Final = MetricFamily(
    name="latency",
    summary="time of one document and of a batch, for 100 B, 1 KB, 10 KB and 1 MB: p50, p95, p99, MB/s",
    values=VALUES,
    study="speed",
    make=Latency,
    options=LatencyOptions,
)
