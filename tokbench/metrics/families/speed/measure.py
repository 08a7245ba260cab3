"""The timed metric ``speed``: times all tokenizers in turn, in rounds of shuffled order.

It times the calls that the other metrics use, on one thread: encoding the documents of a slice into two arrays, and
decoding the arrays. Rounds are interleaved because the speed of a machine drifts: on a busy two-core machine, timing A
and then B was seen to be 50 % wrong, and shuffled rounds 2 %. The first tokenizer is timed twice in every round; the
difference between its two timings is the noise floor. All tokenizers are timed as fresh copies, because the originals
have seen the text already and may have it in a cache.
"""

from __future__ import annotations

import gc
import hashlib
import pickle
import random
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple

from pydantic import Field

from tokbench.metrics.families.speed.timing import calibrate, median_spread, noise_floor, quiet, seconds
from tokbench.plugin import (
    WHOLE,
    Cell,
    Failure,
    Metric,
    Options,
    Progress,
    Role,
    Status,
    TimedOutcome,
    TimedText,
    Tokenizer,
    WarmsUp,
    attempt,
    check_encoded,
    decode_batch,
    doing,
    encode_batch,
)

_NOISY = 0.05
"""A note names tokenizers whose relative spread is above this."""

MAX_PIECE: Final = 4_096
"""Longer documents are cut, at a line end if there is one, so that slices can have equal sizes; in characters."""

_PIECES_PER_SLICE: Final = 4
"""Every slice has about this many pieces at least; documents of a small corpus are cut shorter for it."""


class SpeedOptions(Options):
    """Options of ``speed``."""

    rounds: int = Field(default=10, ge=3, le=1000, description="rounds; six or more give an interval")
    min_time: float = Field(default=0.001, gt=0, le=10, description="seconds that one value lasts at least")
    max_bytes: int = Field(default=2_000_000, ge=1, description="text taken of a corpus")
    seed: int = Field(default=1, description="seed of the order of rounds and documents")


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
            "times a slice of text that was not seen before. Compare with what the tokens hold: a tokenizer "
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


@dataclass
class _Contender:
    """A tokenizer on one corpus, with the repetitions of each call and its MB/s in each round, by metric."""

    name: str
    tokenizer: Tokenizer
    corpus: str
    loops: dict[str, int] = field(default_factory=dict)
    speeds: dict[str, list[float]] = field(default_factory=lambda: {value.id: [] for value in VALUES})
    digest: hashlib._Hash = field(default_factory=hashlib.sha256)
    failure: Failure | None = None

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
        """Warm the tokenizer up, and find the number of repetitions of each call."""
        if isinstance(self.tokenizer, WarmsUp):
            self.tokenizer.warm_up()
        for value, call in self.calls(part):
            self.loops[value] = calibrate(call, min_time)

    def time(self, part: TimedSlice) -> None:
        """Time each call once, and keep its MB/s."""
        for value, call in self.calls(part):
            took = seconds(call, self.loops[value])
            self.speeds[value].append(part.n_bytes / took / 1e6)

    def guarded(self, step: Callable[[], None]) -> None:
        """Do a step if the tokenizer has not failed yet; it fails if the step raises."""
        with doing("timing", tokenizer=self.name, place=f"on corpus {self.corpus}"):
            outcome = None if self.failure else attempt(step)
        if isinstance(outcome, Failure):
            self.failure = outcome


class Speed:
    """Times every tokenizer on every corpus."""

    def __init__(self, options: SpeedOptions) -> None:
        self._options = options

    def measure(
        self, tokenizers: Mapping[str, Tokenizer], texts: Sequence[TimedText], progress: Progress
    ) -> TimedOutcome:
        """Time every tokenizer on every corpus; see :class:`tokbench.contracts.metric.TimedMetric`."""
        outcome, failures = TimedOutcome([], []), []
        for text in texts:
            contenders = [_Contender(name, _fresh(name, each), text.corpus) for name, each in tokenizers.items()]
            parts = slices_of(text, self._options.rounds + 1, self._options.max_bytes, self._options.seed)
            with quiet():
                notes = self._rounds(contenders, parts, f"timing on {text.corpus}", progress)
            outcome.notes.extend(f"speed on {text.corpus}: {note}" for note in notes)
            for contender in contenders:
                outcome.cells.extend(_cells(contender, text.corpus))
                failures += [contender.failure] if contender.failure else []
        return outcome._replace(failures=failures)

    def bytes_to_time(self, n_bytes: int, tokenizers: int) -> int:
        """Return the size of the slices times the tokenizers, of which the first is timed twice."""
        return min(n_bytes, self._options.max_bytes) * (tokenizers + 1)

    def _rounds(
        self, contenders: list[_Contender], parts: list[TimedSlice], step: str, progress: Progress
    ) -> list[str]:
        options = self._options
        if len(parts) <= options.rounds:
            for contender in contenders:
                reason = f"the text gives {len(parts)} slices, {options.rounds} rounds need one more"
                contender.failure = Failure(reason)
            return []
        control = [
            _Contender(first.name, _fresh(first.name, first.tokenizer), first.corpus) for first in contenders[:1]
        ]
        progress(step, 0, options.rounds)
        field_ = contenders + control
        for contender in field_:
            contender.guarded(partial(contender.warm_up, parts[0], options.min_time))
        order = random.Random(options.seed)  # noqa: S311 - an order, not a secret
        for number, part in enumerate(parts[1:], 1):
            gc.collect()
            for contender in order.sample(field_, len(field_)):
                contender.guarded(partial(contender.time, part))
            progress(step, number, options.rounds)
        return _notes(contenders, control)


