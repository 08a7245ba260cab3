"""``study: vocabulary``: from counts of ids to a size for a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal, TypeVar

from tokbench.corpus.words.units import UNIT_NAMES
from tokbench.foundation.errors import ContractError
from tokbench.foundation.failures import Failure, attempt
from tokbench.measuring.metric import Role
from tokbench.measuring.plan import Plan, RunTokenizer
from tokbench.measuring.study import Outcome, StudyContext
from tokbench.measuring.sums import Sums
from tokbench.measuring.token_counts import TokenCounts
from tokbench.measuring.word_units import UnitSums
from tokbench.results.cells import WHOLE, trained_on
from tokbench.studies.vocabulary_size.advice import advise, flops_per_byte, supported
from tokbench.studies.vocabulary_size.block import SizeCost, SizeLine, SizeLoss, VocabularySizes
from tokbench.studies.vocabulary_size.lines import (
    Built,
    Line,
    LinePlace,
    MixedLine,
    Mixture,
    TextTotals,
    cut,
    ladder,
    mix,
    mixture_of,
    of_group,
    read_merges,
    sizes_of,
    training_bytes,
)
from tokbench.studies.vocabulary_size.options import STUDIED, Model, VocabularyStudy

T = TypeVar("T")

_UNSPLIT = 0.01
"""The least share of tokens that span words in a vocabulary without a split."""

_NO_SPLIT = "it has no split, so that many tokens are phrases of its training text"
_LOST = {True: "text of {} may be lost", False: "text of {} is lost"}


def study_vocabulary(context: StudyContext, options: VocabularyStudy) -> Outcome:
    """Compute the compression and cost of each vocabulary size."""
    plan = context.plan
    studied = {name for corpus in plan.corpora_with(STUDIED) for name in plan.names_on(corpus)}
    ready = {each.name: each for each in context.tokenizers if each.ready and each.name in studied}
    read = read_merges(list(ready), context)
    built = {name: _as_trained(ready[name], made) for name, made in read.items() if not isinstance(made, Failure)}
    seen = {(cell.tokenizer, cell.corpus): cell.in_sample or 0.0 for cell in context.cells if cell.group == WHOLE}
    study = _Study(context, options, list(ready), seen)
    failures = [f"{name}: {failure.reason}" for name, failure in read.items() if isinstance(failure, Failure)]
    lines = _lines([tokenizer for name, tokenizer in ready.items() if name in built], built)
    parts = []
    for done, (name, members) in enumerate(lines.items(), 1):
        part = attempt(partial(study.line, name, members, built), name)
        if isinstance(part, Failure):
            failures.append(part.reason)
        else:
            parts.append(part)
        context.progress("drawing curves", done, len(lines))
    return Outcome(block=study.joined(parts), failures=[*failures, *study.failures])


def _lines(ready: Sequence[RunTokenizer], built: Mapping[str, Built]) -> dict[str, list[RunTokenizer]]:
    """Return the tokenizers of each line; the sizes of one vocabulary are one line, the largest size first."""
    same: dict[object, list[RunTokenizer]] = {}
    for tokenizer in ready:
        key = [tokenizer.entry]
        if built[tokenizer.name].order is not None:
            nested = not tokenizer.train_on or tokenizer.spec.is_nested(tokenizer.options)
            rest = sorted((name, repr(value)) for name, value in tokenizer.info.options.items() if name != "size")
            key.append(repr(rest) if nested else tokenizer.name)
        same.setdefault(tuple(key), []).append(tokenizer)
    entries = Counter(members[0].entry for members in same.values())
    lines = {}
    for members in same.values():
        entry, whole = members[0].entry, built[members[0].name].order is not None
        if whole:
            members.sort(key=lambda tokenizer: built[tokenizer.name].size, reverse=True)
        one_name = whole and (len(members) == 1 or entries[entry] > 1)
        lines[members[0].name if one_name else entry] = members
    return lines


def _as_trained(tokenizer: RunTokenizer, built: Built) -> Built:
    # Some backends say by their options whether they nest. The vocabulary of another one is cut if it lists merges.
    by_options = tokenizer.train_on and callable(tokenizer.spec.nested)
    if built.order is None or not by_options or tokenizer.spec.is_nested(tokenizer.options):
        return built
    return built._replace(order=None, reason="training it to a smaller size gives other merges")


@dataclass(frozen=True)
class _Study:
    """Reads an evaluation as lines over vocabulary sizes."""

    context: StudyContext
    options: VocabularyStudy
    names: list[str]
    seen: dict[tuple[str, str], float]
    mixed: dict[str, MixedLine] = field(default_factory=dict)
    training: dict[str, dict[str, float]] = field(default_factory=dict)
    spans: dict[str, float] = field(default_factory=dict)
    baselines: set[str] = field(default_factory=set)
    ends: dict[str, Literal["text", "file", "cap"]] = field(default_factory=dict)
    inside: dict[str, str] = field(default_factory=dict)
    """By line that was trained on some of the text, a corpus of that text."""
    failures: list[str] = field(default_factory=list)

    @property
    def plan(self) -> Plan:
        return self.context.plan

    @cached_property
    def values(self) -> dict[tuple[str, str, str], float | None]:
        whole = (cell for cell in self.context.cells if cell.group == WHOLE)
        return {(cell.tokenizer, cell.corpus, cell.metric): cell.value for cell in whole}

    @cached_property
    def studied(self) -> list[str]:
        return self.plan.corpora_with(STUDIED)

    def line(self, name: str, members: Sequence[RunTokenizer], built: Mapping[str, Built]) -> VocabularySizes:
        # Where the text gives no more tokens, several trainings end at one size.
        members = list({built[member.name].size: member for member in reversed(members)}.values())[::-1]
        first, names = built[members[0].name], [member.name for member in members]
        sizes = [built[tokenizer].size for tokenizer in names]
        line = SizeLine(
            line=name,
            kind="curve" if first.order is not None else "ladder" if len(members) > 1 else "point",
            tokenizers=names,
            smallest=first.order.base if first.order else min(sizes),
            largest=max(sizes),
            reason=first.reason,
        )
        if members[0].spec.baseline:
            self.baselines.add(name)
        self.spans[name] = max(built[tokenizer].spans for tokenizer in names)
        corpora = self._corpora(names[0])
        for corpus in corpora:
            seen = max(self.seen.get((tokenizer, corpus), 0.0) for tokenizer in names)
            if corpus in self.mixture.weights and trained_on(seen):
                self.inside[name] = f"trained on {corpus}"
        lost = (self._lost(name, corpus, names) for corpus in corpora)
        counts = self._counts(members if first.order is None else members[:1])
        lines = self._cut(counts, names, built)
        groups = [of_group(LinePlace(name, *place), drawn, self.texts[place]) for place, drawn in lines.items()]
        if self.mixture.weights and self.mixture.places <= lines.keys():
            self.mixed[name] = mix(lines, self.mixture)
            if members[0].train_on:
                self.training[name] = training_bytes(self.plan, members[0].train_on, self.mixture.weights)
                self.ends[name] = _end(max(members, key=lambda member: member.vocab_size))
        return _concatenated([VocabularySizes(lines=[line], losses=[loss for loss in lost if loss]), *groups])

    def _corpora(self, name: str) -> list[str]:
        return [corpus for corpus in self.studied if name in self.plan.names_on(corpus)]

    def _counts(self, members: Sequence[RunTokenizer]) -> dict[tuple[str, str], list[TokenCounts]]:
        states: dict[tuple[str, str], list[TokenCounts]] = {}
        corpora, entry = self._corpora(members[0].name), members[0].entry
        failed: dict[str, str] = {}
        for place in (key for key in self.texts if key[0] in corpora):
            counts = [self._state(Role.ID_COUNTS, TokenCounts, member.name, *place) for member in members]
            counted = [count for count in counts if not isinstance(count, Failure)]
            if len(counted) == len(members):
                states[place] = counted
            elif place[1] != WHOLE:
                reasons = dict.fromkeys(count.reason for count in counts if isinstance(count, Failure))
                failed.setdefault(place[0], f"{entry} on {place[0]}, group {place[1]}: {'; '.join(reasons)}")
        self.failures.extend(failed.values())
        return states

    def _cut(
        self, counts: Mapping[tuple[str, str], list[TokenCounts]], names: Sequence[str], built: Mapping[str, Built]
    ) -> dict[tuple[str, str], Line]:
        order = built[names[0]].order
        if order is not None:
            sizes = sizes_of(order, self.options.sizes)
            return dict(zip(counts, cut(order, [states[0] for states in counts.values()], sizes), strict=True))
        trained = [built[name].size for name in names]
        return {place: ladder(list(zip(trained, states, strict=True))) for place, states in counts.items()}

    @cached_property
    def texts(self) -> dict[tuple[str, str], TextTotals]:
        totals = {}
        for corpus in self.studied:
            for group in [*self.plan.surveys[corpus].groups, WHOLE]:
                text = next(filter(None, (self._text(name, corpus, group) for name in self.names)), None)
                if text is not None:
                    totals[corpus, group] = text
        return totals

    @cached_property
    def mixture(self) -> Mixture:
        corpora = [corpus for (corpus, group), text in self.texts.items() if group == WHOLE and text.n_bytes.sum()]
        return mixture_of(self.plan, corpora)

    def _text(self, name: str, corpus: str, group: str) -> TextTotals | None:
        sums = self._state(Role.TEXT_PER_TOKEN, Sums, name, corpus, group)
        words = self._state(Role.TOKENS_PER_WORD, UnitSums, name, corpus, group)
        if isinstance(sums, Failure) or isinstance(words, Failure):
            return None
        counted, unit = None, ""
        if words.refusal() is None:
            [known] = words.units
            counted, unit = words.sums.by_bucket("words"), UNIT_NAMES[known][0]
        return TextTotals(sums.documents, sums.by_bucket("bytes"), counted, unit)

    def _lost(self, line: str, corpus: str, names: Sequence[str]) -> SizeLoss | None:
        if self.plan.corpora[corpus].counts:  # counts tell nothing of losses, and the answer says so
            return None
        metric = self.plan.metric(Role.LOST_CHARACTERS)
        shares = [self.values.get((name, corpus, metric.id)) if metric else None for name in names]
        most = None if None in shares else max(share for share in shares if share is not None)
        if most is not None and most <= self.plan.config.most_lost:
            return None
        return SizeLoss(line=line, corpus=corpus, lost=most)

    def _state(self, role: Role, kind: type[T], name: str, corpus: str, group: str) -> T | Failure:
        state = self.context.state(role, name, corpus, group)
        if isinstance(state, Failure | kind):
            return state
        family = self.plan.family(role)
        raise ContractError(
            f"the metric family {family and family.name!r} has the role {role!r}, but its state is not {kind.__name__}"
        )

    def joined(self, parts: Sequence[VocabularySizes]) -> VocabularySizes:
        study = replace(_concatenated(parts), sizes=list(self.options.sizes), weights=dict(self.mixture.weights))
        if not self.mixture.weights:
            return study
        models, left_out = self.options.models, self._left_out(study)
        taken = {name: line for name, line in self.mixed.items() if name not in left_out}
        own = {name: line for name, line in taken.items() if name in self.training}
        outside = {name: line for name, line in own.items() if name not in self.inside}
        published = {name: line for name, line in taken.items() if name not in {*self.training, *self.baselines}}
        reach = {name: supported(self.mixture.weights, trained) for name, trained in self.training.items()}
        return replace(
            study,
            models={name: model.model_dump(mode="json", exclude_none=True) for name, model in models.items()},
            advice=advise(outside or own, models, reach),
            whole={name: {line: _whole(model, of) for line, of in published.items()} for name, model in models.items()},
            ends=self.ends,
            training=self.training,
            left_out={**(self.inside if outside else {}), **left_out},
        )

    def _left_out(self, study: VocabularySizes) -> dict[str, str]:
        weights = self.mixture.weights
        lost = {
            loss.line: _LOST[loss.lost is None].format(loss.corpus) for loss in study.losses if loss.corpus in weights
        }
        unsplit = {name: _NO_SPLIT for name in self.training if self.spans[name] >= _UNSPLIT}
        if all(name in unsplit for name in self.training):
            unsplit = {}
        unmeasured = {
            line.line: "its ids are not known for every text" for line in study.lines if line.line not in self.mixed
        }
        return {**unsplit, **lost, **unmeasured}


def _end(trained: RunTokenizer) -> Literal["text", "file", "cap"]:
    if trained.info.vocab_size and trained.info.vocab_size < trained.vocab_size:
        return "text"
    return "cap" if trained.auto else "file"


def _whole(model: Model, line: MixedLine) -> SizeCost:
    size, tokens = int(line.every[-1]), float(line.mixed[-1])
    return SizeCost(vocab_size=size, tokens_per_byte=tokens, cost=float(flops_per_byte(model, size, 1 / tokens)))


def _concatenated(parts: Sequence[VocabularySizes]) -> VocabularySizes:
    names = ("lines", "rows", "curves", "losses")
    lists: dict[str, Any] = {name: [entry for part in parts for entry in getattr(part, name)] for name in names}
    return VocabularySizes(**lists)
