"""The jobs of an evaluation: encode a shard and measure it, find the document that ended a process."""

from __future__ import annotations

import hashlib
import pickle
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.recipe import CorpusRecipe
from tokbench.corpus.shards import Shard, ShardMark
from tokbench.engine.workers.pool import WorkerDied
from tokbench.engine.workers.worker import WorkerContext
from tokbench.foundation.errors import InputError
from tokbench.foundation.failures import Failure, attempt, doing
from tokbench.measuring.encoded_shard import DECODING, ENCODING, EncodedShard, LoadedTokenizer
from tokbench.measuring.job import Job, Unread
from tokbench.tokenizers.batch import check_encoded, count_batch, decode_batch, encode_batch, vocab_size_of
from tokbench.tokenizers.contract import CountsAlone, Encoded, Tokenizer
from tokbench.tokenizers.options import Options


class WorkerSeconds(NamedTuple):
    """CPU time in workers, in seconds: of encoding, of decoding, and of the metrics."""

    encode: float = 0.0
    decode: float = 0.0
    metrics: float = 0.0

    def plus(self, other: WorkerSeconds) -> WorkerSeconds:
        return WorkerSeconds(*map(sum, zip(self, other, strict=True)))


class ShardStates(NamedTuple):
    """The states of a shard, encoded by one tokenizer."""

    name: str
    states: dict[str, bytes | Failure]
    """By metric family the pickled state, or the failure."""
    placed: frozenset[str] = frozenset()
    """The families whose state depends on the place of the shard."""
    seconds: WorkerSeconds = WorkerSeconds()


def digests(encoded: Encoded) -> NDArray[np.uint64]:
    """uint64[d, 2], eight bytes of a hash of the ids of each document, and their number.

    >>> one = Encoded(np.array([1, 2, 1, 2, 3], dtype=np.uint32), np.array([0, 2, 4, 5]))
    >>> a, b, c = digests(one).tolist()
    >>> a == b, a == c, c[1]
    (True, False, 1)
    """
    data = np.ascontiguousarray(encoded.ids, dtype="<u4").tobytes()
    ends = (np.asarray(encoded.offsets) * 4).tolist()
    hashes = b"".join(hashlib.blake2b(data[start:end], digest_size=8).digest() for start, end in pairwise(ends))
    return np.column_stack([np.frombuffer(hashes, dtype="<u8").astype(np.uint64), np.diff(encoded.offsets)]).astype(
        np.uint64
    )


