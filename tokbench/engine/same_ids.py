"""The comparison of tokenizers that are declared the same (``same_as``), id by id, on every document.

Workers send a hash and a number of ids for each document; without ids the numbers are compared. The first document
that differs is encoded again to show the difference.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.shards import Shard
from tokbench.engine.workers.pool import WorkerDied, WorkerPool
from tokbench.foundation.failures import Failure
from tokbench.measuring.job import TokenizerJob
from tokbench.measuring.metric import Role
from tokbench.measuring.sums import Sums
from tokbench.results.blocks import Difference, IdDifference, RawState
from tokbench.tokenizers.batch import count_batch
from tokbench.tokenizers.contract import CountsAlone, HasTokenBytes, Tokenizer

if TYPE_CHECKING:  # workers import this file, and need neither
    from tokbench.measuring.plan import Plan

_BEFORE, _TOKENS = 2, 8
_CHARS_BEFORE, _CHARS = 12, 48


@dataclass
class _Comparison:
    sums: Sums
    first: tuple[int, str, str] | None = None
    """Number, origin and text of the first document that differs."""


class SameIds:
    """Compares as the shards come in."""

    def __init__(self, plan: Plan, names: list[str]) -> None:
        family = plan.family(Role.SAME_IDS)
        self.family = family.name if family else ""
        """Empty if no tokenizer is declared the same as another."""
        self.references = {
            tokenizer.name: tokenizer.same_as
            for tokenizer in plan.tokenizers
            if {tokenizer.name, tokenizer.same_as} <= set(names)
        }
        """The reference of each tokenizer, if both are in the run."""
        self.compared = frozenset(self.references) | frozenset(self.references.values())
        self.by_counts = set[str]()
        """The tokenizers of which numbers of tokens were compared, for want of ids."""
        self._compared_on = {corpus: self._pairs_on(plan.names_on(corpus)) for corpus in plan.measured}
        self.differences: list[Difference] = []
        """For each tokenizer, corpus and group with documents that differ, how many do, and the first."""
        places = [(corpus, group) for corpus in plan.measured for group in plan.groups(corpus)]
        self._order = {place: number for number, place in enumerate(places)}
        self._open: dict[tuple[str, str, int], dict[str, NDArray[np.uint64]]] = {}
        self._comparisons: dict[tuple[str, str, str], _Comparison] = {}

    def _pairs_on(self, names: Collection[str]) -> frozenset[str]:
        pairs = [{one, other} for one, other in self.references.items() if one in names and other in names]
        return frozenset[str]().union(*pairs)

    def compared_on(self, corpus: str) -> frozenset[str]:
        """Return the tokenizers of which digests are wanted on a corpus: both of a pair are measured there."""
        return self._compared_on[corpus]

    def take(self, shard: Shard, name: str, digests: NDArray[np.uint64]) -> None:
        known = self._open.setdefault(shard.key, {})
        known[name] = digests
        for one, other in self.references.items():
            if name in {one, other} and one in known and other in known:
                by_ids = known[one][:, 0].all() and known[other][:, 0].all()
                if not by_ids:
                    self.by_counts.add(one)
                column = 0 if by_ids else 1
                self._compare(shard, one, known[one][:, column] == known[other][:, column])

    def close(self, shard: Shard) -> None:
        self._open.pop(shard.key, None)

    def _compare(self, shard: Shard, name: str, same: NDArray[np.bool_]) -> None:
        sums = Sums.of(shard, same=same.astype(np.int64), documents=np.ones(len(shard), dtype=np.int64))
        first = None
        if not same.all():
            k = int(np.argmin(same))
            first = shard.first + k, shard.origins[k], shard.texts[k]
        key = name, shard.corpus, shard.group
        before = self._comparisons.get(key)
        if before is not None:
            sums = before.sums + sums
            first = min((document for document in (before.first, first) if document), default=None)
        self._comparisons[key] = _Comparison(sums, first)

    def sums(self, name: str, corpus: str, group: str) -> Sums | None:
        """Return the documents of a group that were compared, and those that are the same."""
        comparison = self._comparisons.get((name, corpus, group))
        return comparison.sums if comparison else None

    def states(self) -> Iterator[RawState]:
        for name, corpus, group in sorted(self._comparisons, key=lambda key: (key[0], self._order[key[1:]])):
            raw = self._comparisons[name, corpus, group].sums.raw()
            yield RawState(tokenizer=name, corpus=corpus, group=group, family=self.family, state=raw)

    def differing(self, name: str) -> tuple[int, int]:
        sums = [comparison.sums for key, comparison in self._comparisons.items() if key[0] == name]
        same = sum(int(part.columns["same"].sum()) for part in sums)
        documents = sum(part.documents for part in sums)
        return documents - same, documents

    def finish(self, pool: WorkerPool) -> None:
        """Describe each difference."""
        for key in sorted(self._comparisons, key=lambda key: (key[0], self._order[key[1:]])):
            comparison = self._comparisons[key]
            if comparison.first is None:
                continue
            name, corpus, group = key
            _, origin, text = comparison.first
            names = name, self.references[name]
            answer = pool.ask(TokenizerJob(names, "encoding", "a document again", partial(_segment, text)))
            shown = answer.failure if isinstance(answer, WorkerDied) else answer
            difference = Difference(
                tokenizer=name,
                same_as=self.references[name],
                corpus=corpus,
                group=group,
                compared=comparison.sums.documents,
                documents=comparison.sums.documents - int(comparison.sums.columns["same"].sum()),
                origin=origin,
                first=None if isinstance(shown, Failure) else shown,
                reason=shown.reason if isinstance(shown, Failure) else "",
            )
            self.differences.append(difference)


def _segment(text: str, one: Tokenizer, other: Tokenizer) -> IdDifference | Failure:
    """Show how two tokenizers cut a text where they first differ, with the tokens from two before it on."""
    if isinstance(one, CountsAlone) or isinstance(other, CountsAlone):
        mine, theirs = (int(count_batch(tokenizer, [text])[0]) for tokenizer in (one, other))
        return Failure(f"it counts {mine:,} tokens instead of {theirs:,}; it has no ids to compare")
    got, expected = list(map(int, one.encode(text))), list(map(int, other.encode(text)))
    shared = _shared(got, expected)
    if shared == len(got) == len(expected):
        return Failure("encoded alone, the document has equal ids")
    position = _shared(text, other.decode(expected[:shared]))
    start = max(0, position - _CHARS_BEFORE)
    tokens = slice(max(0, shared - _BEFORE), shared + _TOKENS)
    return IdDifference(
        position=position,
        text=text[start : position + _CHARS],
        expected=[(token, _text(other, token)) for token in expected[tokens]],
        got=[(token, _text(one, token)) for token in got[tokens]],
    )


def _shared(one: Sequence[Any], other: Sequence[Any]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((k for k, (a, b) in pairs if a != b), min(len(one), len(other)))


def _text(tokenizer: Tokenizer, token: int) -> str:
    if isinstance(tokenizer, HasTokenBytes):
        return tokenizer.token_bytes(token).decode("utf-8", "backslashreplace")
    return str(tokenizer.decode([token]))
