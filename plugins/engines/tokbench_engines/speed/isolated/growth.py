"""The isolated metric ``growth``: how the time of encoding grows with stress tests of 1 KB to 1 MB.

A million spaces are one chunk for most pre-tokenizers; some engines need quadratic time, or crash.
"""

from __future__ import annotations

import random
import string
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from pydantic import Field

from tokbench.plugin import Options, Tokenizer
from tokbench.plugin.metrics import OWN_TEXTS, Cell, Metric, MetricFamily, Outcome, student_t
from tokbench.plugin.timing import TimingPlace, quiet
from tokbench_engines.speed.isolated.contract import StepAnswers, TrainedIn

ShapeName = Literal["one letter", "spaces", "random letters", "digits", "one emoji", "mixed scripts"]

_SCRIPTS: Final = "zλЖאअก中あ한ა"
_LETTERS: Final[Mapping[ShapeName, str]] = {
    "one letter": "a",
    "spaces": " ",
    "random letters": string.ascii_lowercase,
    "digits": string.digits,
    "one emoji": "\U0001f600",
    "mixed scripts": _SCRIPTS,
}
_SIZES: Final = tuple(1000 * 4**k for k in range(6))

_REPEATS: Final = 5
_REPEAT_SECONDS: Final = 0.05
"""The total time up to which a size is repeated."""

_WORKS_HERE: Final = 0.05
"""Below this share of CPU time, an engine waits for something."""

_LINEAR: Final = 1.2
_QUADRATIC: Final = 1.6
_LEAST_SIZES: Final = 3
_LEAST_FREEDOM: Final = 4


class GrowthOptions(Options):
    """Options of ``growth``."""

    shapes: tuple[ShapeName, ...] = Field(default=tuple(_LETTERS), min_length=1, description="the shapes of text")
    seconds: float = Field(
        default=10, gt=0, le=86_400, description="time limit of one size, in seconds; longer is a hang"
    )
    max_bytes: int = Field(default=_SIZES[-1], ge=16_000, description="the largest size, in bytes")
    seed: int = Field(default=1, description="seed of the texts")


EXPONENT = Metric(
    "growth_exponent",
    "exponent",
    "lower",
    label="growth",
    loss_cannot_help="the exponent does not depend on how many tokens a text has",
).means(
    "slope of least squares of log CPU seconds on log bytes; sizes from 1 KB to 1 MB, each four times the last",
    "How the time of encoding one stress-test text grows with its size. 1 is linear: twice the text takes twice the "
    "time. 2 is quadratic. Each time is the least of up to five on texts of different lengths. The groups are the "
    "shapes. A crash or a hang has no value; the reason names the size.",
)
SPEED = Metric("hostile_mb_per_s", "MB/s", "none", label="stress tests").means(
    "bytes / seconds / 10^6 of the largest size",
    "UTF-8 bytes of one stress-test text encoded per second, at the largest size, mostly 1 MB. Neither "
    "direction is better: an engine that loses such a text may be fast.",
)


def hostile_text(shape: ShapeName, n_bytes: int, seed: int) -> str:
    """Return about ``n_bytes`` of UTF-8.

    >>> hostile_text("one emoji", 8, seed=1)
    '\U0001f600\U0001f600'
    """
    if shape == "spaces":  # the letter makes a pattern such as \s+(?!\S) go back
        return " " * (n_bytes - 1) + "x"
    letters = _LETTERS[shape]
    width = len(letters.encode()) / len(letters)
    return "".join(random.Random(seed).choices(letters, k=round(n_bytes / width)))  # noqa: S311 - no secret


class GrowthLine(NamedTuple):
    """Through the logarithms of sizes and times."""

    exponent: float
    low: float | None
    """95%; ``None`` with fewer than six sizes."""
    high: float | None

    @property
    def word(self) -> str:
        """The growth in a word.

        >>> [GrowthLine(slope, None, None).word for slope in (1.02, 1.4, 1.97)]
        ['linear', 'more than linear', 'quadratic']
        """
        if self.exponent <= _LINEAR:
            return "linear"
        return "quadratic" if self.exponent >= _QUADRATIC else "more than linear"


class TimedSize(NamedTuple):
    """Bytes, seconds on the clock, CPU seconds."""

    n_bytes: int
    wall: float
    cpu: float
    detour: bool = False
    """Whether the backend worked around its library."""


def line_of(sizes: Sequence[TimedSize]) -> GrowthLine:
    """Fit least squares on logarithms of bytes and CPU seconds, or the clock's if the engine works elsewhere.

    >>> line_of([TimedSize(1000, 0.001, 0.001), TimedSize(4000, 0.016, 0.016)]).exponent.__round__(3)
    2.0
    """
    here = all(size.cpu > _WORKS_HERE * size.wall for size in sizes)
    points = [(size.n_bytes, size.cpu if here else size.wall) for size in sizes]
    x, y = np.log(np.array(points, dtype=np.float64)).T
    x = x - x.mean()
    slope = float(x @ y / (x @ x))
    freedom = len(points) - 2
    if freedom < _LEAST_FREEDOM:
        return GrowthLine(slope, None, None)
    rest = y - y.mean() - slope * x
    reach = student_t(freedom) * float(np.sqrt(rest @ rest / freedom / (x @ x)))
    return GrowthLine(slope, slope - reach, slope + reach)