def counted(counts: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return what :func:`digests` does, without ids: zeros, and the number of tokens."""
    return np.column_stack([np.zeros_like(counts), counts]).astype(np.uint64)


def can_be_searched(died: WorkerDied) -> bool:
    """Tell whether a process ended in the work on a document, so that it can be found."""
    return died.heartbeat.verb in {ENCODING, DECODING}


def for_family(family: str) -> str:
    """Return the end of the heartbeat's place for a family."""
    return f", for {family}"


@dataclass(frozen=True)
class EncodeShard(Job):
    """Encode a shard with several tokenizers and measure it; the answers are a :class:`ShardStates` for each."""

    retry_alone: ClassVar[bool] = False
    shard: Shard
    wanted: dict[str, tuple[str, ...]]
    """The metric families by tokenizer."""
    options: Mapping[str, Options]
    much_text: bool = False
    """Whether the corpus is so large that a tokenizer saves time by preparing for it."""
    recipe: CorpusRecipe | None = None
    """How a worker elsewhere may read the shard itself; ``None`` if it is sent."""
    retry: bool = False
    """Whether it has ended another process before."""

    @property
    def needs_fresh_process(self) -> bool:
        return self.retry

    @property
    def tokenizers(self) -> tuple[str, ...]:
        return tuple(self.wanted)

    def without_text(self) -> ReadAndEncodeShard | None:
        if self.recipe is None:
            return None
        return ReadAndEncodeShard(
            self.recipe, self.shard.mark, self.wanted, self.options, self.much_text, self.needs_fresh_process
        )

    def run(self, context: WorkerContext) -> Iterator[ShardStates]:
        place = _place(self.shard)
        for name, families in self.wanted.items():
            with doing("loading", tokenizer=name, place=""):
                loaded = attempt(lambda name=name: context.loaded(name), "loading")  # type: ignore[misc]
            if isinstance(loaded, Failure):
                yield ShardStates(name, dict.fromkeys(families, loaded))
                continue
            with doing(ENCODING, tokenizer=name, place=place):
                yield self._measure(context, loaded, families)

    def _measure(self, context: WorkerContext, loaded: LoadedTokenizer, families: tuple[str, ...]) -> ShardStates:
        start = time.process_time()
        if self.much_text:
            attempt(loaded.warm_up)  # what fails here fails again where it is encoded, and is reported there
        with doing(ENCODING):  # its end is a look at what the tokenizer did to the process
            arrays = _encode(loaded.tokenizer, self.shard)
        encoded_at = time.process_time()
        if isinstance(arrays, Failure):
            return ShardStates(loaded.name, dict.fromkeys(families, arrays))
        encoded = EncodedShard(loaded, self.shard, arrays)
        states, placed = {}, set()
        for family in families:
            encoded.undecodable = ""
            with doing("measuring", place=_place(self.shard) + for_family(family)):
                state, on_place = self.shard.watched(
                    lambda family=family: attempt(lambda: self._map(context, family, encoded))  # type: ignore[misc]
                )
            if on_place:
                placed.add(family)
            if isinstance(state, Failure) and not state.no_ids:
                document = f", {encoded.undecodable}" if encoded.undecodable else ""
                where = f"{family} of {_place(self.shard)}{document}"
                state = state._replace(reason=f"{state.reason} ({where})")
            states[family] = state
        decode = encoded.decode_seconds
        seconds = WorkerSeconds(encoded_at - start, decode, time.process_time() - encoded_at - decode)
        return ShardStates(loaded.name, states, frozenset(placed), seconds)

    def _map(self, context: WorkerContext, family: str, encoded: EncodedShard) -> bytes:
        if family in self.options:
            state = context.metric(family, self.options[family]).map(encoded)
        else:  # the comparison of ids, which no metric makes
            state = digests(encoded.arrays) if encoded.counts is None else counted(encoded.counts)
        return pickle.dumps(state, pickle.HIGHEST_PROTOCOL)


@dataclass(frozen=True)
class ReadAndEncodeShard(Job):
    """Read a shard where the job runs, and answer as :class:`EncodeShard` does, or one :class:`Unread`."""

    retry_alone: ClassVar[bool] = False
    recipe: CorpusRecipe
    mark: ShardMark
    wanted: dict[str, tuple[str, ...]]
    options: Mapping[str, Options]
    much_text: bool
    needs_fresh_process: bool = False

    @property
    def tokenizers(self) -> tuple[str, ...]:
        return tuple(self.wanted)

    def run(self, context: WorkerContext) -> Iterator[ShardStates | Unread]:
        shard = attempt(lambda: self._read(context))
        if isinstance(shard, Failure):
            context.kept.pop(self._opened, None)
            yield Unread(shard.reason)
            return
        yield from EncodeShard(shard, self.wanted, self.options, self.much_text).run(context)

    @property
    def _opened(self) -> str:
        return f"corpus {self.mark.corpus}"

    def _read(self, context: WorkerContext) -> Shard:
        """Return the shard, or raise InputError; reading goes on behind the last shard of the corpus."""
        shards = f"shards of corpus {self.mark.corpus}"
        if shards in context.kept and (shard := self._next_shard(context, shards)):
            return shard
        if self._opened not in context.kept:
            context.kept[self._opened] = self.recipe.open(context.registry.corpora.get(self.recipe.source))
        context.kept[shards] = context.kept[self._opened].shards()
        if shard := self._next_shard(context, shards):
            return shard
        raise InputError(f"corpus {self.mark.corpus!r} has no such text here")

    def _next_shard(self, context: WorkerContext, shards: str) -> Shard | None:
        while True:
            with doing("reading", place=shards):  # each shard is a sign of life
                shard: Shard | None = next(context.kept[shards], None)
            if shard is None:
                del context.kept[shards]
                return None
            if shard.key == self.mark.key:
                if shard.mark != self.mark:
                    raise InputError(f"the text of corpus {self.mark.corpus!r} is not that of the run")
                return shard


_DOCUMENT: Final = "document "


def _place(shard: Shard) -> str:
    return f"corpus {shard.corpus}, group {shard.group}"


def _encode(tokenizer: Tokenizer, shard: Shard) -> Encoded | NDArray[np.int64] | Failure:
    """Return the checked ids of a shard, or the counts; a failure names the first document that fails by itself."""

    def encoded(texts: list[str]) -> Encoded | NDArray[np.int64]:
        if isinstance(tokenizer, CountsAlone):
            return count_batch(tokenizer, texts)
        return check_encoded(encode_batch(tokenizer, texts), len(texts), vocab_size_of(tokenizer))

    outcome = attempt(lambda: encoded(shard.texts))
    if not isinstance(outcome, Failure):
        return outcome
    for text, origin in zip(shard.texts, shard.origins, strict=True):
        with doing(ENCODING):
            alone = attempt(lambda text=text: encoded([text]))  # type: ignore[misc]
        if isinstance(alone, Failure):
            where = f"({_place(shard)}, document {origin})"
            return alone._replace(reason=f"encode: {alone.reason.removeprefix('encode: ')} {where}")
    alone_sound = f"({_place(shard)}; each document by itself can be encoded)"
    reason = f"encode_batch: {outcome.reason.removeprefix('encode_batch: ')} {alone_sound}"
    return outcome._replace(reason=reason)


@dataclass(frozen=True)
class FindDocument(Job):
    """Repeat, document by document, what has ended a process: if this one ends, too, its heartbeat names the document.

    The answer, if there is one, is ``True`` if all documents were tried.
    """

    retry_alone: ClassVar[bool] = False
    shard: Shard
    name: str
    died: WorkerDied
    families: tuple[str, ...]
    """The metric families that end."""
    seconds: float
    """When to give up."""

    @property
    def needs_fresh_process(self) -> bool:
        return True

    @property
    def tokenizers(self) -> tuple[str, ...]:
        return (self.name,)

    def run(self, context: WorkerContext) -> Iterator[bool]:
        tokenizer = context.tokenizer(self.name)
        decodes = self.died.heartbeat.verb == DECODING
        start = time.monotonic()
        for text, origin in zip(self.shard.texts, self.shard.origins, strict=True):
            if time.monotonic() - start > self.seconds:
                yield False
                return
            with doing(ENCODING, tokenizer=self.name, place=f"{_place(self.shard)}, {_DOCUMENT}{origin}"):
                encoded = attempt(lambda text=text: encode_batch(tokenizer, [text]))  # type: ignore[misc]
                if decodes and not isinstance(encoded, Failure):
                    with doing(DECODING):
                        attempt(lambda encoded=encoded: decode_batch(tokenizer, encoded))  # type: ignore[misc]
        yield True

    def verdict(self, answer: Any) -> Failure:
        """Return why the tokenizer is measured no more, with the document if a single one was found."""
        if isinstance(answer, WorkerDied):
            return answer.failure if _DOCUMENT in answer.heartbeat.place else self.died.failure
        return self.died.failure
