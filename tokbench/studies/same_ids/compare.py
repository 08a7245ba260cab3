"""Compares tokenizers that are declared the same, and shows the first document of each group that differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial, reduce
from operator import add
from typing import Any, Final, NamedTuple

import numpy as np

from tokbench.foundation.failures import Failure
from tokbench.measuring.job import TokenizerJob
from tokbench.measuring.metric import Measured, NotApplicable, Role
from tokbench.measuring.plan import Plan, RunTokenizer
from tokbench.measuring.study import AskedJobs, Outcome, StudyContext, cell_of, without_interval
from tokbench.measuring.sums import Sums
from tokbench.results.cells import WHOLE, Cell
from tokbench.studies.same_ids.block import IdDifference, TokenizerDifference
from tokbench.studies.same_ids.metric import SAME_COUNTS, SAME_IDS, HashedGroup
from tokbench.tokenizers.batch import count_batch
from tokbench.tokenizers.contract import HasTokenBytes, Tokenizer, only_counts

_BEFORE, _TOKENS = 2, 8
_CHARS_BEFORE, _CHARS = 12, 48

_STEP: Final = "comparing ids"

Place = tuple[str, str, str]
"""Tokenizer, corpus, group."""


class Compared(NamedTuple):
    """The documents of a group that were compared."""

    sums: Sums
    first: int
    """The number of the first that differs; -1 if none does."""

    @property
    def differing(self) -> int:
        return self.sums.documents - int(self.sums.columns["same"].sum())


def compare(context: StudyContext) -> Outcome:
    """Return a share for each tokenizer, corpus and group, and the first differences."""
    plan, ready = context.plan, {tokenizer.name for tokenizer in context.tokenizers if tokenizer.ready}
    references = {each.name: each.info.same_as for each in plan.tokenizers if {each.name, each.info.same_as} <= ready}
    compared: dict[Place, Compared] = {}
    for name, other in sorted(references.items()):
        for corpus in plan.measured:
            for group in plan.groups(corpus) if {name, other} <= set(plan.names_on(corpus)) else ():
                if found := _compare(context, (name, other), corpus, group):
                    compared[name, corpus, group] = found
    seen = {(cell.tokenizer, cell.corpus, cell.group): cell.in_sample for cell in context.cells}
    cells = [
        cell
        for tokenizer in context.tokenizers
        for corpus in _corpora(plan, tokenizer)
        for cell in _cells(plan, tokenizer, corpus, _values(plan, tokenizer, corpus, references, compared), seen)
    ]
    return Outcome(
        block=list(_differences(context, references, compared)),
        cells=cells,
        not_ranked={name: reason for name in references if (reason := _not_ranked(name, context.tokenizers, compared))},
    )


def _compare(context: StudyContext, names: tuple[str, str], corpus: str, group: str) -> Compared | None:
    """Compare two tokenizers on a group; ``None`` if a document of it was not encoded."""
    mine, theirs = (context.state(Role.ID_HASHES, name, corpus, group) for name in names)
    return None if isinstance(mine, Failure) or isinstance(theirs, Failure) else compare_group(mine, theirs)


def compare_group(mine: HashedGroup, theirs: HashedGroup) -> Compared:
    """Compare the documents of a group, shard by shard."""
    sums, first = list[Sums](), list[int]()
    for start, shard in mine.items():
        same = shard.same(theirs[start])
        times = np.ones(len(same), dtype=np.int64) if shard.times is None else shard.times
        sums.append(Sums.by_key(shard.unit_keys, same=same * times, documents=times))
        first += [] if same.all() else [start + int(np.argmin(same))]
    return Compared(reduce(add, sums), min(first, default=-1))


def _not_ranked(name: str, tokenizers: Sequence[RunTokenizer], compared: Mapping[Place, Compared]) -> str:
    """Return why the speed of a tokenizer is not ranked; an empty string if it is."""
    own = [pair for (tokenizer, *_), pair in compared.items() if tokenizer == name]
    differing, documents = sum(pair.differing for pair in own), sum(pair.sums.documents for pair in own)
    if not differing:
        return ""
    by_name = {tokenizer.name: tokenizer for tokenizer in tokenizers}
    other = by_name[name].info.same_as
    what = "counts" if by_name[name].info.only_counts or by_name[other].info.only_counts else "ids"
    return f"not ranked: its {what} differ from {other}'s in {differing:,} of {documents:,} documents"


def _corpora(plan: Plan, tokenizer: RunTokenizer) -> Iterator[str]:
    """Yield the corpora on which anything is compared, unless the tokenizer's own reference is not measured there."""
    for corpus in plan.measured:
        names = plan.names_on(corpus)
        others = {each.info.same_as for each in plan.tokenizers if each.info.same_as and each.name in names}
        lacking = tokenizer.info.same_as and tokenizer.info.same_as not in names
        if tokenizer.name in names and not lacking and not others.isdisjoint(names):
            yield corpus


