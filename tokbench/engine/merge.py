"""Runs over disjoint parts of a corpus -> one run over all of it: states are added, and every cell is made anew."""

from __future__ import annotations

import hashlib
import json
from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, Final, NamedTuple

from tokbench.engine.evaluate import Evaluation
from tokbench.engine.finish import finish, pack_states
from tokbench.engine.same_ids import SameIds
from tokbench.foundation.errors import InputError, Problem
from tokbench.foundation.failures import Failure, attempt
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.metric import RestoresStates, Role
from tokbench.measuring.scope import CorpusDesign, Scope
from tokbench.registry.plugins import Registry, load_registry
from tokbench.results.blocks import CorpusInfo, Difference, RawState, TokenizerInfo
from tokbench.results.cells import FAILED, OWN_TEXTS, Status, TokenizerState
from tokbench.results.model import NamedRun, Results
from tokbench.results.reporter import ReporterSpec
from tokbench.results.states import PackedStates, RawStates
from tokbench.results.study_blocks import StudyBlocks
from tokbench.tokenizers.facts import TokenizerFacts
from tokbench.tokenizers.options import Options

_IDENTITY: Final = (
    *("backend", "options", "vocab_size", "sha256", "artefact_sha256", "same_as", "corpora"),
    *("engine", "libraries", "distribution"),
)
"""The facts that two tokenizers of one name must have in common."""

_VERSIONS: Final = ("engine", "libraries", "distribution")
"""The facts that only differ with the version of a package."""


class Merged(NamedTuple):
    """The results of a merge, and the report formats that the first run asks for."""

    results: Results
    reporters: list[ReporterSpec]


def merge_runs(parts: Sequence[NamedRun], *, other_versions: bool = False) -> Merged:
    """Put runs over disjoint parts of a corpus together; the result is that of one run over all of it.

    Args:
        parts: at least two runs with the same tokenizers and metrics.
        other_versions: accept runs of different versions of tokbench, backends and libraries.

    Raises:
        InputError: the runs cannot be merged; the message names every reason.
        ResultsError: the raw states of a run are missing or damaged.
    """
    if len(parts) < 2:  # noqa: PLR2004 - one run is merged already
        raise InputError("give two runs or more to merge")
    problems = [*_problems(parts, other_versions=other_versions)]
    if problems:
        raise InputError(list(dict.fromkeys(problems)))
    registry = load_registry()
    return _Merger(parts, registry).merged()


def _problems(parts: Sequence[NamedRun], *, other_versions: bool) -> Iterator[Problem]:
    """Yield the reasons why runs cannot be merged."""
    first = parts[0]
    for part in parts:
        if not part.results.families:
            message = "does not keep what a merge needs: it was written by an older tokbench; run it again"
            yield Problem(part.name, message)
    for part in parts[1:]:
        yield from _other_environment(first, part, other_versions=other_versions)
        yield from _other_tokenizers(first, part, other_versions=other_versions)
        yield from _other_metrics(first, part, other_versions=other_versions)
    for one, other in combinations(parts, 2):
        yield from _other_corpora(one, other)


def _other_environment(first: NamedRun, part: NamedRun, *, other_versions: bool) -> Iterator[Problem]:
    one, other = first.results.environment, part.results.environment
    if other_versions:
        return
    advice = "run one of them again, or say that it does not matter with --other-versions"
    if one.tokbench != other.tokbench:
        yield Problem(part.name, f"is of tokbench {other.tokbench}, and {first.name} of {one.tokbench}; {advice}")
    elif one.segmentation != other.segmentation:
        differing = [name for name, table in one.segmentation.items() if other.segmentation.get(name) != table]
        what = ", ".join(differing) or "a way to cut words"
        yield Problem(part.name, f"cuts text by other tables than {first.name}: {what}; {advice}")