def _fresh(name: str, tokenizer: Tokenizer) -> Tokenizer:
    """Return a copy with caches of its own, or the tokenizer itself if it cannot be copied."""

    def copy() -> Tokenizer:
        made: Tokenizer = pickle.loads(pickle.dumps(tokenizer))  # noqa: S301 - what was dumped on this line
        return made

    with doing("copying", tokenizer=name, place=""):
        copied = attempt(copy)
    return tokenizer if isinstance(copied, Failure) else copied


def _cells(contender: _Contender, corpus: str) -> list[Cell]:
    cells = []
    for value in VALUES:
        place = (contender.name, corpus, WHOLE, value.id)
        if contender.failure:
            cells.append(Cell(*place, unit=value.unit, status=Status.FAILED, reason=contender.failure.reason))
            continue
        speeds = contender.speeds[value.id]
        found = median_spread(speeds)
        cells.append(
            Cell(
                *(*place, found.median, value.unit, found.low, found.high, len(speeds)),
                reason="" if found.low is not None else f"no interval: {len(speeds)} rounds are too few; it needs 6",
            )
        )
    return cells


def _notes(contenders: list[_Contender], control: list[_Contender]) -> list[str]:
    """Return notes that a reader of the speeds must know."""
    notes = []
    sound = [each for each in contenders if not each.failure]
    for copy in control:
        original = next((each for each in sound if each.name == copy.name), None)
        if original and not copy.failure:
            floor = noise_floor(original.speeds["encode_mb_per_s"], copy.speeds["encode_mb_per_s"])
            notes.append(
                f"noise floor {floor:.1%}: so far {copy.name} differs from itself; smaller differences mean nothing"
            )
    repeated = {each.name: each.loops["encode_mb_per_s"] for each in sound if each.loops["encode_mb_per_s"] > 1}
    if repeated:
        times = ", ".join(f"{name} {loops}" for name, loops in repeated.items())
        notes.append(
            f"the text is short for these, each slice was encoded several times in a row, which favours engines that "
            f"cache: {times}"
        )
    spreads = {each.name: median_spread(each.speeds["encode_mb_per_s"]).relative for each in sound}
    shaky = [name for name, relative in spreads.items() if relative > _NOISY]
    if shaky:
        worst = max(shaky, key=lambda name: spreads[name])
        notes.append(
            f"rounds differ by more than {_NOISY:.0%} of the median for {len(shaky)} of {len(sound)} tokenizers (most "
            f"for {worst}, {spreads[worst]:.0%}): look at the intervals"
        )
    same: dict[str, list[str]] = {}
    for each in sound:
        same.setdefault(each.digest.hexdigest(), []).append(each.name)
    notes.extend(
        f"same ids, so speeds compare directly: {', '.join(names)}" for names in same.values() if len(names) > 1
    )
    return notes


class TimedSlice(NamedTuple):
    """Documents that are timed together.

    Attributes:
        texts: the documents.
        n_bytes: the size of the documents in UTF-8 bytes.
    """

    texts: list[str]
    n_bytes: int


def slices_of(text: TimedText, count: int, max_bytes: int, seed: int) -> list[TimedSlice]:
    """Return ``count`` slices of about equal size, in which documents of all groups are mixed.

    If the corpus is larger than ``max_bytes``, documents are chosen by hash. If there are fewer pieces than slices,
    fewer slices are returned.
    """
    share = min(1.0, max_bytes / max(1, text.n_bytes))
    longest = max(1, min(MAX_PIECE, text.n_bytes // (_PIECES_PER_SLICE * count)))
    pieces = [piece for piece in _pieces(text.documents, longest) if zlib.crc32(piece.encode()) < share * 2**32]
    random.Random(seed).shuffle(pieces)  # noqa: S311 - an order, not a secret
    bins: list[list[str]] = [[] for _ in range(min(count, len(pieces)))]
    sizes = [0] * len(bins)
    for piece in pieces:
        smallest = sizes.index(min(sizes))
        bins[smallest].append(piece)
        sizes[smallest] += len(piece.encode())
    return [TimedSlice(texts, size) for texts, size in zip(bins, sizes, strict=True)]


def _pieces(documents: Iterable[str], longest: int) -> Iterator[str]:
    for document in documents:
        start = 0
        while len(document) - start > longest:
            end = document.rfind("\n", start, start + longest) + 1 or start + longest
            yield document[start:end]
            start = end
        if document[start:]:
            yield document[start:]
