"""Metrics of small language models: a job for each tokenizer and corpus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.foundation.store import Key, Store, open_store_if_usable
from tokbench.measuring.study import Values, cell_of, plain_values
from tokbench.plugin import (
    Encoded,
    Failure,
    HasSpecialTokens,
    HasTokenBytes,
    HasUnknown,
    Options,
    Tokenizer,
    attempt,
    check_encoded,
    decode_batch,
    doing,
    encode_batch,
    metrics,
    vocab_size_of,
)
from tokbench.results.cells import trained_on
from tokbench_models.language_models.block import BitsPerByte, TrainedIds
from tokbench_models.language_models.contract import (
    Checkpoints,
    EncodedPart,
    ModelMetric,
    ModelOutcome,
    ModelStates,
    ModelTask,
)
from tokbench_models.language_models.texts import PartSizes, TextParts, text_parts

STUDY: Final = "language_models"
STEP: Final = "models on "

_TRAINING, _SCORED = "training part", "scored part"

_LARGEST: Final = 1 << 21
"""Larger vocabularies come from a formula: all their ids count."""

_CHECKPOINT: Final = "model checkpoint"

_BASELINE: Final = "no training text"
_PUBLISHED: Final = "published, training text unknown"


class UnscoredText(NamedTuple):
    """Lossy scored documents, by number."""

    documents: tuple[int, ...]


class FittedModels(NamedTuple):
    """The state of the metric for one tokenizer."""

    state: Any
    trained_ids: TrainedIds


@dataclass(frozen=True)
class _StoredCheckpoints:
    store: Store
    key: Key

    def get(self, name: str, /) -> Any:
        return self.store.value(_CHECKPOINT, {**self.key, "name": name})

    def __setitem__(self, name: str, part: Any, /) -> None:
        self.store.put_value(_CHECKPOINT, {**self.key, "name": name}, part)


def checkpoints_of(key: Key | None) -> Checkpoints:
    """Return parts of a training in the store, or, without a key, in memory."""
    store = open_store_if_usable() if key is not None else None
    return _StoredCheckpoints(store, key) if store and key else {}


@dataclass(frozen=True)
class FitModels(metrics.Job):
    """Train the models of one tokenizer; the answer is a :class:`FittedModels`, a :class:`LostText`, or the failure."""

    family: str
    options: Options
    name: str
    corpus: str
    checkpoints: Key | None = None

    @property
    def tokenizers(self) -> tuple[str, ...]:
        return (self.name,)

    def run(self, context: metrics.JobContext) -> Iterator[FittedModels | UnscoredText | Failure]:
        place = f"corpus {self.corpus} for {self.family}"
        with doing("training models on", tokenizer=self.name, place=place):
            yield attempt(lambda: self._fit(context, place), f"{self.family} on corpus {self.corpus}")

    def _fit(self, context: metrics.JobContext, place: str) -> FittedModels | UnscoredText:
        make = context.family(self.family).make
        assert make is not None
        loaded = context.loaded(self.name)
        attempt(loaded.warm_up)  # what fails here fails again where it is encoded
        training, scored = list(context.texts(_TRAINING)), list(context.texts(_SCORED))
        with doing("encoding", place=place):
            learned, predicted = (encoded_part(loaded.tokenizer, texts) for texts in (training, scored))
        with doing("decoding", place=place):
            lost = lost_documents(loaded.tokenizer, scored, predicted.encoded)
        if lost:
            return UnscoredText(lost)
        n_ids = emitted_ids(loaded.tokenizer, learned.encoded.ids, predicted.encoded.ids)
        state = make(self.options).fit(
            ModelTask(learned, predicted, n_ids, checkpoints_of(self.checkpoints)),
            lambda step, done, total: context.progress(f"{step} of {self.name}", done, total),
        )
        return FittedModels(state, count_trained_ids(learned, predicted, n_ids))


def encoded_part(tokenizer: Tokenizer, texts: Sequence[str]) -> EncodedPart:
    """Encode documents as a part."""
    encoded = encode_batch(tokenizer, texts)
    check_encoded(encoded, len(texts), vocab_size_of(tokenizer))
    return EncodedPart(encoded, np.array([len(text.encode()) for text in texts], dtype=np.int64))


def lost_documents(tokenizer: Tokenizer, texts: Sequence[str], encoded: Encoded) -> tuple[int, ...]:
    """Return the numbers of lossy documents, or with an unknown token."""
    lost = np.array([back != text for back, text in zip(decode_batch(tokenizer, encoded), texts, strict=True)])
    unk_id = tokenizer.unk_id if isinstance(tokenizer, HasUnknown) else None
    if unk_id is not None:
        lost[np.searchsorted(encoded.offsets, np.flatnonzero(encoded.ids == unk_id), side="right") - 1] = True
    return tuple(np.flatnonzero(lost).tolist())


def emitted_ids(tokenizer: Tokenizer, *known: NDArray[np.uint32]) -> int:
    """Return how many ids a tokenizer can emit: ``known`` ones, and all but special, unknown and empty tokens.

    >>> import tokbench
    >>> emitted_ids(tokbench.load("utf8_bytes"))
    256
    """
    size = vocab_size_of(tokenizer)
    apart = set(tokenizer.special_ids.values()) if isinstance(tokenizer, HasSpecialTokens) else set()
    unk_id = tokenizer.unk_id if isinstance(tokenizer, HasUnknown) else None
    apart |= {unk_id} if unk_id is not None else set()
    if isinstance(tokenizer, HasTokenBytes) and size <= _LARGEST:
        apart |= {token for token in range(size) if not tokenizer.token_bytes(token)}
    seen = {token for ids in known for token in np.unique(ids).tolist()}
    return size - len({token for token in apart if 0 <= token < size} - seen)


def count_trained_ids(training: EncodedPart, scored: EncodedPart, n_ids: int) -> TrainedIds:
    """Count the tokens of both parts of a text: a model hardly learns rare ids.

    >>> from tokbench.plugin import Encoded
    >>> texts = [np.array(ids, dtype=np.uint32) for ids in ([1, 1, 2, 1, 2, 1], [1, 3, 2, 3])]
    >>> parts = [EncodedPart(Encoded(ids, np.array([0, len(ids)])), np.array([12])) for ids in texts]
    >>> trained = count_trained_ids(*parts, n_ids=4)
    >>> trained.training_tokens, trained.tokens_per_id, trained.never_trained
    (6, 1.5, 0.5)
    >>> trained.training_bytes_per_token, trained.scored_bytes_per_token
    (2.0, 3.0)
    """
    learned, predicted = training.encoded.ids, scored.encoded.ids
    return TrainedIds(
        ids=n_ids,
        training_tokens=len(learned),
        tokens_per_id=len(learned) / n_ids,
        never_trained=float(np.isin(predicted, np.unique(learned), invert=True).mean()),
        training_bytes_per_token=float(training.n_bytes.sum()) / len(learned),
        scored_bytes_per_token=float(scored.n_bytes.sum()) / len(predicted),
    )


def fit_models(context: metrics.StudyContext) -> metrics.Outcome:
    """Measure every family of models on each of its corpora."""
    outcome = metrics.Outcome(block=[])
    for family, options in context.plan.metrics:
        if family.study == STUDY:
            for corpus in context.plan.corpora_of(family):
                _Models(context, family, options, corpus).measure(outcome)
    return outcome


class _Models:
    def __init__(
        self, context: metrics.StudyContext, family: metrics.MetricFamily, options: Options, corpus: str
    ) -> None:
        assert family.make is not None
        self._context = context
        self._plan = context.plan
        self._family = family
        self._options = options
        self._corpus = corpus
        self._metric: ModelMetric = family.make(options)
        self._train = self._metric.texts.train or corpus
        self._answers: dict[str, FittedModels | UnscoredText | Failure | None] = {}
        self._details = self._made_from()
        names = self._plan.names_on(corpus)
        self._asked = [tokenizer for tokenizer in context.tokenizers if tokenizer.name in names]

    def measure(self, outcome: metrics.Outcome) -> None:
        ready = [each.name for each in self._asked if each.ready and each.name not in self._context.ended]
        self._answers = {name: self._context.stored([name], self._kept) for name in ready}
        missing = [name for name, answer in self._answers.items() if answer is None]
        texts = metrics.Kept("model texts", self._details, self._family.name)
        sizes = self._context.stored([], texts)
        if missing or sizes is None:
            parts = attempt(self._parts)
            if isinstance(parts, Failure):
                self._answers.update(dict.fromkeys(missing, parts))
                sizes = sizes or parts
            else:
                sizes = parts.sizes
                self._context.keep([], texts, sizes)
                self._fit(missing, parts)
        self._finish(self._context.ended, sizes, outcome)

    @property
    def _kept(self) -> metrics.Kept:
        counted = "training models: {} tokenizers x corpora"
        return metrics.Kept("models", self._details, self._family.name, counted)

    def _made_from(self) -> Key:
        places = [(self._plan.surveys[name], self._plan.corpora[name]) for name in (self._train, self._corpus)]
        return {
            "corpora": [[survey.sha256, corpus.holdout, corpus.parallel, corpus.limit] for survey, corpus in places],
            "same": self._train == self._corpus,
            "texts": list(self._metric.texts[1:]),
        }

    def _parts(self) -> TextParts:
        corpora = self._plan.corpora
        return text_parts(corpora[self._train], corpora[self._corpus], self._metric.texts)

    def _fit(self, names: Sequence[str], parts: TextParts) -> None:
        keys = {name: self._context.key([name], self._kept) for name in names}
        jobs = [FitModels(self._family.name, self._options, name, self._corpus, keys[name]) for name in names]
        feeds = {_TRAINING: parts.training, _SCORED: parts.scored}
        asked = metrics.AskedJobs(jobs, STEP + self._corpus, lambda _: self._kept, feeds=lambda _: feeds)
        self._answers.update((job.name, value) for job, value, _ in self._context.ask(asked))

    def _finish(self, ended: Mapping[str, Failure], sizes: PartSizes | Failure, result: metrics.Outcome) -> None:
        seen = {each.name: self._seen(each.train_on, sizes) for each in self._asked}
        blocks = {
            each.name: _BASELINE if each.spec.baseline else _block(each.train_on, seen[each.name])
            for each in self._asked
        }
        sound = {
            name: answer
            for name, answer in self._answers.items()
            if isinstance(answer, FittedModels) and name not in ended
        }
        outcome = self._outcome(sound, blocks, sizes)
        values = {tokenizer.name: self._values(tokenizer.name, ended, sizes, outcome) for tokenizer in self._asked}
        for tokenizer in self._asked:
            value, place = values[tokenizer.name], (self._corpus, metrics.WHOLE)
            known = value if isinstance(value, Failure) else plain_values(value)
            result.cells += [cell_of(tokenizer, place, one, known, seen[tokenizer.name]) for one in self._family.values]
        failures = [value for value in values.values() if isinstance(value, Failure)]
        result.tracebacks = result.traced(failures).tracebacks
        if isinstance(sizes, Failure):
            result.notes.append(f"{self._family.name} on {self._corpus}: {sizes.reason}")
        elif isinstance(outcome, ModelOutcome):
            result.block.append(self._described(outcome, sizes, {name: blocks[name] for name in sound}, sound))

    def _seen(self, train_on: Sequence[str], sizes: PartSizes | Failure) -> float | None:
        if isinstance(sizes, Failure) or not train_on:
            return None
        trained = np.concatenate([self._plan.surveys[name].trained for name in train_on])
        return float(np.isin(sizes.marks, trained).mean())

    def _outcome(
        self, sound: Mapping[str, FittedModels], blocks: Mapping[str, str], sizes: PartSizes | Failure
    ) -> ModelOutcome | Failure:
        if isinstance(sizes, Failure):
            return sizes
        pairs = [pair for pair in combinations(sound, 2) if _comparable(*(blocks[name] for name in pair))]
        states = ModelStates({name: fitted.state for name, fitted in sound.items()}, pairs)
        return attempt(lambda: self._metric.finish_models(states), f"finishing {self._family.name}")

    def _values(
        self, name: str, ended: Mapping[str, Failure], sizes: PartSizes | Failure, outcome: ModelOutcome | Failure
    ) -> Values | Failure:
        answer = ended.get(name, self._answers.get(name))
        if isinstance(answer, Failure):
            return answer
        if isinstance(answer, UnscoredText) and not isinstance(sizes, Failure):
            lost, total = len(answer.documents), sizes.scored.documents
            first = sizes.origins[answer.documents[0]]
            reason = f"{lost:,} of {total:,} scored documents do not round-trip, first {first}"
            return {metric.id: metrics.NotApplicable(reason) for metric in self._family.values}
        return outcome if isinstance(outcome, Failure) else outcome.values.get(name, {})

    def _described(
        self, outcome: ModelOutcome, sizes: PartSizes, blocks: dict[str, str], sound: Mapping[str, FittedModels]
    ) -> BitsPerByte:
        training, scored = sizes.training, sizes.scored
        return BitsPerByte(
            corpus=self._corpus,
            train=self._train,
            family=self._family.name,
            metrics=list(outcome.models),
            models=list(outcome.models.values()),
            deciding=list(outcome.deciding),
            least=outcome.least,
            training_documents=training.documents,
            training_bytes=training.n_bytes,
            training_duplicates=training.duplicates,
            scored_documents=scored.documents,
            scored_bytes=scored.n_bytes,
            scored_duplicates=scored.duplicates,
            blocks=blocks,
            comparisons=list(outcome.comparisons),
            trainings=dict(outcome.trainings),
            trained_ids={name: fitted.trained_ids for name, fitted in sound.items()},
        )


def _block(train_on: Sequence[str], seen: float | None) -> str:
    if not train_on:
        return _PUBLISHED
    text = f"trained on {', '.join(train_on)}"
    return f"{text}, scored text included" if trained_on(seen) else text


def _comparable(one: str, other: str) -> bool:
    """Return whether tokenizers of two blocks may be compared.

    >>> _comparable("trained on a", "trained on a"), _comparable("trained on a", "trained on b")
    (True, False)
    >>> _comparable(_BASELINE, "trained on a"), _comparable(_BASELINE, _PUBLISHED)
    (True, False)
    """
    if any(block.endswith("scored text included") for block in (one, other)):
        return False
    return one == other or (_BASELINE in {one, other} and _PUBLISHED not in {one, other})
