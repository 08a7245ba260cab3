"""Bits per byte at several vocabulary sizes: a small transformer is trained at each, a job for each size and body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from itertools import pairwise
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.engine.fit_models import LostText, checkpoints_of, encoded_part, lost_documents
from tokbench.engine.model_costs import ADVICE_OF_SIZE, refuse_too_large
from tokbench.engine.model_texts import TextParts, text_parts
from tokbench.engine.plan import Plan
from tokbench.engine.stored import StoredWork
from tokbench.engine.vocabulary_size.lines import Built
from tokbench.engine.workers.pool import WorkerDied, WorkerPool
from tokbench.engine.workers.worker import Job, WorkerContext
from tokbench.foundation.errors import InputError
from tokbench.foundation.failures import Failure, attempt, doing
from tokbench.foundation.store import Key
from tokbench.measuring.body import Body
from tokbench.measuring.model_metric import EncodedPart, ModelTexts
from tokbench.model.best_size import SizeBits, at_flops, best_size, move
from tokbench.model.windows import renumbered
from tokbench.results.cells import trained_on
from tokbench.results.measured_sizes import BestMeasuredSize, MeasuredSizes, SizeMove, TrainedSize, TriedRates
from tokbench.results.vocabulary_size import VocabularySizes
from tokbench.tokenizers.merges import merge_order, ordinary_tokens
from tokbench.vocabulary.curve import cut_ids
from tokbench.vocabulary.size.model import BodyShape, MeasuredStudy
from tokbench.vocabulary.size.scaling import optimal_sizes

_TRAINING, _SCORED = "training part", "scored part"
"""The feeds of a job."""

_KIND: Final = "measured sizes"
"""The kind of work under which the store keeps trainings."""

_STEP: Final = "measuring sizes"

_REMEDY: Final = "set 'train' or 'holdout' of 'measured'"

Equal = Literal["bytes", "FLOPs"]


class Trained(NamedTuple):
    """The models of one seed, after each amount of text.

    Attributes:
        n_bytes, tokens, flops, seconds: of the training so far, by amount.
        bits: float64[amounts, d], the bits of each scored document.
    """

    n_bytes: list[int]
    tokens: list[int]
    flops: list[float]
    seconds: list[float]
    bits: NDArray[np.float64]


class SizeModels(NamedTuple):
    """The models of one size and body.

    Attributes:
        learning_rate: the one that was chosen.
        seeds: the models of each seed.
        n_bytes: int64[d], the bytes of each scored document.
        tried: learning rates with their bits per byte on a tenth of the text; none if one rate was given.
    """

    learning_rate: float
    seeds: list[Trained]
    n_bytes: NDArray[np.int64]
    tried: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class MeasureSize(Job):
    """Train a transformer at one size; the answer is a :class:`SizeModels`, a :class:`LostText`, or the failure.

    Attributes:
        name: the tokenizer.
        line, size: the place.
        merges: how many merges are kept; ``None`` if the tokenizer is not cut.
        shape: the body, by the name of its shape.
        body: the transformer.
        seeds, shares, rates: see :class:`tokbench.vocabulary.size.model.MeasuredStudy`.
        checkpoints: what the store tells the training by; ``None`` if nothing is kept.
        room: bytes of memory that a process may take; ``None`` without a limit.
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
        """See :class:`tokbench.engine.workers.worker.Job`."""
        return (self.name,)

    @property
    def place(self) -> str:
        """The size and the body, in words."""
        return f"{self.line} at size {self.size:,}, body {self.shape}"

    def run(self, context: WorkerContext) -> Iterator[SizeModels | LostText | Failure]:
        """See :class:`tokbench.engine.workers.worker.Job`."""
        with doing("training models on", tokenizer=self.name, place=self.place):
            yield attempt(lambda: self._measure(context))  # the failure is told with its place

    def _measure(self, context: WorkerContext) -> SizeModels | LostText:
        from tokbench.model.learning_rate import train_seeds

        training, scored, n_ids, lost = self._parts(context)
        if lost:
            return LostText(lost)
        refuse_too_large(training, n_ids, self.body, self.room, ADVICE_OF_SIZE)

        def progress(step: str, done: float, total: float | None) -> None:
            context.progress(f"{step} of {self.place}", done, total)

        found = train_seeds(
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
        if any(len(points) < len(self.shares) for points in found.curves):
            documents = len(training.n_bytes)
            raise InputError(
                f"{documents:,} training documents are too few or too long for the shares {list(self.shares)}: "
                "a share adds none; give more text, or larger shares"
            )
        columns = [list(zip(*points, strict=True)) for points in found.curves]
        models = [
            Trained([*n], [*tokens], [*map(float, flops)], [*seconds], np.array(bits))
            for n, tokens, flops, seconds, bits in columns
        ]
        return SizeModels(found.learning_rate, models, scored.n_bytes, tuple(found.tried.items()))

    def _parts(self, context: WorkerContext) -> tuple[EncodedPart, EncodedPart, int, tuple[int, ...]]:
        """Return both parts at the size, the number of ids, and the scored documents that do not come back."""
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
            parts = [EncodedPart(cut_ids(order, each.encoded, merges), each.n_bytes) for each in parts]
        for each in parts:
            kept[each.encoded.ids] = True
        learned, predicted = renumbered(*parts)
        return learned, predicted, int(kept.sum()), lost


def measured_sizes(
    plan: Plan,
    options: MeasuredStudy,
    found: VocabularySizes,
    built: Mapping[str, Built],
    pool: WorkerPool,
    stored: StoredWork,
) -> MeasuredSizes | Failure:
    """Train a small transformer at the sizes that the configuration asks for, and find the best size.

    Args:
        plan: of the run.
        options: the block ``measured`` of the study.
        found: the lines of the study.
        built: the way each vocabulary is built.
        pool: the workers.
        stored: trainings that the store has are taken from there.
    """
    corpus = options.corpus or plan.studied[0]
    train = options.train or corpus
    texts = options.texts._replace(train=train)
    parts = attempt(lambda: text_parts(plan.corpora[train], plan.corpora[corpus], texts, _REMEDY), "measured sizes")
    if isinstance(parts, Failure):
        return parts
    study = _Study(plan, options, corpus, train, texts, stored)
    jobs, failures = study.jobs(found, built)
    answers, failed = study.answers(jobs, parts, pool)
    shapes = sorted(options.bodies, key=lambda each: each.body.parameters)
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
        bodies={each.name: each.body.parameters for each in shapes},
        widths={each.name: each.width for each in shapes},
        trained=[row for job, models in answers.items() for row in _rows(job, models)],
        tried=[_tried(job, models) for job, models in answers.items() if models.tried],
        best=best,
        moves=moves,
        failures=[*failures, *failed],
    )


