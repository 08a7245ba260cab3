"""The timed metric ``speed``: times all tokenizers in turn, in rounds of shuffled order.

It times the calls that the other metrics use, on one thread: encoding the documents of a slice into two arrays, and
decoding the arrays. Rounds are interleaved because the speed of a machine drifts: on a busy two-core machine, timing A
and then B was seen to be 50 % wrong, and shuffled rounds 2 %. The first tokenizer is timed twice in every round; the
difference between its two timings is the noise floor. All tokenizers are timed as fresh copies, because the originals
have seen the text already and may have it in a cache.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from pydantic import Field

from tokbench.metrics.speed.conditions import drift_note, machine_notes, spread_note
from tokbench.metrics.speed.contender import Contender, Place, take_turns, text_name
from tokbench.metrics.speed.copies import FreshCopies, combined
from tokbench.metrics.speed.slices import TimedSlice, slices_of
from tokbench.metrics.speed.timing import (
    calibrate,
    harness_seconds,
    median_spread,
    noise_floor,
    quiet,
    seconds,
)
from tokbench.plugin import (
    WHOLE,
    Cell,
    Failure,
    Metric,
    Options,
    Progress,
    Role,
    TimedOutcome,
    TimedText,
    Tokenizer,
    TokenizerName,
    check_encoded,
    decode_batch,
    encode_batch,
)


class SpeedOptions(Options):
    """Options of ``speed``."""

    rounds: int = Field(default=10, ge=3, le=1000, description="rounds; six or more give an interval")
    min_time: float = Field(default=0.001, gt=0, le=10, description="seconds that one value of decoding lasts at least")
    max_bytes: int = Field(default=2_000_000, ge=1, description="text taken of a corpus")
    seed: int = Field(default=1, description="seed of the order of rounds and documents")
    by_group: bool = Field(default=False, description="time every group by itself, too; rankings differ by language")
    reference: TokenizerName = Field(
        default="", description="the tokenizer of `encode_ratio`; default: for each the one of its `same_as`"
    )
    processes: int = Field(
        default=1, ge=1, le=100, description="fresh processes that repeat everything; five or more give an interval"
    )


VALUES = (
    Metric(
        id="encode_mb_per_s",
        unit="MB/s",
        direction="higher",
        label="encode",
        headline=True,
        role=Role.ENCODING_SPEED,
        formula="median over rounds of bytes / seconds / 10^6",
        definition=(
            "UTF-8 bytes encoded per second, documents into arrays of ids, one thread, warm engine. Each round "
            "times a slice of text that was not seen before, once. Compare with what the tokens hold: a tokenizer "
            "that makes fewer tokens of a text does less work."
        ),
    ),
    Metric(
        id="decode_mb_per_s",
        unit="MB/s",
        direction="higher",
        label="decode",
        formula="median over rounds of bytes / seconds / 10^6",
        definition="UTF-8 bytes of the original text decoded per second, arrays of ids into strings, one thread.",
    ),
)
RATIO = Metric(
    id="encode_ratio",
    unit="x",
    direction="higher",
    label="encode, reference = 1",
    formula="median over rounds of MB/s / MB/s of the reference in the same round",
    definition=(
        "Encoding speed over that of a reference: the tokenizer of the option `reference`, or else the one that the "
        "tokenizer is declared the same as. Both are timed on the same text in the same round, so that a machine that "
        "slows down does not move the ratio."
    ),
)


@dataclass
class _Raced(Contender):
    """A tokenizer on one text, with the repetitions of each call and its MB/s in each round, by metric."""

    loops: dict[str, int] = field(default_factory=dict)
    speeds: dict[str, list[float]] = field(default_factory=lambda: {value.id: [] for value in VALUES})
    digest: hashlib._Hash = field(default_factory=hashlib.sha256)
    seconds: list[float] = field(default_factory=list)
    wall: float = 0.0
    """Seconds that encoding took in all rounds."""
    cpu: float = 0.0
    """Seconds of processor time that all threads used meanwhile."""

    def calls(self, part: TimedSlice) -> Iterator[tuple[str, Callable[[], object]]]:
        """Yield the calls to time, by metric.

        The ids to decode are made after encoding was timed, because encoding must not see a text twice.
        """
        encode = partial(encode_batch, self.tokenizer, part.texts)
        yield "encode_mb_per_s", encode
        encoded = encode()
        check_encoded(encoded, len(part.texts), self.tokenizer.vocab_size)
        self.digest.update(encoded.ids.tobytes())
        yield "decode_mb_per_s", partial(decode_batch, self.tokenizer, encoded)

    def warm_up(self, part: TimedSlice, min_time: float) -> None:
        """Warm the tokenizer up, and find the repetitions of decoding."""
        self.get_ready()
        for value, call in self.calls(part):
            if value == _ENCODE:  # encoding is never repeated: a text seen twice may come from a cache
                call()
                self.loops[value] = 1
            else:
                self.loops[value] = calibrate(call, min_time)

    def time(self, part: TimedSlice) -> None:
        """Time each call once, and keep its MB/s."""
        for value, call in self.calls(part):
            begun, used = time.perf_counter(), time.process_time()
            took = seconds(call, self.loops[value])
            if value == _ENCODE:  # both clocks are read at the same places, since one slice may take microseconds
                self.wall += time.perf_counter() - begun
                self.cpu += time.process_time() - used
            self.seconds.append(took)
            self.speeds[value].append(part.n_bytes / took / 1e6)


class Speed:
    """Times every tokenizer on every corpus, and on every group if that is wanted."""

    def __init__(self, options: SpeedOptions) -> None:
        self._options = options
        self._same_as: Mapping[str, str] = {}

    @property
    def by_group(self) -> bool:
        """See :class:`tokbench.measuring.metric.TimesGroups`."""
        return self._options.by_group

    @property
    def processes(self) -> int:
        """See :class:`tokbench.measuring.metric.RepeatsInProcesses`."""
        return self._options.processes

    def refer(self, same_as: Mapping[str, str]) -> None:
        """See :class:`tokbench.measuring.metric.RefersToOthers`."""
        self._same_as = same_as

    def measure(
        self, tokenizers: Mapping[str, Tokenizer], texts: Sequence[TimedText], progress: Progress
    ) -> TimedOutcome:
        """Time every tokenizer on every corpus; see :class:`tokbench.measuring.metric.TimedMetric`."""
        outcome, failures = TimedOutcome([], machine_notes("speed")), []
        copies = FreshCopies(tokenizers)
        controls = FreshCopies(dict(list(tokenizers.items())[:1]))
        for text in texts:
            contenders = [_Raced(name, tokenizer, text) for name, tokenizer in copies.for_text(text).items()]
            control = [_Raced(name, tokenizer, text) for name, tokenizer in controls.for_text(text).items()]
            parts = slices_of(text, self._options.rounds + 1, self._options.max_bytes, self._options.seed)
            with quiet():
                notes = self._rounds(contenders, control, parts, f"timing on {text.corpus}", progress)
            outcome.notes.extend(f"speed on {text_name(text)}: {note}" for note in notes)
            for contender in contenders:
                outcome.cells.extend(_cells(contender))
                outcome.cells.extend(self._ratio(contender, contenders))
                failures += [contender.failure] if contender.failure else []
        return outcome._replace(failures=failures)

    def combine(self, outcomes: Sequence[TimedOutcome]) -> TimedOutcome:
        """See :class:`tokbench.measuring.metric.RepeatsInProcesses`."""
        return combined("speed", outcomes)

    def bytes_to_time(self, n_bytes: int, tokenizers: int) -> int:
        """Return the size of the slices times the tokenizers, in all processes; the first tokenizer is timed twice."""
        return min(n_bytes, self._options.max_bytes) * (tokenizers + 1) * self._options.processes

    def _rounds(
        self,
        contenders: list[_Raced],
        control: list[_Raced],
        parts: list[TimedSlice],
        step: str,
        progress: Progress,
    ) -> list[str]:
        options = self._options
        if len(parts) <= options.rounds:
            for contender in contenders:
                reason = f"the text gives {len(parts)} slices, {options.rounds} rounds need one more"
                contender.failure = Failure(reason)
            return []
        progress(step, 0, options.rounds)
        field_ = contenders + control
        for contender in field_:
            contender.guarded(partial(contender.warm_up, parts[0], options.min_time))
        order = random.Random(options.seed)  # noqa: S311 - an order, not a secret
        for number, part in enumerate(parts[1:], 1):
            take_turns(field_, order, partial(_Raced.time, part=part))
            progress(step, number, options.rounds)
        return _notes(contenders, control)

    def _ratio(self, contender: _Raced, contenders: Sequence[_Raced]) -> Iterator[Cell]:
        """Yield the cell of the ratio to the reference, if there is one."""
        name = self._options.reference or self._same_as.get(contender.name, "")
        reference = next((other for other in contenders if other.name == name), None)
        if not name or name == contender.name:
            return
        place = contender.place(RATIO.id, RATIO.unit)
        if contender.failure:
            yield _without_value(place, contender)
        elif reference is None or reference.failure:
            yield place.without_value(f"{name} was not timed here")
        else:
            speeds = zip(contender.speeds[_ENCODE], reference.speeds[_ENCODE], strict=True)
            yield _cell(place, [mine / other for mine, other in speeds])


_ENCODE = VALUES[0].id
_ONE_THREAD = 1.2
"""More cores than these in the mean are more than one thread."""


def _cells(contender: _Raced) -> Iterator[Cell]:
    for value in VALUES:
        place = contender.place(value.id, value.unit)
        if contender.failure:
            yield _without_value(place, contender)
        else:
            yield _cell(place, contender.speeds[value.id])


def _without_value(place: Place, contender: _Raced) -> Cell:
    """Return the cell of a tokenizer that failed; a group with too little text is not a failure."""
    assert contender.failure
    small = contender.text.group != WHOLE and not contender.loops
    if small and not contender.failure.traceback:
        return place.without_value(contender.failure.reason)
    return place.failed(contender.failure)


def _cell(place: Place, values: Sequence[float]) -> Cell:
    spread = median_spread(values)
    return place.of_rounds(spread.median, (spread.low, spread.high), len(values))


def _notes(contenders: list[_Raced], control: list[_Raced]) -> list[str]:
    """Return notes that a reader of the speeds must know."""
    notes = []
    sound = [contender for contender in contenders if not contender.failure]
    speeds = {contender.name: contender.speeds[_ENCODE] for contender in sound}
    for copy in control:
        if copy.name in speeds and not copy.failure:
            floor = noise_floor(speeds[copy.name], copy.speeds[_ENCODE])
            notes.append(
                f"noise floor {floor:.1%}: so far {copy.name} differs from itself; smaller differences mean nothing"
            )
    notes += [*spread_note(speeds), *drift_note(speeds)]
    for contender in sound:
        cores = contender.cpu / contender.wall
        if cores > _ONE_THREAD:
            notes.append(f"{contender.name} used {cores:.1f} cores to encode: its speed is not that of one thread")
    shortest = min((min(contender.seconds) for contender in sound), default=0.0)
    if shortest:
        cost = harness_seconds()
        notes.append(
            f"the harness' own cost is {cost * 1e6:.2f} us for each timing, {cost / shortest:.2%} of the shortest one"
        )
    same: dict[str, list[str]] = {}
    for contender in sound:
        same.setdefault(contender.digest.hexdigest(), []).append(contender.name)
    notes.extend(
        f"same ids, so speeds compare directly: {', '.join(names)}" for names in same.values() if len(names) > 1
    )
    return notes
