"""``study: mixtures``: trains on every mixture, and counts the tokens of every language."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Literal, NamedTuple

from tokbench import plugin
from tokbench.plugin.metrics import AskedJobs, Job, JobContext, Kept, Outcome, StudyContext
from tokbench_plugins.bpe import FIRST_MERGE, Tie, Vocabulary, pattern_name
from tokbench_plugins.bpe.compiled.encode import count_tokens
from tokbench_plugins.bpe.compiled.train import train_counts
from tokbench_trainers.mixtures.block import MixtureRow, Mixtures
from tokbench_trainers.mixtures.languages import LanguageCounts, LanguageTable, read_languages
from tokbench_trainers.mixtures.mixing import mix, shares_of
from tokbench_trainers.mixtures.options import Mixture, MixturesStudy
from tokbench_trainers.mixtures.tables import tables_by_pattern

_STEP = "training on mixtures"


class OfSize(NamedTuple):
    """The size that a training gave, and the tokens of each language."""

    ids: int
    tokens: dict[str, int]


class Trained(NamedTuple):
    """What one training gives."""

    shares: dict[str, float]
    n_bytes: dict[str, int]
    sizes: dict[int, OfSize]


@dataclass(frozen=True)
class TrainMixture(Job):
    """Train on a mixture, and count the tokens of every language; the answer is :class:`Trained`, or the failure."""

    limit: ClassVar[Literal["step", "train"]] = "train"

    name: str
    mixture: Mixture
    pattern: str
    languages: tuple[str, ...]
    sizes: tuple[int, ...]
    tie: Tie
    folder: Path
    """Of the counts."""

    @property
    def key(self) -> tuple[str, str]:
        """Its mixture and split."""
        return self.name, self.pattern

    @property
    def tokenizers(self) -> tuple[str, ...]:
        return ()

    @property
    def local_only(self) -> bool:
        return True

    def run(self, context: JobContext) -> Iterator[Trained | plugin.Failure]:
        with plugin.doing(_STEP, place=self.name):
            yield plugin.attempt(lambda: self._train(context))

    def _train(self, context: JobContext) -> Trained:
        languages = LanguageCounts.load(self.folder, self.languages)
        merges = train_counts(
            mix(languages, self.mixture),
            max(self.sizes),
            self.tie,
            lambda done, total: context.progress(f"training on {self.name}", done, total),
        )
        sizes = {}
        for size in self.sizes:
            vocabulary = Vocabulary.trained(merges[: size - FIRST_MERGE])
            lengths = count_tokens(vocabulary, languages.data, languages.offsets)
            tokens = {
                name: int(lengths[entries.chunks] @ entries.counts) for name, entries in languages.entries.items()
            }
            sizes[size] = OfSize(len(vocabulary.tokens), tokens)
        return Trained(shares_of(self.mixture, languages.n_bytes), languages.n_bytes, sizes)


def study_mixtures(context: StudyContext, options: MixturesStudy) -> Outcome:
    """Train on every mixture with every split, in workers."""
    tables = tables_by_pattern(options)
    kept = {pattern: _digests(some) for pattern, some in tables.items()}

    def kept_as(job: TrainMixture) -> Kept:
        made_from = {"mixture": job.mixture, "sizes": job.sizes, "tie": job.tie, "tables": kept[job.pattern]}
        return Kept("mixture", made_from, counted=f"{_STEP}: {{}} trainings")

    with TemporaryDirectory(prefix="tokbench-mixtures-") as folder:
        jobs = [
            TrainMixture(
                name, mixture, pattern, _languages(some), options.sizes, options.tie, Path(folder, str(number))
            )
            for number, (pattern, some) in enumerate(tables.items())
            for name, mixture in options.mixtures.items()
        ]
        stored = {job.key: value for job in jobs if (value := context.stored((), kept_as(job))) is not None}
        missing = [job for job in jobs if job.key not in stored]
        for pattern, place in {job.pattern: job.folder for job in missing}.items():
            context.progress("reading counts", len(stored), len(jobs))
            place.mkdir()
            read_languages(tables[pattern], _languages(tables[pattern]), place).save(place)
        answers = {job.key: value for job, value, _ in context.ask(AskedJobs(missing, _STEP, kept_as))}
    return _outcome(jobs, stored | answers, options, _notes(tables))


def _languages(tables: Sequence[LanguageTable]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for table in tables for name in table.languages))


def _digests(tables: Sequence[LanguageTable]) -> list[list[str]]:
    digests = []
    for table in tables:
        with table.path.open("rb") as file:
            digests.append([table.language, hashlib.file_digest(file, "sha256").hexdigest()])
    return digests


def _notes(tables: Mapping[str, Sequence[LanguageTable]]) -> list[str]:
    every = (table for some in tables.values() for table in some)
    return [f"{table.path.name}: {table.facts.left_out}" for table in every if table.facts.left_out]


def _outcome(
    jobs: Sequence[TrainMixture], answers: Mapping[tuple[str, str], Any], options: MixturesStudy, notes: list[str]
) -> Outcome:
    shares, n_bytes, rows, failures = {}, {}, [], []
    for job in jobs:
        trained, pattern = answers[job.key], pattern_name(job.pattern)
        if isinstance(trained, plugin.Failure):
            failures.append(f"{job.name}, split {pattern}: {trained.reason}")
            continue
        shares[job.name], n_bytes[pattern] = trained.shares, trained.n_bytes
        rows += [
            MixtureRow(mixture=job.name, pattern=pattern, vocab_size=size, ids=made.ids, tokens=made.tokens)
            for size, made in trained.sizes.items()
        ]
    text = shares_of(options.text or 1.0, next(iter(n_bytes.values()), {}))
    block = Mixtures(shares=shares, text=text, bytes=n_bytes, rows=rows)
    return Outcome(block=block if rows else None, notes=notes, failures=failures)
