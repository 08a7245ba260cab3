"""The timed metric ``speed``: all tokenizers in turn, in rounds of shuffled order, on one thread.

Rounds are interleaved because a machine's speed drifts (in turn: 50% wrong on a busy two-core machine; shuffled: 2%).
The first tokenizer is timed twice in every round: the difference is the noise floor. All are fresh copies, without a
cache of the text.
"""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import ClassVar

from pydantic import Field

from tokbench.foundation.failures import Failure
from tokbench.foundation.progress import Progress
from tokbench.measuring.metric import Metric, Role
from tokbench.measuring.study import Outcome
from tokbench.measuring.timing.clock import (
    calibrate,
    quiet,
    seconds,
)
from tokbench.measuring.timing.conditions import drift_note, machine_notes
from tokbench.measuring.timing.contender import Contender, TimingPlace, take_turns
from tokbench.measuring.timing.contract import TimedSlice, TimedText
from tokbench.measuring.timing.copies import FreshCopies
from tokbench.results.cells import WHOLE, Cell
from tokbench.tokenizers.batch import check_encoded, decode_batch, encode_batch, from_lists
from tokbench.tokenizers.contract import Encoded, Tokenizer, output_of
from tokbench.tokenizers.options import Options, TokenizerName


class SpeedOptions(Options):
    """Options of ``speed``."""

    rounds: int = Field(default=10, ge=3, le=1000, description="rounds; an interval needs six")
    min_time: float = Field(default=0.001, gt=0, le=10, description="minimum seconds of one measurement of decoding")
    max_bytes: int = Field(default=2_000_000, ge=1, description="maximum text used of a corpus, in bytes")
    seed: int = Field(default=1, description="seed of the order of rounds and documents")
    by_group: bool = Field(default=False, description="also time each group alone; rankings differ by language")
    reference: TokenizerName = Field(
        default="", description="the reference of `encode_ratio`; default: each tokenizer's `same_as`"
    )
    processes: int = Field(
        default=1, ge=1, le=100, description="fresh processes that repeat everything; an interval needs five"
    )


VALUES = (
    Metric(
        "encode_mb_per_s", "MB/s", "higher", label="encode", headline=True, role=Role.ENCODING_SPEED, by_output=True
    ).means(
        "median over rounds of bytes / seconds / 10^6",
        "UTF-8 bytes encoded per second, documents into arrays of ids, one thread, warm engine. Each round times a "
        "slice of text that was not seen before, once. For engines that return Python lists, making arrays of them is "
        "timed, too; only engines that return the same kind are ranked together. A tokenizer that makes fewer tokens "
        "of a text does less work.",
    ),
    Metric("decode_mb_per_s", "MB/s", "higher", label="decode").means(
        "median over rounds of bytes / seconds / 10^6",
        "UTF-8 bytes of the original text decoded per second, arrays of ids into strings, one thread.",
    ),
)
RATIO = Metric("encode_ratio", "x", "higher", label="encode, reference = 1", by_output=True).means(
    "median over rounds of MB/s / MB/s of the reference in the same round",
    "Encoding speed relative to a reference: the tokenizer of the option `reference`, or else of its `same_as`. Both "
    "are timed on the same text in the same round, so that a machine that slows down does not move the ratio. Where a "
    "tokenizer returns lists and its reference arrays, the reference is timed a second time with lists, and that is "
    "1.",
)