def _other_tokenizers(first: NamedRun, part: NamedRun, *, other_versions: bool) -> Iterator[Problem]:
    one, other = first.results.tokenizers, part.results.tokenizers
    for name in [*one, *(name for name in other if name not in one)]:
        if name not in one or name not in other:
            has, lacks = (first, part) if name in one else (part, first)
            yield Problem(lacks.name, f"has no tokenizer {name!r}, but {has.name} has")
            continue
        for key in _IDENTITY:
            ready = one[name].state == other[name].state == TokenizerState.READY
            skipped = (key in _VERSIONS and other_versions) or (not ready and key not in {"backend", "options"})
            here, there = getattr(other[name], key), getattr(one[name], key)
            if not skipped and here != there:
                yield Problem(part.name, _differing(name, key, here, there, first.name))
                break


def _differing(name: str, key: str, here: object, there: object, first: str) -> str:
    what = "vocabulary" if key == "sha256" else key.replace("_", " ")
    shown = "" if "sha256" in key else f" ({here} and {there})"
    remedy = "; train it on a corpus that is the same in all runs" if "sha256" in key else ""
    return f"tokenizer {name!r} is not that of {first}: another {what}{shown}{remedy}"


def _other_metrics(first: NamedRun, part: NamedRun, *, other_versions: bool) -> Iterator[Problem]:
    one, other = first.results.families, part.results.families
    for name in [*one, *(name for name in other if name not in one)]:
        if name not in one or name not in other:
            has, lacks = (first, part) if name in one else (part, first)
            yield Problem(lacks.name, f"has no metrics {name!r}, but {has.name} has")
        elif one[name].options != other[name].options:
            here, there = (json.dumps(families[name].options) for families in (other, one))
            yield Problem(part.name, f"metrics {name!r} have the options {here}, and in {first.name} {there}")
        elif one[name].distribution != other[name].distribution and not other_versions:
            here, there = other[name].distribution, one[name].distribution
            yield Problem(part.name, f"metrics {name!r} are of {here}, and in {first.name} of {there}")
    for name, metric in first.results.metrics.items():
        if name in part.results.metrics and part.results.metrics[name].corpora != metric.corpora:
            yield Problem(part.name, f"metric {name!r} is measured on other corpora than in {first.name}")


def _other_corpora(one: NamedRun, other: NamedRun) -> Iterator[Problem]:
    for name in one.results.corpora:
        if name not in other.results.corpora:
            continue
        here, there = other.results.corpora[name], one.results.corpora[name]
        if bool(here.groups) != bool(there.groups):
            yield Problem(other.name, f"corpus {name!r} is evaluated there or in {one.name}, but not in both")
        elif not here.groups:
            if here.sha256 != there.sha256:
                yield Problem(other.name, f"corpus {name!r}, which is for training, is another text than in {one.name}")
        elif here.limit is not None or there.limit is not None:
            yield Problem(other.name, f"corpus {name!r} has a limit, here or in {one.name}; run it without --limit")
        elif set(_digests(here)) & set(_digests(there)):
            yield Problem(other.name, f"corpus {name!r} is the same text as in {one.name}; it would count twice")
        elif _design(here) != _design(there):
            which = "parallel, reference, holdout or designed"
            yield Problem(other.name, f"corpus {name!r} has another {which} than in {one.name}")
        else:
            for group in _same_groups(one.results, other.results, name):
                message = f"group {group!r} of corpus {name!r} has the very sums that it has in {one.name}"
                yield Problem(other.name, f"{message}: the same documents would count twice")


def _digests(corpus: CorpusInfo) -> list[str]:
    return corpus.parts or [corpus.sha256]


def _same_groups(one: Results, other: Results, corpus: str) -> list[str]:
    """Return the groups of which all states are equal: their documents are the same, too."""
    groups = [group for group in one.corpora[corpus].groups if group in other.corpora[corpus].groups]
    if not groups:
        return []
    first, second = _states_by_group(one, corpus), _states_by_group(other, corpus)
    return [group for group in groups if first.get(group) and first[group] == second.get(group)]


def _states_by_group(results: Results, corpus: str) -> dict[str, dict[tuple[str, str], Any]]:
    states: dict[str, dict[tuple[str, str], Any]] = {}
    for raw in results.states:
        if raw.corpus == corpus and raw.state:
            states.setdefault(raw.group, {})[raw.tokenizer, raw.family] = raw.state
    return states


