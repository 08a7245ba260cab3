"""Bits per byte at several vocabulary sizes, from a job for each size and body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from itertools import pairwise
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin import (
    AskedJobs,
    Failure,
    InputError,
    Job,
    JobContext,
    Kept,
    Key,
    Plan,
    StudyContext,
    attempt,
    cut_ids,
    doing,
    merge_order,
    ordinary_tokens,
    trained_on,
)
from tokbench.studies.language_models.body import Body
from tokbench.studies.language_models.contract import EncodedPart, ModelTexts
from tokbench.studies.language_models.costs import refuse_too_large
from tokbench.studies.language_models.fit import LostText, checkpoints_of, encoded_part, lost_documents
from tokbench.studies.language_models.texts import TextParts, text_parts
from tokbench.studies.language_models.windows import renumbered
from tokbench.studies.vocabulary_size.best_size import SizeBits, at_flops, best_size, move
from tokbench.studies.vocabulary_size.block import VocabularySizes
from tokbench.studies.vocabulary_size.lines import Built
from tokbench.studies.vocabulary_size.measured_block import (
    BestMeasuredSize,
    MeasuredSizes,
    SizeMove,
    TrainedSize,
    TriedRates,
)
from tokbench.studies.vocabulary_size.measured_costs import ADVICE
from tokbench.studies.vocabulary_size.options import STUDIED, BodyShape, MeasuredStudy
from tokbench.studies.vocabulary_size.scaling import optimal_sizes

_TRAINING, _SCORED = "training part", "scored part"

_KIND: Final = "measured sizes"

_STEP: Final = "measuring sizes"

_REMEDY: Final = "set 'train' or 'holdout' of 'measured'"

Equal = Literal["bytes", "FLOPs"]


class Trained(NamedTuple):
    """The models of one seed: of the training so far by amount, and float64[amounts, d] bits of documents."""

    n_bytes: list[int]
    tokens: list[int]
    flops: list[float]
    seconds: list[float]
    bits: NDArray[np.float64]


class SizeModels(NamedTuple):
    """The models of one size and body by seed, with the learning rates tried; ``n_bytes`` are int64[d]."""

    learning_rate: float
    seeds: list[Trained]
    n_bytes: NDArray[np.int64]
    tried: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class MeasureSize(Job):
    """Train a transformer at one size; the answer is a :class:`SizeModels`, a :class:`LostText`, or the failure.

    ``merges`` are kept, if the tokenizer is cut; ``room`` is bytes of memory.
    """

    name: str
    line: str
    size: int
    merges: int | None
    shape: str
    body: Body
    seeds: int
    shares: tuple[float, ...]
    rates: tuple[float, ...]
    checkpoints: Key | None = field(default=None, compare=False)
    room: int | None = field(default=None, compare=False)

    @property
    def tokenizers(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def place(self) -> str:
        return f"{self.line} at size {self.size:,}, body {self.shape}"

    def run(self, context: JobContext) -> Iterator[SizeModels | LostText | Failure]:
        with doing("training models on", tokenizer=self.name, place=self.place):
            yield attempt(lambda: self._measure(context))  # the failure is reported with its place

    def _measure(self, context: JobContext) -> SizeModels | LostText:
        from tokbench.studies.language_models.learning_rate import train_seeds

        training, scored, n_ids, lost = self._parts(context)
        if lost:
            return LostText(lost)
        refuse_too_large(training, n_ids, self.body, self.room, ADVICE)

        def progress(step: str, done: float, total: float | None) -> None:
            context.progress(f"{step} of {self.place}", done, total)

        trained = train_seeds(
            training,
            scored,
            n_ids,
            self.body,
            seeds=range(self.seeds),
            rates=self.rates,
            shares=self.shares,
            saved=checkpoints_of(self.checkpoints),
            progress=progress,
        )
        if any(len(points) < len(self.shares) for points in trained.curves):
            documents = len(training.n_bytes)
            raise InputError(
                f"{documents:,} training documents are too few or too long for the shares {list(self.shares)}: "
                "a share adds none; give more text, or larger shares"
            )
        columns = [list(zip(*points, strict=True)) for points in trained.curves]
        models = [
            Trained([*n], [*tokens], [*map(float, flops)], [*seconds], np.array(bits))
            for n, tokens, flops, seconds, bits in columns
        ]
        return SizeModels(trained.learning_rate, models, scored.n_bytes, tuple(trained.tried.items()))

    def _parts(self, context: JobContext) -> tuple[EncodedPart, EncodedPart, int, tuple[int, ...]]:
        tokenizer = context.loaded(self.name).tokenizer
        training = list(context.texts(_TRAINING))
        scored_texts = list(context.texts(_SCORED))
        parts = [encoded_part(tokenizer, texts) for texts in (training, scored_texts)]
        lost = lost_documents(tokenizer, scored_texts, parts[1].encoded)
        tokens = ordinary_tokens(tokenizer)
        kept = np.array([bool(token) for token in tokens])
        if self.merges is not None:
            order = merge_order(tokenizer, tokens)
            kept &= order.rank_of < self.merges
            merges = self.merges
            parts = [EncodedPart(cut_ids(order, part.encoded, merges), part.n_bytes) for part in parts]
        for part in parts:
            kept[part.encoded.ids] = True
        learned, predicted = renumbered(*parts)
        return learned, predicted, int(kept.sum()), lost


def measured_sizes(
    context: StudyContext, options: MeasuredStudy, vocabulary_sizes: VocabularySizes, built: Mapping[str, Built]
) -> MeasuredSizes | Failure:
    """Train a transformer at the configured sizes, and find the best one."""
    plan = context.plan
    corpus = options.corpus or plan.corpora_with(STUDIED)[0]
    train = options.train or corpus
    texts = options.texts._replace(train=train)
    parts = attempt(lambda: text_parts(plan.corpora[train], plan.corpora[corpus], texts, _REMEDY), "measured sizes")
    if isinstance(parts, Failure):
        return parts
    study = _Study(context, options, corpus, train, texts)
    jobs, failures = study.jobs(vocabulary_sizes, built)
    answers, failed = study.answers(jobs, parts)
    shapes = sorted(options.bodies, key=lambda shape: shape.body.parameters)
    sizes = parts.sizes
    best, moves = study.compared(answers, shapes)
    return MeasuredSizes(
        corpus=corpus,
        train=train,
        training_documents=sizes.training.documents,
        training_bytes=sizes.training.n_bytes,
        scored_documents=sizes.scored.documents,
        scored_bytes=sizes.scored.n_bytes,
        duplicates=sizes.training.duplicates + sizes.scored.duplicates,
        bodies={shape.name: shape.body.parameters for shape in shapes},
        widths={shape.name: shape.width for shape in shapes},
        trained=[row for job, models in answers.items() for row in _rows(job, models)],
        tried=[_tried(job, models) for job, models in answers.items() if models.tried],
        best=best,
        moves=moves,
        failures=[*failures, *failed],
    )


class _Setting(NamedTuple):
    shape: BodyShape
    amount: float
    flops: list[float]
    measured: SizeBits


@dataclass(frozen=True)
class _Study:
    context: StudyContext
    options: MeasuredStudy
    corpus: str
    train: str
    texts: ModelTexts

    @property
    def plan(self) -> Plan:
        return self.context.plan

    def jobs(
        self, vocabulary_sizes: VocabularySizes, built: Mapping[str, Built]
    ) -> tuple[list[MeasureSize], list[str]]:
        jobs, failures = [], []
        entries = {tokenizer.name: tokenizer.entry for tokenizer in self.plan.tokenizers}
        seen = {sample.line: sample.share for sample in vocabulary_sizes.in_sample if sample.corpus == self.corpus}
        for line in vocabulary_sizes.lines:
            wanted = {*line.tokenizers, *(entries[name] for name in line.tokenizers)} & set(self.options.tokenizers)
            if not (wanted if self.options.tokenizers else line.trained):
                continue
            if trained_on(seen.get(line.line)):
                failures.append(f"{line.line} is not measured: it was trained on the text that is scored")
                continue
            sizes = self._sizes(line.tokenizers, built)
            if len(sizes) < 2:  # noqa: PLR2004 - one is best among itself alone
                failures.append(f"{line.line} has fewer than two of the sizes")
                continue
            missing = [f"{size:,}" for size in self.options.sizes if size not in sizes]
            if missing:
                failures.append(f"{line.line} has no size {', '.join(missing)}")
            jobs += [
                MeasureSize(
                    name,
                    line.line,
                    size,
                    merges,
                    shape.name,
                    shape.body,
                    self.options.seeds,
                    self.options.shares,
                    self.options.learning_rates,
                    room=self.plan.config.limits.memory,
                )
                for shape in self.options.bodies
                for size, (name, merges) in sorted(sizes.items())
            ]
        return jobs, failures

    def _sizes(self, names: Sequence[str], built: Mapping[str, Built]) -> dict[int, tuple[str, int | None]]:
        order = built[names[0]].order
        if order is None:
            return {built[name].size: (name, None) for name in names if built[name].size in self.options.sizes}
        sizes = (size for size in self.options.sizes if order.base <= size <= order.base + len(order))
        return {size: (names[0], size - order.base) for size in sizes}

    def answers(self, jobs: Sequence[MeasureSize], parts: TextParts) -> tuple[dict[MeasureSize, SizeModels], list[str]]:
        feeds = {_TRAINING: parts.training, _SCORED: parts.scored}
        asked = AskedJobs(
            [self._resumable(job) for job in jobs],
            _STEP,
            self._kept,
            sound=lambda value: isinstance(value, SizeModels),
            feeds=lambda _: feeds,
            again=True,
        )
        models: dict[MeasureSize, SizeModels] = {}
        failures = []
        for job, value, _ in self.context.ask(asked):
            if isinstance(value, SizeModels):
                models[replace(job, checkpoints=None)] = value
            elif isinstance(value, LostText):
                first = parts.sizes.origins[value.documents[0]]
                lost = f"{len(value.documents):,} scored documents do not come back, first {first}"
                failures.append(f"{job.place}: {lost}")
            else:
                failures.append(f"{job.place}: {value.reason}")
        return {job: models[job] for job in jobs if job in models}, failures

    def _resumable(self, job: MeasureSize) -> MeasureSize:
        return replace(job, checkpoints=self.context.key([job.name], self._kept(job)))

    def _kept(self, job: MeasureSize) -> Kept:
        return Kept(_KIND, self._details(job))

    def _details(self, job: MeasureSize) -> Key:
        places = [(self.plan.surveys[name], self.plan.corpora[name]) for name in (self.train, self.corpus)]
        return {
            "corpora": [[survey.sha256, corpus.holdout, corpus.parallel, corpus.limit] for survey, corpus in places],
            "same": self.train == self.corpus,
            "texts": list(self.texts[1:]),
            "size": [job.size, job.merges],
            "body": asdict(job.body),
            "training": [job.seeds, list(job.shares), list(job.rates)],
            "versions": [version("jax"), version("optax")],
        }

    def compared(
        self, answers: Mapping[MeasureSize, SizeModels], shapes: Sequence[BodyShape]
    ) -> tuple[list[BestMeasuredSize], list[SizeMove]]:
        best: list[BestMeasuredSize] = []
        moves: list[SizeMove] = []
        for line in dict.fromkeys(job.line for job in answers):
            at: dict[Equal, list[list[_Setting]]] = {"bytes": [], "FLOPs": []}
            for shape in shapes:
                of_size = {
                    job.size: models for job, models in answers.items() if (job.line, job.shape) == (line, shape.name)
                }
                if len(of_size) > 1:
                    at["bytes"].append(_at_equal_bytes(shape, dict(sorted(of_size.items()))))
                    at["FLOPs"].append(_at_equal_flops(shape, dict(sorted(of_size.items()))))
            for equal, settings in at.items():
                best += [_best(line, equal, setting) for some in settings for setting in some]
                pairs = [(some[0], some[-1]) for some in settings if len(some) > 1]
                if equal == "bytes":
                    pairs += [pair for one, two in pairwise(settings) for pair in zip(one, two, strict=True)]
                moves += [_move(line, equal, *pair) for pair in pairs if _same_sizes(*pair)]
        return best, moves


def _rows(job: MeasureSize, models: SizeModels) -> Iterator[TrainedSize]:
    for seed, training in enumerate(models.seeds):
        for k, bits in enumerate(training.bits):
            yield TrainedSize(
                line=job.line,
                vocab_size=job.size,
                body=job.shape,
                seed=seed,
                share=job.shares[k],
                n_bytes=training.n_bytes[k],
                bits_per_byte=float(bits.sum() / models.n_bytes.sum()),
                tokens=training.tokens[k],
                flops=int(training.flops[k]),
                learning_rate=models.learning_rate,
                seconds=training.seconds[k],
            )


def _tried(job: MeasureSize, models: SizeModels) -> TriedRates:
    bits = {f"{rate:g}": value for rate, value in models.tried}
    return TriedRates(line=job.line, vocab_size=job.size, body=job.shape, bits_per_byte=bits)


def _at_equal_bytes(shape: BodyShape, of_size: Mapping[int, SizeModels]) -> list[_Setting]:
    first = next(iter(of_size.values()))
    settings = []
    for k in range(len(first.seeds[0].bits)):
        bits = np.array([[training.bits[k] for training in models.seeds] for models in of_size.values()])
        flops = [float(np.mean([training.flops[k] for training in models.seeds])) for models in of_size.values()]
        amount = float(np.mean([training.n_bytes[k] for training in first.seeds]))
        settings.append(
            _Setting(shape, amount, flops, SizeBits(np.array([*of_size]), bits, first.n_bytes.astype(float)))
        )
    return settings


def _at_equal_flops(shape: BodyShape, of_size: Mapping[int, SizeModels]) -> list[_Setting]:
    every = [training.flops for models in of_size.values() for training in models.seeds]
    budgets = max(flops[0] for flops in every), min(flops[-1] for flops in every)
    if budgets[0] >= budgets[1]:
        return []
    n_bytes = next(iter(of_size.values())).n_bytes.astype(float)
    settings = []
    for budget in budgets:
        bits = [
            [at_flops(training.flops, training.bits, budget) for training in models.seeds]
            for models in of_size.values()
        ]
        measured = SizeBits(np.array([*of_size]), np.array(bits, dtype=np.float64), n_bytes)
        settings.append(_Setting(shape, budget, [budget] * len(of_size), measured))
    return settings


def _law(setting: _Setting) -> tuple[float, int, str]:
    flops = setting.flops[int(setting.measured.means.argmin())]
    [optimum] = optimal_sizes(setting.shape.body.parameters, setting.shape.width, flops)
    return flops, optimum.vocab_size, optimum.caution


def _best(line: str, equal: Equal, setting: _Setting) -> BestMeasuredSize:
    measured = setting.measured
    best = best_size(measured)
    ends = [] if best.reason else np.quantile(measured.drawn, (0.025, 0.975), axis=0).tolist()
    flops, law, caution = _law(setting)
    return BestMeasuredSize(
        line=line,
        body=setting.shape.name,
        equal=equal,
        amount=setting.amount,
        flops=flops,
        sizes=measured.sizes.tolist(),
        values=measured.means.tolist(),
        low=ends[0] if ends else [],
        high=ends[1] if ends else [],
        best=best.size,
        best_low=best.low,
        best_high=best.high,
        level=list(best.level),
        edge=best.edge,
        no_interval=best.reason,
        law=law,
        law_caution=caution,
    )


def _same_sizes(one: _Setting, two: _Setting) -> bool:
    return np.array_equal(one.measured.sizes, two.measured.sizes)


def _move(line: str, equal: Equal, before: _Setting, after: _Setting) -> SizeMove:
    moved = move(before.measured, after.measured)
    one, two = (max(1, _law(setting)[1]) for setting in (before, after))
    return SizeMove(
        line=line,
        body=before.shape.name,
        amount=before.amount,
        to_body=after.shape.name,
        to_amount=after.amount,
        equal=equal,
        doublings=moved.doublings,
        low=moved.low,
        high=moved.high,
        verdict=moved.verdict,
        law=float(np.log2(two / one)),
    )
