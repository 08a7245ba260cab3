"""The job by which a worker loads tokenizers: it answers with their facts and with digests of their vocabularies.

A worker imports this file before its first work, so it imports neither plan nor configuration.
"""

from __future__ import annotations

import hashlib
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import ClassVar, Final, NamedTuple

from tokbench.engine.workers.worker import Recipe, WorkerContext
from tokbench.foundation.errors import LONGEST_MESSAGE, shortened
from tokbench.foundation.failures import Failure, attempt, doing
from tokbench.measuring.job import Job
from tokbench.registry.plugins import Registry
from tokbench.tokenizers.batch import bytes_of, vocab_size_of
from tokbench.tokenizers.contract import HasTokenBytes, Tokenizer, output_of
from tokbench.tokenizers.facts import TokenizerFacts
from tokbench.tokenizers.members import plain_members

READING_VOCABULARY: Final = "reading the vocabulary of"

_LARGEST_VOCABULARY: Final = 1 << 21
"""Larger vocabularies are made by a formula, not by training."""

_HASHED_IDS: Final = 1 << 12
"""Ids whose bytes are hashed at once."""

_LENGTH_BYTES: Final = 4

_MOST_NOTES: Final = 50


def facts_of(tokenizer: Tokenizer, registry: Registry) -> TokenizerFacts:
    """Return the facts of a tokenizer, or raise ContractError for a member that is wrong."""
    size = vocab_size_of(tokenizer)
    members = plain_members(tokenizer, size)
    values = (value for entry in registry.metrics.entries.values() for value in entry.spec.values)
    lacks = frozenset(value.id for value in values if value.needs and not any(_has(tokenizer, n) for n in value.needs))
    notes = tuple(shortened(note, LONGEST_MESSAGE) for note in members.get("notes", ())[:_MOST_NOTES])
    engine = shortened(members.get("encoded_by", ""), LONGEST_MESSAGE)
    return TokenizerFacts(size, notes, lacks, engine, output_of(tokenizer), members.get("identity"))


def _has(tokenizer: Tokenizer, capability: type) -> bool:
    """Tell whether it has the members of a capability, without computing them as ``isinstance`` does in Python 3.11."""
    members = (name for name in dir(capability) if not name.startswith("_"))
    return all(hasattr(type(tokenizer), name) or hasattr(tokenizer, name) for name in members)


def vocabulary_sha256(tokenizer: Tokenizer, know_lengths: Callable[[list[int]], object] = lambda _: None) -> str:
    """Return a digest of the bytes of every id, each preceded by its length; empty where they are unknown.

    ``know_lengths`` is called with the number of bytes of every id, if they are read.
    """
    if not isinstance(tokenizer, HasTokenBytes) or (size := vocab_size_of(tokenizer)) > _LARGEST_VOCABULARY:
        return ""
    sha, known = hashlib.sha256(), list[int]()
    for first in range(0, size, _HASHED_IDS):
        tokens = bytes_of(tokenizer, range(first, min(first + _HASHED_IDS, size)))
        known += map(len, tokens)
        lengths = struct.pack(f"<{len(tokens)}I", *known[first:])
        heads = (lengths[at : at + _LENGTH_BYTES] for at in range(0, len(lengths), _LENGTH_BYTES))
        sha.update(b"".join(chain.from_iterable(zip(heads, tokens, strict=True))))
    know_lengths(known)
    return sha.hexdigest()


class Loaded(NamedTuple):
    """The outcome of loading one tokenizer."""

    name: str
    outcome: TokenizerFacts | Failure
    seconds: float | None


class VocabularyDigest(NamedTuple):
    """The :func:`vocabulary_sha256` of a tokenizer that was loaded."""

    name: str
    sha256: str


@dataclass(frozen=True)
class LoadTokenizers(Job):
    """Load tokenizers, one after the other; each gives a :class:`Loaded` and a :class:`VocabularyDigest`."""

    retry_alone: ClassVar[bool] = False
    recipes: Mapping[str, Recipe]
    retry: bool = False
    """Whether it has ended another process before."""

    @property
    def needs_fresh_process(self) -> bool:
        return self.retry

    @property
    def local_only(self) -> bool:
        return True

    @property
    def tokenizers(self) -> tuple[str, ...]:
        return tuple(self.recipes)

    def run(self, context: WorkerContext) -> Iterator[Loaded | VocabularyDigest]:
        for name, recipe in self.recipes.items():
            with doing("loading", tokenizer=name, place=""):
                start = time.perf_counter()
                tokenizer = attempt(lambda recipe=recipe: context.load(recipe))  # type: ignore[misc]
                seconds = time.perf_counter() - start
                if isinstance(tokenizer, Failure):
                    yield Loaded(name, tokenizer.during("loading"), seconds)
                    continue
                facts = attempt(lambda tokenizer=tokenizer: facts_of(tokenizer, context.registry))  # type: ignore[misc]
                loaded = context.keep(name, tokenizer)
                yield Loaded(name, facts.during("loading") if isinstance(facts, Failure) else facts, seconds)
            with doing(READING_VOCABULARY, tokenizer=name, place=name):
                digest = attempt(partial(vocabulary_sha256, tokenizer, loaded.know_lengths))
            if not isinstance(digest, Failure):
                yield VocabularyDigest(name, digest)
