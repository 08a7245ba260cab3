"""The job by which a worker loads a tokenizer: it answers with its facts and the digest of its vocabulary.

A worker imports this file before its first work, so it imports neither plan nor configuration.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from tokbench.engine.workers.worker import LoadRecipe, WorkerContext
from tokbench.foundation.errors import LONGEST_MESSAGE, shortened
from tokbench.foundation.failures import Failure, attempt, doing
from tokbench.measuring.job import Job
from tokbench.registry.plugins import Registry
from tokbench.tokenizers import contract
from tokbench.tokenizers.batch import bytes_of, vocab_size_of
from tokbench.tokenizers.contract import HasTokenBytes, Tokenizer, output_of
from tokbench.tokenizers.facts import TokenizerFacts
from tokbench.tokenizers.members import plain_members

READING_VOCABULARY: Final = "reading the vocabulary of"

_LARGEST_VOCABULARY: Final = 1 << 21
"""Larger vocabularies are made by a formula, not by training."""

_MOST_NOTES: Final = 50


def facts_of(tokenizer: Tokenizer, registry: Registry) -> TokenizerFacts:
    """Return the facts of a tokenizer, or raise ContractError for a member that is wrong."""
    size = vocab_size_of(tokenizer)
    members = plain_members(tokenizer, size)
    values = (value for entry in registry.metrics.entries.values() for value in entry.spec.values)
    lacks = frozenset(value.id for value in values if value.needs and not any(_has(tokenizer, n) for n in value.needs))
    notes = tuple(shortened(note, LONGEST_MESSAGE) for note in members.get("notes", ())[:_MOST_NOTES])
    engine = shortened(members.get("encoded_by", ""), LONGEST_MESSAGE)
    has = frozenset(name for name, kind in _CAPABILITIES.items() if _has(tokenizer, kind))
    return TokenizerFacts(size, notes, lacks, engine, output_of(tokenizer), members.get("identity"), has=has)


_CAPABILITIES: Final = {name: kind for name, kind in vars(contract).items() if getattr(kind, "_is_protocol", False)}
"""Those of the contract, by name."""


def _has(tokenizer: Tokenizer, capability: type) -> bool:
    """Tell whether it has the members of a capability, without computing them as ``isinstance`` does in Python 3.11."""
    members = (name for name in dir(capability) if not name.startswith("_"))
    return all(hasattr(type(tokenizer), name) or hasattr(tokenizer, name) for name in members)


def vocabulary_sha256(tokenizer: Tokenizer) -> str:
    """Return a digest of the bytes of every id, each preceded by its length; empty where they are unknown."""
    if not isinstance(tokenizer, HasTokenBytes) or (size := vocab_size_of(tokenizer)) > _LARGEST_VOCABULARY:
        return ""
    tokens = bytes_of(tokenizer, range(size))
    lengths = {length: length.to_bytes(4, "little") for length in set(map(len, tokens))}
    return hashlib.sha256(b"".join(part for token in tokens for part in (lengths[len(token)], token))).hexdigest()


@dataclass(frozen=True)
class LoadTokenizer(Job):
    """Load a tokenizer; the answers are its facts, or the failure, and then the digest of its vocabulary."""

    name: str
    recipe: LoadRecipe

    @property
    def local_only(self) -> bool:
        return True

    @property
    def tokenizers(self) -> tuple[str, ...]:
        return (self.name,)

    def run(self, context: WorkerContext) -> Iterator[TokenizerFacts | Failure | str]:
        with doing("loading", tokenizer=self.name, place=""):
            start = time.perf_counter()
            tokenizer = attempt(lambda: context.load(self.recipe))
            seconds = time.perf_counter() - start
            if isinstance(tokenizer, Failure):
                yield tokenizer.during("loading")
                return
            facts = attempt(lambda: facts_of(tokenizer, context.registry)._replace(load_s=seconds))
            context.keep(self.name, tokenizer)
            yield facts.during("loading") if isinstance(facts, Failure) else facts
        with doing(READING_VOCABULARY, tokenizer=self.name, place=self.name):
            digest = attempt(partial(vocabulary_sha256, tokenizer))
        if not isinstance(digest, Failure):
            yield digest