@dataclass
class _Place:
    """A share of documents: ``seen`` of ``documents`` were trained on; ``None`` if that is unknown."""

    seen: int | None
    documents: int


class _MergedScope(Scope):
    """The scope of the whole, from what its parts say of themselves."""

    tokenizers: list[_MergedTokenizer]

    def __init__(self, parts: Sequence[NamedRun], registry: Registry) -> None:
        first = parts[0].results
        self._infos: dict[str, list[CorpusInfo]] = {}
        for part in parts:
            for name, info in part.results.corpora.items():
                self._infos.setdefault(name, []).append(info)
        self._groups = {name: _added(info.groups for info in infos) for name, infos in self._infos.items()}
        self.measured = [name for name, groups in self._groups.items() if groups]
        self.tokenizers = [_MergedTokenizer.of(name, parts) for name in first.tokenizers]
        self.metrics = list(_families(first, registry))
        self.bound = {metric.family: tuple(metric.corpora) for metric in first.metrics.values() if metric.corpora}

    def groups(self, corpus: str) -> Mapping[str, int]:
        return self._groups[corpus]

    def design(self, corpus: str) -> CorpusDesign:
        first = self._infos[corpus][0]
        return CorpusDesign(first.parallel, first.reference, first.designed)

    @property
    def corpus_names(self) -> Iterable[str]:
        return self._infos


@dataclass(frozen=True)
class _MergedTokenizer:
    """A tokenizer of the whole: ready if it was in every part."""

    name: str
    backend: str
    same_as: str
    corpora: tuple[str, ...]
    state: TokenizerState = TokenizerState.READY
    facts: TokenizerFacts | None = None
    failure: Failure | None = None

    @property
    def reason(self) -> str:
        """The reason why it is not ready; an empty string if it is."""
        return self.failure.reason if self.failure else ""

    @classmethod
    def of(cls, name: str, parts: Sequence[NamedRun]) -> _MergedTokenizer:
        """Return what the parts say of a tokenizer."""
        infos = [part.results.tokenizers[name] for part in parts]
        first = infos[0]
        about = cls(name, first.backend, first.same_as, tuple(first.corpora))
        away = next((info for info in infos if info.state != TokenizerState.READY), None)
        if away:
            return replace(about, state=away.state, failure=Failure(away.reason))
        notes, lacks = tuple(first.notes), frozenset(first.lacks)
        facts = TokenizerFacts(first.vocab_size or 0, notes, lacks, first.engine, first.returns)
        return replace(about, facts=facts)


def _families(results: Results, registry: Registry) -> Iterator[tuple[MetricFamily, Options]]:
    """Yield the families of a run with their options, that of equal ids among them."""
    for name, info in results.families.items():
        family = registry.metrics.get(name)
        yield family, family.options.model_validate_json(json.dumps(info.options))
    if any(info.same_as for info in results.tokenizers.values()):
        automatic = (family for family in registry.metrics if family.has_role(Role.SAME_IDS))
        yield from ((family, family.options()) for family in list(automatic)[:1])