@dataclass
class Raced(Contender):
    """A tokenizer on one text."""

    once: ClassVar[str] = VALUES[0].id
    """Timed once a round: a repeated text may come from a cache."""
    loops: dict[str, int] = field(default_factory=dict)
    speeds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    wall: float = 0.0
    cpu: float = 0.0

    @property
    def returns(self) -> str:
        return output_of(self.tokenizer)

    def calls(self, part: TimedSlice) -> Iterator[tuple[str, Callable[[], object]]]:
        """Yield calls by metric; ids come after encoding was timed, which must not see a text twice."""
        encode = partial(encode_batch, self.tokenizer, part.texts)
        yield "encode_mb_per_s", encode
        encoded = encode()
        check_encoded(encoded, len(part.texts), self.tokenizer.vocab_size)
        yield "decode_mb_per_s", partial(decode_batch, self.tokenizer, encoded)

    def amount(self, part: TimedSlice) -> float:
        return part.n_bytes / 1e6

    def warm_up(self, part: TimedSlice, min_time: float) -> None:
        self.get_ready()
        for value, call in self.calls(part):
            if value == self.once:  # encoding is never repeated: a text seen twice may come from a cache
                call()
                self.loops[value] = 1
            else:
                self.loops[value] = calibrate(call, min_time)

    def time(self, part: TimedSlice) -> None:
        for value, call in self.calls(part):
            begun, used = time.perf_counter(), time.process_time()
            took = seconds(call, self.loops[value])
            if value == self.once:  # both clocks are read at the same places, since one slice may take microseconds
                self.wall += time.perf_counter() - begun
                self.cpu += time.process_time() - used
            self.speeds[value].append(self.amount(part) / took)


class _AsLists:
    def __init__(self, tokenizer: Tokenizer) -> None:
        self.vocab_size, self.encode, self.decode = tokenizer.vocab_size, tokenizer.encode, tokenizer.decode

    def encode_batch(self, texts: Sequence[str], /) -> Encoded:
        return from_lists([self.encode(text) for text in texts])


class RacedAsLists(Raced):
    """A reference that is also timed through its lists."""

    returns = "lists"

    def calls(self, part: TimedSlice) -> Iterator[tuple[str, Callable[[], object]]]:
        yield self.once, partial(encode_batch, self.tokenizer, part.texts)