def _values(
    plan: Plan,
    tokenizer: RunTokenizer,
    corpus: str,
    references: Mapping[str, str],
    compared: Mapping[Place, Compared],
) -> dict[str, Measured | NotApplicable]:
    """Return the share of each group, and of the whole corpus."""
    groups, other = [*plan.groups(corpus)], tokenizer.info.same_as
    if tokenizer.name not in references:
        absent = NotApplicable(f"{other} was not measured" if other else "it has no 'same_as'")
        return dict.fromkeys([*groups, WHOLE], absent)
    values: dict[str, Measured | NotApplicable] = {}
    for place in [*groups, WHOLE]:
        parts = [compared.get((tokenizer.name, corpus, group)) for group in (groups if place == WHOLE else [place])]
        sums = [part.sums for part in parts if part]
        unknown = NotApplicable(f"some documents have no ids of {other} or of the tokenizer itself")
        values[place] = reduce(add, sums).share("same", "documents") if len(sums) == len(parts) else unknown
    return values


def _cells(
    plan: Plan,
    tokenizer: RunTokenizer,
    corpus: str,
    values: Mapping[str, Measured | NotApplicable],
    seen: Mapping[Place, float | None],
) -> Iterator[Cell]:
    metric = SAME_COUNTS if tokenizer.info.only_counts else SAME_IDS
    for group, value in values.items():
        in_sample = seen.get((tokenizer.name, corpus, group))
        cell = cell_of(tokenizer, (corpus, group), metric, {metric.id: value}, in_sample)
        yield without_interval(cell) if plan.design(corpus).designed else cell


def _differences(
    context: StudyContext, references: Mapping[str, str], compared: Mapping[Place, Compared]
) -> Iterator[TokenizerDifference]:
    differing = {place: found for place, found in compared.items() if found.first >= 0}
    documents = _documents(context.plan, {(*place[1:], found.first) for place, found in differing.items()})
    jobs = {}
    for (name, corpus, group), found in differing.items():
        _, text = documents[corpus, group, found.first]
        step = partial(_segment, text)
        jobs[name, corpus, group] = TokenizerJob((name, references[name]), "encoding", "a document again", step)
    answers = {id(job): value for job, value, _ in context.ask(AskedJobs([*jobs.values()], _STEP, keep_asking=True))}
    for place, job in jobs.items():
        name, corpus, group = place
        found, shown = differing[place], answers[id(job)]
        yield TokenizerDifference(
            tokenizer=name,
            same_as=references[name],
            corpus=corpus,
            group=group,
            compared=found.sums.documents,
            documents=found.differing,
            origin=documents[corpus, group, found.first][0],
            first=None if isinstance(shown, Failure) else shown,
            reason=shown.reason if isinstance(shown, Failure) else "",
        )


def _documents(plan: Plan, wanted: set[tuple[str, str, int]]) -> dict[tuple[str, str, int], tuple[str, str]]:
    """Return origin and text of documents, by corpus, group and number in it."""
    found = {}
    for corpus in {corpus for corpus, *_ in wanted}:
        for shard in plan.corpora[corpus].shards():
            for number in range(shard.first, shard.first + len(shard)):
                if (corpus, shard.group, number) in wanted:
                    k = number - shard.first
                    found[corpus, shard.group, number] = shard.origins[k], shard.texts[k]
    return found


def _segment(text: str, one: Tokenizer, other: Tokenizer) -> IdDifference | Failure:
    """Show how two tokenizers cut a text where they first differ, with the tokens from two before it on."""
    if only_counts(one) or only_counts(other):
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
