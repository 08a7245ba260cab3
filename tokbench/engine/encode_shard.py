"""The job of an evaluation: encode a shard and measure it."""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.shards import Shard
from tokbench.engine.workers.pool import WorkerDied
from tokbench.engine.workers.worker import WorkerContext
from tokbench.foundation.failures import Failure, attempt, doing
from tokbench.measuring.encoded_shard import DECODING, ENCODING, EncodedShard, LoadedTokenizer
from tokbench.measuring.job import Job
from tokbench.tokenizers.batch import check_encoded, count_batch, decode_batch, encode_batch, vocab_size_of
from tokbench.tokenizers.contract import Encoded, Tokenizer, only_counts
from tokbench.tokenizers.options import Options


class ShardStates(NamedTuple):
    """The states of a shard, encoded by one tokenizer."""

    name: str
    states: dict[str, bytes | Failure]
    """By metric family the pickled state, or the failure."""
    seconds: float = 0.0
    """CPU time."""


def in_document(died: WorkerDied) -> bool:
    """Tell whether a process ended in the work on a single document."""
    return _DOCUMENT in died.heartbeat.place


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
    plugins: tuple[str, ...] = ()
    retry_of: WorkerDied | None = None
    """The death of the process that has done it before: then each document is tried by itself first."""

    @property
    def needs_fresh_process(self) -> bool:
        return self.retry_of is not None

    @property
    def tokenizers(self) -> tuple[str, ...]:
        return tuple(self.wanted)

    def run(self, context: WorkerContext) -> Iterator[ShardStates]:
        place = _place(self.shard)
        for name, families in self.wanted.items():
            with doing("loading", tokenizer=name, place=""):
                loaded = attempt(lambda name=name: context.loaded(name), "loading")  # type: ignore[misc]
            if isinstance(loaded, Failure):
                yield ShardStates(name, dict.fromkeys(families, loaded))
                continue
            if self.retry_of:
                self._try_documents(loaded, self.retry_of.heartbeat.verb)
            with doing(ENCODING, tokenizer=name, place=place):
                yield self._measure(context, loaded, families)

    def _try_documents(self, loaded: LoadedTokenizer, verb: str) -> None:
        """Do what ended a process document by document: if this one ends, too, its heartbeat names the document."""
        tokenizer = loaded.tokenizer
        documents = zip(self.shard.texts, self.shard.origins, strict=True)
        for text, origin in documents if verb in {ENCODING, DECODING} else ():
            with doing(ENCODING, tokenizer=loaded.name, place=f"{_place(self.shard)}, {_DOCUMENT}{origin}"):
                encoded = attempt(lambda text=text: encode_batch(tokenizer, [text]))  # type: ignore[misc]
                if verb == DECODING and not isinstance(encoded, Failure):
                    with doing(DECODING):
                        attempt(lambda encoded=encoded: decode_batch(tokenizer, encoded))  # type: ignore[misc]

    def _measure(self, context: WorkerContext, loaded: LoadedTokenizer, families: tuple[str, ...]) -> ShardStates:
        start = time.process_time()
        if self.much_text:
            attempt(loaded.warm_up)  # what fails here fails again where it is encoded, and is reported there
        with doing(ENCODING):  # a heartbeat, from which its time is limited
            arrays = _other_split(loaded.tokenizer, self.shard) or _encode(loaded.tokenizer, self.shard)
        if isinstance(arrays, Failure):
            return ShardStates(loaded.name, dict.fromkeys(families, arrays))
        encoded = EncodedShard(loaded, self.shard, arrays)
        states = {}
        for family in families:
            encoded.undecodable = ""
            with doing("measuring", place=_place(self.shard) + for_family(family)):
                state = attempt(lambda family=family: self._map(context, family, encoded))  # type: ignore[misc]
            if isinstance(state, Failure) and not state.no_ids:
                document = f", {encoded.undecodable}" if encoded.undecodable else ""
                where = f"{family} of {_place(self.shard)}{document}"
                state = state._replace(reason=f"{state.reason} ({where})")
            states[family] = state
        return ShardStates(loaded.name, states, time.process_time() - start)

    def _map(self, context: WorkerContext, family: str, encoded: EncodedShard) -> bytes:
        state = context.metric(family, self.options[family]).map(encoded)
        return pickle.dumps(state, pickle.HIGHEST_PROTOCOL)


_DOCUMENT: Final = "document "


def _place(shard: Shard) -> str:
    return f"corpus {shard.corpus}, group {shard.group}"


def _other_split(tokenizer: Tokenizer, shard: Shard) -> Failure | None:
    """Return why counted chunks say nothing of a tokenizer: it does not split text into them."""
    if not shard.split:
        return None
    from tokbench.tokenizers.split import why_not_by_chunks

    why = why_not_by_chunks(tokenizer, shard.split, shard.texts)
    return Failure(why, no_ids=True) if why else None


def _encode(tokenizer: Tokenizer, shard: Shard) -> Encoded | NDArray[np.int64] | Failure:
    """Return the checked ids of a shard, or the counts; a failure names the first document that fails by itself."""

    def encoded(texts: list[str]) -> Encoded | NDArray[np.int64]:
        if only_counts(tokenizer):
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