class _Merger:
    """Adds the states of parts, and makes the results of the whole."""

    def __init__(self, parts: Sequence[NamedRun], registry: Registry) -> None:
        self._parts = parts
        self._registry = registry
        self._first = parts[0].results
        self._scope = _MergedScope(parts, registry)
        self._tokenizers = self._scope.tokenizers
        self._shares: dict[tuple[str, str, str], _Place] = {}
        ready = [tokenizer.name for tokenizer in self._tokenizers if tokenizer.facts]
        metrics = {family.name: family.text(options) for family, options in self._scope.metrics if family.text}
        self._evaluation = Evaluation(self._scope, metrics, SameIds(self._scope, ready))

    def merged(self) -> Merged:
        """Return the results of the whole."""
        before: dict[tuple[str, str], int] = {}
        for part in self._parts:
            self._add_states(part, before)
            self._add_shares(part.results)
            for corpus, info in part.results.corpora.items():
                for group, documents in info.groups.items():
                    before[corpus, group] = before.get((corpus, group), 0) + documents
        finished, states = finish(self._scope, self._tokenizers, self._evaluation, self._seen), PackedStates()
        pack_states(self._scope, self._tokenizers, self._evaluation, states)
        timed = {name for name, metric in self._first.metrics.items() if metric.timed}
        probed = [cell for cell in self._first.cells if cell.corpus == OWN_TEXTS and cell.metric not in timed]
        blocks, unmerged = self._studies()
        modelled = {
            name for name, metric in self._first.metrics.items() if metric.family in self._measured_by(unmerged)
        }
        names = list(dict.fromkeys(part.results.name for part in self._parts))
        results = Results(
            name="+".join(names),
            created=min(part.results.created for part in self._parts),
            config=self._first.config,
            environment=self._first.environment,
            plugins=self._first.plugins,
            corpora={name: self._corpus(name) for name in self._scope.corpus_names},
            tokenizers={tokenizer.name: self._tokenizer(tokenizer) for tokenizer in self._tokenizers},
            metrics={name: metric for name, metric in self._first.metrics.items() if name not in timed | modelled},
            cells=finished.cells + probed,
            losses=finished.losses,
            own_texts=self._first.own_texts,
            differences=list(self._differences()),
            studies=blocks,
            pairs=finished.pairs,
            matrices=finished.matrices,
            notes=self._notes(unmerged, timed=bool(timed)),
            families=self._first.families,
            states=RawStates(states),
            tracebacks=dict(ChainMap(finished.tracebacks, *(part.results.tracebacks for part in self._parts))),
            seconds=round(sum(part.results.seconds for part in self._parts), 3),
            interrupted=any(part.results.interrupted for part in self._parts),
        )
        return Merged(results, list(self._reporters()))

    def _reporters(self) -> Iterator[ReporterSpec]:
        """Yield the report formats of the first run, and those that come with a metric of the merged one."""
        companions = [family for family in self._registry.metrics if family.companion]
        later = {family.companion for family in companions}
        for name in self._first.config.formats:
            if name not in later:
                yield self._registry.reporters.get(name)
        for family, _ in self._scope.metrics:
            if family in companions and not family.comes_with:
                yield self._registry.reporters.get(family.companion)

    # States.

    def _add_states(self, part: NamedRun, before: dict[tuple[str, str], int]) -> None:
        results = part.results
        known = {(raw.tokenizer, raw.corpus, raw.group, raw.family): raw for raw in results.states}
        for corpus, info in results.corpora.items():
            for name in self._scope.names_on(corpus):
                for group, documents in info.groups.items():
                    for family in self._scope.families_on(corpus):
                        key = (name, corpus, group, family.name)
                        raw, earlier = known.get(key), before.get((corpus, group), 0)
                        state = self._restored(family, raw, earlier) if raw else self._lost(results, family, key)
                        self._evaluation.add(key, state, documents)
        for raw in results.states:
            if raw.family == self._evaluation.same_ids.family:
                self._evaluation.same_ids.restore(raw)

    def _restored(self, family: MetricFamily, raw: RawState, before: int) -> Any | Failure:
        """Return a state of a part, or the failure to restore it."""
        metric = self._evaluation.metrics[family.name]
        if not isinstance(metric, RestoresStates):
            return Failure(f"metrics {family.name!r} cannot be merged: they have no 'restore'")
        return attempt(partial(metric.restore, raw.state, before), "restoring a state")

    def _lost(self, results: Results, family: MetricFamily, key: tuple[str, str, str, str]) -> Failure:
        """Return the reason why a part has no state."""
        ids = {metric.id for metric in family.values}
        for cell in results.cells if ids else ():
            place = (cell.tokenizer, cell.corpus, cell.group)
            if place == key[:3] and cell.metric in ids and cell.status in FAILED:
                return Failure(cell.reason, timed_out=cell.status == Status.TIMEOUT)
        return Failure("not measured")

    # Shares of documents that were trained on.

    def _add_shares(self, results: Results) -> None:
        shares = {(c.tokenizer, c.corpus, c.group): c.in_sample for c in results.cells if c.in_sample is not None}
        for corpus, info in results.corpora.items():
            for name in self._scope.names_on(corpus):
                for group, documents in info.groups.items():
                    share = shares.get((name, corpus, group))
                    seen = None if share is None else round(share * documents)
                    known = self._shares.setdefault((name, corpus, group), _Place(0, 0))
                    known.seen = None if seen is None or known.seen is None else known.seen + seen
                    known.documents += documents

    def _seen(self, name: str, corpus: str, groups: Iterable[str]) -> float | None:
        places = [self._shares[name, corpus, group] for group in groups]
        seen = [place.seen for place in places if place.seen is not None]
        return sum(seen) / sum(place.documents for place in places) if len(seen) == len(places) else None

    # Descriptions.

    def _corpus(self, name: str) -> CorpusInfo:
        infos = [part.results.corpora[name] for part in self._parts if name in part.results.corpora]
        first = infos[0]
        if len(infos) == 1 or not first.groups:
            return first
        digests = [digest for info in infos for digest in _digests(info)]
        options = first.options if all(info.options == first.options for info in infos) else {}
        return replace(
            first,
            options=options or {f"part {k}": info.options for k, info in enumerate(infos, 1)},
            sha256="merged:" + hashlib.sha256("\n".join(digests).encode()).hexdigest(),
            parts=digests,
            documents=sum(info.documents or 0 for info in infos),
            bytes=sum(info.bytes or 0 for info in infos),
            evaluated_bytes=sum(info.evaluated_bytes or 0 for info in infos),
            groups=dict(self._scope.groups(name)),
        )

    def _tokenizer(self, tokenizer: _MergedTokenizer) -> TokenizerInfo:
        infos = [part.results.tokenizers[tokenizer.name] for part in self._parts]
        away = next((info for info in infos if info.state != TokenizerState.READY), infos[0])
        return replace(away, notes=list(dict.fromkeys(note for info in infos for note in info.notes)))

    def _differences(self) -> Iterator[Difference]:
        differences: dict[tuple[str, str, str], Difference] = {}
        for part in self._parts:
            for difference in part.results.differences:
                differences.setdefault((difference.tokenizer, difference.corpus, difference.group), difference)
        for (name, corpus, group), first in differences.items():
            sums = self._evaluation.same_ids.sums(name, corpus, group)
            if sums:
                differing = sums.documents - int(sums.columns["same"].sum())
                yield replace(first, compared=sums.documents, documents=differing)

    def _studies(self) -> tuple[StudyBlocks, dict[str, str]]:
        """Return the merged blocks of studies, and by study the reason why its block is not merged."""
        blocks, unmerged = StudyBlocks(), {}
        for name in dict.fromkeys(name for part in self._parts for name in part.results.studies):
            spec = next((spec for spec in self._registry.studies if spec.name == name), None)
            if spec is None or spec.merge is None or spec.block is None:
                unmerged[name] = f"the study {name!r} is not merged: see the reports of the runs"
                continue
            merged = spec.merge(self._parts)
            if isinstance(merged, str):
                unmerged[name] = merged
            elif merged is not None:
                blocks.put(spec.block, merged)
        return blocks, unmerged

    def _measured_by(self, studies: Collection[str]) -> set[str]:
        """Return the metric families that some studies measure."""
        return {family.name for family, _ in self._scope.metrics if family.study in studies}

    def _notes(self, unmerged: Mapping[str, str], *, timed: bool) -> list[str]:
        timed_families = {metric.family for metric in self._first.metrics.values() if metric.timed}
        families = tuple(self._measured_by(unmerged) | timed_families)
        notes = [note for part in self._parts for note in part.results.notes if not note.startswith(families or "\0")]
        named = ", ".join(f"{part.name} ({part.results.created})" for part in self._parts)
        return [
            f"merged from {len(self._parts)} runs: {named}; configuration, machine and times are those of the first",
            *(["speeds are not merged, because each run was timed by itself: see the reports of the runs"] * timed),
            *unmerged.values(),
            *dict.fromkeys(notes),
        ]


def _added(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    """Return the sums of counts by name, in the order of appearance."""
    total: dict[str, int] = {}
    for part in counts:
        for name, count in part.items():
            total[name] = total.get(name, 0) + count
    return total


def _design(info: CorpusInfo) -> tuple[object, ...]:
    return info.parallel, info.reference, info.holdout, info.designed