class _Setting(NamedTuple):
    """One line and body at an amount: what is measured, FLOPs at each size, and the amount."""

    shape: BodyShape
    amount: float
    flops: list[float]
    measured: SizeBits


@dataclass(frozen=True)
class _Study:
    """The measured sizes of one run."""

    plan: Plan
    options: MeasuredStudy
    corpus: str
    train: str
    texts: ModelTexts
    stored: StoredWork

    def jobs(self, found: VocabularySizes, built: Mapping[str, Built]) -> tuple[list[MeasureSize], list[str]]:
        """Return a job for each size and body, and what cannot be measured."""
        jobs, failures = [], []
        entries = {each.name: each.entry for each in self.plan.tokenizers}
        seen = {each.line: each.share for each in found.in_sample if each.corpus == self.corpus}
        for line in found.lines:
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
        """Return by size the tokenizer, and how many of its merges are kept."""
        order = built[names[0]].order
        if order is None:
            return {built[name].size: (name, None) for name in names if built[name].size in self.options.sizes}
        sizes = (size for size in self.options.sizes if order.base <= size <= order.base + len(order))
        return {size: (names[0], size - order.base) for size in sizes}

    def answers(
        self, jobs: Sequence[MeasureSize], parts: TextParts, pool: WorkerPool
    ) -> tuple[dict[MeasureSize, SizeModels], list[str]]:
        """Return the models of each job, from the store or trained now, and what failed."""
        known = {job: self.stored.result(_KIND, [job.name], self._details(job)) for job in jobs}
        missing = iter([self._resumable(job) for job, models in known.items() if models is None])
        feeds = {_TRAINING: parts.training, _SCORED: parts.scored}
        failures = []
        done = sum(models is not None for models in known.values())
        pool.progress(_STEP, done, len(jobs))
        for job, answer in pool.work(lambda: next(missing, None), feeds=lambda _: feeds):
            assert isinstance(job, MeasureSize)
            if isinstance(answer, SizeModels):
                self.stored.keep_result(_KIND, [job.name], self._details(job), answer)
                known[job] = answer
            elif isinstance(answer, LostText):
                first = parts.sizes.origins[answer.documents[0]]
                failures.append(
                    f"{job.place}: {len(answer.documents):,} scored documents do not come back, first {first}"
                )
            else:
                failure = answer.failure if isinstance(answer, WorkerDied) else answer
                failures.append(f"{job.place}: {failure.reason}")
            done += 1
            pool.progress(_STEP, done, len(jobs))
        return {job: models for job, models in known.items() if models is not None}, failures

    def _resumable(self, job: MeasureSize) -> MeasureSize:
        return replace(job, checkpoints=self.stored.key_of_result([job.name], self._details(job)))

    def _details(self, job: MeasureSize) -> Key:
        places = [(self.plan.surveys[name], self.plan.corpora[name]) for name in (self.train, self.corpus)]
        return {
            "corpora": [[survey.sha256, each.holdout, each.parallel, each.limit] for survey, each in places],
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
        """Return the best sizes of each line, and how they move."""
        best: list[BestMeasuredSize] = []
        moves: list[SizeMove] = []
        for line in dict.fromkeys(job.line for job in answers):
            at: dict[Equal, list[list[_Setting]]] = {"bytes": [], "FLOPs": []}
            for shape in shapes:
                of_size = {
                    job.size: each for job, each in answers.items() if (job.line, job.shape) == (line, shape.name)
                }
                if len(of_size) > 1:
                    at["bytes"].append(_at_equal_bytes(shape, dict(sorted(of_size.items()))))
                    at["FLOPs"].append(_at_equal_flops(shape, dict(sorted(of_size.items()))))
            for equal, settings in at.items():
                best += [_best(line, equal, each) for some in settings for each in some]
                pairs = [(some[0], some[-1]) for some in settings if len(some) > 1]
                if equal == "bytes":
                    pairs += [pair for one, two in pairwise(settings) for pair in zip(one, two, strict=True)]
                moves += [_move(line, equal, *pair) for pair in pairs if _same_sizes(*pair)]
        return best, moves


def _rows(job: MeasureSize, models: SizeModels) -> Iterator[TrainedSize]:
    for seed, each in enumerate(models.seeds):
        for k, bits in enumerate(each.bits):
            yield TrainedSize(
                line=job.line,
                vocab_size=job.size,
                body=job.shape,
                seed=seed,
                share=job.shares[k],
                n_bytes=each.n_bytes[k],
                bits_per_byte=float(bits.sum() / models.n_bytes.sum()),
                tokens=each.tokens[k],
                flops=int(each.flops[k]),
                learning_rate=models.learning_rate,
                seconds=each.seconds[k],
            )


def _tried(job: MeasureSize, models: SizeModels) -> TriedRates:
    bits = {f"{rate:g}": found for rate, found in models.tried}
    return TriedRates(line=job.line, vocab_size=job.size, body=job.shape, bits_per_byte=bits)


def _at_equal_bytes(shape: BodyShape, of_size: Mapping[int, SizeModels]) -> list[_Setting]:
    """Return the sizes at each amount of text."""
    first = next(iter(of_size.values()))
    found = []
    for k in range(len(first.seeds[0].bits)):
        bits = np.array([[each.bits[k] for each in models.seeds] for models in of_size.values()])
        flops = [float(np.mean([each.flops[k] for each in models.seeds])) for models in of_size.values()]
        amount = float(np.mean([each.n_bytes[k] for each in first.seeds]))
        found.append(_Setting(shape, amount, flops, SizeBits(np.array([*of_size]), bits, first.n_bytes.astype(float))))
    return found


def _at_equal_flops(shape: BodyShape, of_size: Mapping[int, SizeModels]) -> list[_Setting]:
    """Return the sizes at the fewest and at the most FLOPs that lie between two amounts of every size."""
    every = [each.flops for models in of_size.values() for each in models.seeds]
    budgets = max(each[0] for each in every), min(each[-1] for each in every)
    if budgets[0] >= budgets[1]:
        return []
    n_bytes = next(iter(of_size.values())).n_bytes.astype(float)
    found = []
    for budget in budgets:
        bits = [[at_flops(each.flops, each.bits, budget) for each in models.seeds] for models in of_size.values()]
        measured = SizeBits(np.array([*of_size]), np.array(bits, dtype=np.float64), n_bytes)
        found.append(_Setting(shape, budget, [budget] * len(of_size), measured))
    return found


def _law(setting: _Setting) -> tuple[float, int, str]:
    """Return the FLOPs at the best size, the size by the law for them, and its caution."""
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
    """Tell whether two settings have the same sizes; where a training failed, one has fewer."""
    return np.array_equal(one.measured.sizes, two.measured.sizes)


def _move(line: str, equal: Equal, before: _Setting, after: _Setting) -> SizeMove:
    found = move(before.measured, after.measured)
    one, two = (max(1, _law(each)[1]) for each in (before, after))
    return SizeMove(
        line=line,
        body=before.shape.name,
        amount=before.amount,
        to_body=after.shape.name,
        to_amount=after.amount,
        equal=equal,
        doublings=found.doublings,
        low=found.low,
        high=found.high,
        verdict=found.verdict,
        law=float(np.log2(two / one)),
    )