class Speed:
    """The timed metric."""

    name = "speed"
    values: ClassVar[tuple[Metric, ...]] = VALUES
    ratio: ClassVar[Metric] = RATIO
    raced: ClassVar[type[Raced]] = Raced
    options: ClassVar[type[SpeedOptions]] = SpeedOptions
    as_lists: ClassVar[bool] = True
    """Whether tokenizers are compared by output."""

    def __init__(self, options: SpeedOptions) -> None:
        self._options = options
        self.same_as: Mapping[str, str] = {}

    def measure(self, tokenizers: Mapping[str, Tokenizer], texts: Sequence[TimedText], progress: Progress) -> Outcome:
        cells, all_notes, timed = list[Cell](), machine_notes(self.name), list[Raced]()
        copies = FreshCopies(tokenizers)
        controls = FreshCopies(dict(list(tokenizers.items())[:1]))
        references = FreshCopies({name: tokenizers[name] for name in self._as_lists(tokenizers)})
        floors: dict[str, dict[float, str]] = defaultdict(dict)
        for text in texts:
            contenders = [self.raced(name, tokenizer, text) for name, tokenizer in copies.for_text(text).items()]
            control = [self.raced(name, tokenizer, text) for name, tokenizer in controls.for_text(text).items()]
            listed = [
                RacedAsLists(name, _AsLists(tokenizer), text) for name, tokenizer in references.for_text(text).items()
            ]
            parts = text.slices(self._options.rounds + 1, self._options.max_bytes, self._options.seed)
            with quiet():
                self._rounds(contenders, control, listed, parts, progress)
            if text.group == WHOLE:
                notes = _notes(contenders, control)
                all_notes += [f"{self.name} on {text.name}: {note}" for note in notes]
            else:
                floors[text.corpus] |= dict.fromkeys(_floors(contenders, control).values(), text.group)
            for contender in contenders:
                cells += _cells(contender, self.values)
                cells += self._ratio(contender, [*contenders, *listed])
            timed += contenders
        all_notes += [
            f"{self.name} on the groups of {corpus}: noise floors up to {max(floor):.1%} ({floor[max(floor)]}); ignore "
            "smaller differences"
            for corpus, floor in floors.items()
            if floor
        ]
        return Outcome(cells=cells, notes=all_notes).traced(contender.failure for contender in timed)

    def _rounds(
        self,
        contenders: list[Raced],
        control: list[Raced],
        listed: list[RacedAsLists],
        parts: list[TimedSlice],
        progress: Progress,
    ) -> None:
        options = self._options
        if len(parts) <= options.rounds:
            for contender in contenders:
                reason = f"the text gives {len(parts)} slices, {options.rounds} rounds need one more"
                contender.failure = Failure(reason)
            return
        step = f"timing on {contenders[0].text.corpus}"
        progress(step, 0, options.rounds)
        field_ = [*contenders, *control, *listed]
        for contender in field_:
            contender.guarded(partial(contender.warm_up, parts[0], options.min_time))
        order = random.Random(options.seed)  # noqa: S311 - an order, not a secret
        for number, part in enumerate(parts[1:], 1):
            take_turns(field_, order, partial(Raced.time, part=part))
            progress(step, number, options.rounds)

    def _as_lists(self, tokenizers: Mapping[str, Tokenizer]) -> set[str]:
        pairs = {name: self._options.reference or self.same_as.get(name, "") for name in tokenizers}
        returns = {name: output_of(tokenizer) for name, tokenizer in tokenizers.items()}
        return {
            other
            for name, other in pairs.items()
            if self.as_lists and returns[name] == "lists" and returns.get(other) == "arrays"
        }

    def _ratio(self, contender: Raced, contenders: Sequence[Raced]) -> Iterator[Cell]:
        name = self._options.reference or self.same_as.get(contender.name, "")
        if not name or name == contender.name:
            return
        timed = [other for other in contenders if other.name == name]
        comparable = [other for other in timed if not self.as_lists or other.returns == contender.returns]
        reference = next(iter(comparable), None)
        place = contender.place(self.ratio.id, self.ratio.unit)
        if contender.failure:
            yield _without_value(place, contender)
        elif timed and not reference:
            yield place.without_value(f"{name} returns {timed[0].returns}, and this tokenizer {contender.returns}")
        elif reference is None or reference.failure:
            yield place.without_value(f"{name} was not timed here")
        else:
            speeds = zip(contender.speeds[contender.once], reference.speeds[contender.once], strict=True)
            yield place.of_rounds([mine / other for mine, other in speeds])


_ONE_THREAD = 1.2


def _cells(contender: Raced, values: Sequence[Metric]) -> Iterator[Cell]:
    for value in values:
        place = contender.place(value.id, value.unit)
        if contender.failure:
            yield _without_value(place, contender)
        else:
            yield place.of_rounds(contender.speeds[value.id])


def _without_value(place: TimingPlace, contender: Raced) -> Cell:
    assert contender.failure
    small = contender.text.group != WHOLE and not contender.loops
    if small and not contender.failure.traceback:
        return place.without_value(contender.failure.reason)
    return place.failed(contender.failure)


def _floors(contenders: list[Raced], control: list[Raced]) -> dict[str, float]:
    """Return by how much each tokenizer of the control differs from itself, as a share."""
    once = {contender.name: contender.speeds[contender.once] for contender in contenders if not contender.failure}
    return {
        copy.name: abs(
            median(again / one for one, again in zip(once[copy.name], copy.speeds[copy.once], strict=True)) - 1
        )
        for copy in control
        if copy.name in once and not copy.failure
    }


def _notes(contenders: list[Raced], control: list[Raced]) -> list[str]:
    sound = [contender for contender in contenders if not contender.failure]
    notes = [
        f"noise floor {floor:.1%}: {name} differs this much from itself; ignore smaller differences"
        for name, floor in _floors(contenders, control).items()
    ]
    notes += drift_note({contender.name: contender.speeds[contender.once] for contender in sound})
    for contender in sound:
        cores = contender.cpu / contender.wall
        if cores > _ONE_THREAD:
            notes.append(f"{contender.name} used {cores:.1f} cores to encode: its speed is not a one-thread speed")
    return notes
