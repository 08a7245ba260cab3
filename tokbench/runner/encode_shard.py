"""What workers do in an evaluation: encode a shard, let the metrics look, find the document that did harm."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from tokbench.batch import check_encoded, decode_batch, encode_batch
from tokbench.contracts.options import Options
from tokbench.contracts.tokenizer import Encoded, Tokenizer
from tokbench.corpus.shards import Shard
from tokbench.failures import Failure, attempt, doing
from tokbench.metrics.encoded_shard import DECODING, Subject, View
from tokbench.runner import same_ids
from tokbench.runner.workers.pool import Death
from tokbench.runner.workers.worker import Desk, Job

__all__ = ["ENCODING", "Look", "Looked", "Search", "for_family"]

ENCODING: Final = "encoding"


def for_family(family: str) -> str:
    """How the place of a note ends while a family is at work."""
    return f", for {family}"


class Looked(NamedTuple):
    """One tokenizer has looked at a shard.

    Attributes:
        name: the tokenizer.
        states: by family the pickled state, or why there is none.
    """

    name: str
    states: dict[str, bytes | Failure]


@dataclass(frozen=True)
class Look(Job):
    """Encode a shard with several tokenizers and let the metrics look; the answers are a :class:`Looked` each.

    Attributes:
        shard: the documents.
        wanted: by tokenizer, the families.
        options: of the families.
    """

    shard: Shard
    wanted: dict[str, tuple[str, ...]]
    options: Mapping[str, Options]

    def run(self, desk: Desk) -> Iterator[Looked]:
        """See :class:`tokbench.runner.workers.worker.Job`."""
        place = _place(self.shard)
        for name, families in self.wanted.items():
            with doing("loading", tokenizer=name, place=""):
                subject = attempt(lambda name=name: desk.subject(name), "loading")  # type: ignore[misc]
            if isinstance(subject, Failure):
                yield Looked(name, dict.fromkeys(families, subject))
                continue
            with doing(ENCODING, tokenizer=name, place=place):
                yield self._look(desk, subject, families)

    def _look(self, desk: Desk, subject: Subject, families: tuple[str, ...]) -> Looked:
        encoded = _encode(subject.tokenizer, self.shard)
        if isinstance(encoded, Failure):
            return Looked(subject.name, dict.fromkeys(families, encoded))
        view = View(subject, self.shard, encoded)
        states = {}
        for family in families:
            with doing("measuring", place=_place(self.shard) + for_family(family)):
                state = attempt(lambda family=family: self._map(desk, family, view))  # type: ignore[misc]
            if isinstance(state, Failure):
                reason = f"{state.reason} ({family} of corpus {self.shard.corpus}, group {self.shard.group})"
                state = Failure(reason)
            states[family] = state
        return Looked(subject.name, states)

    def _map(self, desk: Desk, family: str, view: View) -> bytes:
        same = family == same_ids.SPEC.name
        state = same_ids.digests(view.encoded) if same else desk.metric(family, self.options[family]).map(view)
        return pickle.dumps(state, pickle.HIGHEST_PROTOCOL)


def _place(shard: Shard) -> str:
    return f"corpus {shard.corpus}, group {shard.group}"


def _encode(tokenizer: Tokenizer, shard: Shard) -> Encoded | Failure:
    """The checked ids of a shard; a failure names the first document that fails by itself."""

    def encoded(texts: list[str]) -> Encoded:
        answer = encode_batch(tokenizer, texts)
        check_encoded(answer, len(texts), tokenizer.vocab_size)
        return answer

    outcome = attempt(lambda: encoded(shard.texts))
    if not isinstance(outcome, Failure):
        return outcome
    for text, origin in zip(shard.texts, shard.origins, strict=True):
        alone = attempt(lambda text=text: encoded([text]))  # type: ignore[misc]
        if isinstance(alone, Failure):
            return Failure(f"encode: {alone.reason} ({_place(shard)}, document {origin})")
    return Failure(f"encode_batch: {outcome.reason} ({_place(shard)}; each document by itself can be encoded)")


@dataclass(frozen=True)
class Search(Job):
    """Do again, document by document, what has ended a process: the next one to die tells which document it was.

    The answer, if there is one, is ``None``.

    Attributes:
        shard, name: with which tokenizer it happened where.
        death: what happened.
        families: those that are measured no more.
    """

    shard: Shard
    name: str
    death: Death
    families: tuple[str, ...]

    def run(self, desk: Desk) -> Iterator[None]:
        """See :class:`tokbench.runner.workers.worker.Job`."""
        tokenizer = desk.tokenizer(self.name)
        for text, origin in zip(self.shard.texts, self.shard.origins, strict=True):
            with doing(ENCODING, tokenizer=self.name, place=f"{_place(self.shard)}, document {origin}"):
                encoded = attempt(lambda text=text: encode_batch(tokenizer, [text]))  # type: ignore[misc]
                if self.death.note.verb == DECODING and not isinstance(encoded, Failure):
                    with doing(DECODING):
                        attempt(lambda encoded=encoded: decode_batch(tokenizer, encoded))  # type: ignore[misc]
        yield None