class Growth:
    """The isolated metric."""

    fresh = False

    def __init__(self, options: GrowthOptions) -> None:
        self._options = options
        self._sizes = [size for size in _SIZES if size <= max(options.max_bytes, _SIZES[_LEAST_SIZES - 1])]
        self.steps: Sequence[ShapeName] = options.shapes
        self.seconds: float | None = options.seconds

    def measure(self, step: str, load: Callable[[], Tokenizer]) -> Iterator[TimedSize]:
        tokenizer = load()
        tokenizer.encode("Warm up on an ordinary text: 12 words, and a line break.\n")
        shape = next(name for name in _LETTERS if name == step)
        for size in self._sizes:
            with quiet():
                timed = self._time(tokenizer, shape, size)
            yield timed

    def _time(self, tokenizer: Tokenizer, shape: ShapeName, size: int) -> TimedSize:
        repeats: list[TimedSize] = []
        while len(repeats) < _REPEATS and sum(repeat.wall for repeat in repeats) < _REPEAT_SECONDS:
            text = hostile_text(shape, size, self._options.seed + len(repeats))
            text = text[len(repeats) :]
            detours = _detours(tokenizer)
            start, cpu = time.perf_counter(), time.process_time()
            tokenizer.encode(text)
            cpu, wall = time.process_time() - cpu, time.perf_counter() - start
            repeats.append(TimedSize(len(text.encode()), wall, cpu, _detours(tokenizer) > detours))
        return min(repeats, key=lambda repeat: repeat.wall)

    def finish(self, by_tokenizer: Mapping[str, Mapping[str, StepAnswers]], _facts: Mapping[str, TrainedIn]) -> Outcome:
        outcome = Outcome()
        failures = []
        for name, by_shape in by_tokenizer.items():
            words = []
            for shape, answers in by_shape.items():
                exponent, speed = (TimingPlace(name, OWN_TEXTS, shape, metric.id, metric.unit) for metric in VALUES)
                if answers.failure:
                    word, reason = self._failed(answers)
                    failures.append(answers.failure._replace(reason=reason))
                    outcome.cells.extend([exponent.failed(failures[-1]), speed.failed(failures[-1])])
                else:
                    line, reason = line_of(answers.answers), self._reason(answers.answers)
                    size, took, *_ = answers.answers[-1]
                    count, mb_per_s = len(answers.answers), size / took / 1e6
                    outcome.cells.append(
                        Cell(*exponent[:4], line.exponent, EXPONENT.unit, line.low, line.high, n=count, caution=reason)
                    )
                    outcome.cells.append(Cell(*speed[:4], mb_per_s, SPEED.unit, n=1, caution=reason))
                    word = f"{line.word} ({reason})" if reason else line.word
                words.append((word, shape))
            outcome.notes.append(f"growth: {name}: {_sentence(words)}")
        return outcome.traced(failures)

    @staticmethod
    def _reason(sizes: Sequence[TimedSize]) -> str:
        first = next((size for size in sizes if size.detour), None)
        if first is None:
            return ""
        return f"the library itself fails on {_size_text(first.n_bytes)}, and the backend works around it"

    def _failed(self, answers: StepAnswers) -> tuple[str, str]:
        assert answers.failure
        done = answers.answers
        if not done and not answers.failure.timed_out:
            return "crash", answers.failure.reason
        at = _size_text(self._sizes[min(len(done), len(self._sizes) - 1)])
        until = f"; until then {line_of(done).word}" if len(done) >= _LEAST_SIZES else ""
        if done:
            until += f", {done[-1].wall:.2g} s on {_size_text(done[-1].n_bytes)}"
        if not answers.failure.timed_out:
            return "crash", f"crash on {at}: {answers.failure.reason}{until}"
        advice = f"if it is only slow, allow more: growth: {{seconds: {10 * self._options.seconds:g}}}"
        return "hang", f"hang on {at}: no answer within {self._options.seconds:g} s{until}; {advice}"


@runtime_checkable
class CountsDetours(Protocol):
    """Capability: counts the texts that its library cannot encode, and that the backend encodes in another way."""

    @property
    def detours(self) -> int:
        """Such texts so far."""


def _detours(tokenizer: Tokenizer) -> int:
    return tokenizer.detours if isinstance(tokenizer, CountsDetours) else 0


def _size_text(n_bytes: int) -> str:
    """Write a size."""
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e6 else f"{n_bytes / 1e3:.0f} KB"  # noqa: PLR2004 - a megabyte


def _sentence(words: Sequence[tuple[str, str]]) -> str:
    """Join shapes with equal growth."""
    order = {word: place for place, word in enumerate(dict.fromkeys(word for word, _ in words))}
    groups = groupby(sorted(words, key=lambda pair: order[pair[0]]), key=lambda pair: pair[0])
    return "; ".join(f"{word} on {', '.join(shape for _, shape in some)}" for word, some in groups)


VALUES: Final = (EXPONENT, SPEED)

SPEC: Final = MetricFamily(
    name="growth",
    summary="growth of time on stress tests from 1 KB to 1 MB: linear, quadratic, crash or hang, by shape",
    values=VALUES,
    study="isolated",
    make=Growth,
    options=GrowthOptions,
)
