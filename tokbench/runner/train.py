"""``tokbench train``: a configuration's trainings alone, their artefacts, and a summary."""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tokbench.batch import encode_batch
from tokbench.config.model import Config
from tokbench.contracts.tokenizer import Exports, Saves, Tokenizer
from tokbench.corpus.corpus import Reading
from tokbench.errors import InputError, Problem, did_you_mean
from tokbench.failures import Failure, attempt, doing
from tokbench.progress import Progress
from tokbench.runner.folder import make_folder
from tokbench.runner.plan import Plan
from tokbench.runner.prepare import PreparedTokenizer, check, train_one, worker_pool
from tokbench.runner.workers.pool import WorkerDied, WorkerPool
from tokbench.runner.workers.worker import Job, WorkerContext

OWN_FORMAT = "tokbench"
"""The format that the backend itself loads."""


@dataclass(frozen=True)
class TrainedTokenizer:
    """The outcome of one training.

    Attributes:
        vocab_size: the real size, which may be less than was asked for.
        n_bytes: size of the training text, UTF-8.
        seconds: how long training took.
        peak_mib: the largest memory so far of the process that trained it.
        compression: bytes per token on held-out text; ``None`` if nothing is held out.
        files: what was written.
        notes: what a user must know.
        failure: why there is no tokenizer, or why a file of it is missing.
    """

    name: str
    vocab_size: int = 0
    n_bytes: int = 0
    seconds: float = 0.0
    peak_mib: float = 0.0
    compression: float | None = None
    files: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()
    failure: Failure | None = None


def train(
    config: Config, folder: Path, progress: Progress, *, only: Sequence[str] = (), formats: Sequence[str] = ()
) -> list[TrainedTokenizer]:
    """Train the tokenizers of a configuration and write them; nothing else is loaded or measured.

    Args:
        config: the configuration.
        folder: where to write.
        progress: called with every step.
        only: names of the tokenizers to train; all by default.
        formats: formats to write, :data:`OWN_FORMAT` or those that the tokenizers export.

    Raises:
        InputError: something is wrong with the configuration, a name, or the folder.
    """
    config.tokenizers = {name: entry for name, entry in config.tokenizers.items() if entry.train}
    with worker_pool(config, progress) as pool:
        plan, chosen = _choose(config, only, pool)
        make_folder(folder)
        written = tuple(formats) or (OWN_FORMAT,)
        return [_train(plan, each, WriteTokenizer(each.name, folder, written), pool) for each in chosen]


def _choose(config: Config, only: Sequence[str], pool: WorkerPool) -> tuple[Plan, list[PreparedTokenizer]]:
    plan, prepared = check(config, pool)[1:]
    known = [each.name for each in prepared]
    unknown = [name for name in only if name not in known]
    wrong = [Problem("", f"no training is called {name!r}; {did_you_mean(name, known)}") for name in unknown]
    if wrong or not prepared:
        raise InputError(wrong or [Problem(str(config.path), "nothing to train: no tokenizer has 'train'")])
    return plan, [each for each in prepared if not only or each.name in only]


class WrittenTokenizer(NamedTuple):
    """The files of a tokenizer, its tokens on the held-out text, and the peak memory of its process."""

    written: list[Path | Failure]
    n_bytes: int
    tokens: int
    peak_mib: float


@dataclass(frozen=True)
class WriteTokenizer(Job):
    """Write a tokenizer in some formats, and encode the feed ``held out``; the answer is :class:`WrittenTokenizer`."""

    name: str
    folder: Path
    formats: tuple[str, ...]

    @property
    def tokenizers(self) -> tuple[str, ...]:
        """See :class:`tokbench.runner.workers.worker.Job`."""
        return (self.name,)

    def run(self, context: WorkerContext) -> Iterator[WrittenTokenizer]:
        """See :class:`tokbench.runner.workers.worker.Job`."""
        tokenizer = context.tokenizer(self.name)
        with doing("writing", tokenizer=self.name, place=self.name):
            written = [attempt(lambda form=form: self._write(tokenizer, form)) for form in self.formats]  # type: ignore[misc]
        n_bytes = tokens = 0
        with doing("encoding", tokenizer=self.name, place="the held-out text"):
            for texts in context.batches("held out"):
                n_bytes += sum(len(text.encode()) for text in texts)
                tokens += len(encode_batch(tokenizer, texts).ids)
        yield WrittenTokenizer(written, n_bytes, tokens, _peak_mib())

    def _write(self, tokenizer: Tokenizer, form: str) -> Path:
        own = {OWN_FORMAT: tokenizer.file_suffix} if isinstance(tokenizer, Saves) else {}
        exports: Mapping[str, str] = tokenizer.exports if isinstance(tokenizer, Exports) else {}
        suffixes = {**own, **exports}
        if form not in suffixes:
            raise InputError(f"cannot be written as {form!r}; {did_you_mean(form, suffixes)}")
        path = self.folder / (self.name + suffixes[form])
        if form == OWN_FORMAT:
            assert isinstance(tokenizer, Saves)
            tokenizer.save(path)
        else:
            assert isinstance(tokenizer, Exports)
            tokenizer.export(form, path)
        return path


def _train(plan: Plan, each: PreparedTokenizer, write: WriteTokenizer, pool: WorkerPool) -> TrainedTokenizer:
    each = train_one(plan, each, pool)
    if each.facts is None:
        return TrainedTokenizer(each.name, failure=each.failure)
    held_out = _held_out(plan, each.planned.train_on)
    answer: WrittenTokenizer | WorkerDied = pool.ask(write, lambda: {"held out": held_out})
    if isinstance(answer, WorkerDied):
        return TrainedTokenizer(each.name, failure=answer.failure)
    failures = [outcome for outcome in answer.written if isinstance(outcome, Failure)]
    failures += held_out.failures.values()
    joined = Failure("; ".join(x.reason for x in failures), traceback="\n".join(x.traceback for x in failures))
    return TrainedTokenizer(
        name=each.name,
        vocab_size=each.facts.vocab_size,
        n_bytes=each.train_bytes,
        seconds=each.train_s or 0.0,
        peak_mib=answer.peak_mib,
        compression=answer.n_bytes / answer.tokens if answer.tokens and not held_out.failures else None,
        files=tuple(path for path in answer.written if isinstance(path, Path)),
        notes=each.notes,
        failure=joined if failures else None,
    )


def _held_out(plan: Plan, names: Sequence[str]) -> Reading:
    """Return the held-out documents of the training corpora."""
    return Reading({name: plan.corpora[name].evaluation() for name in names if plan.corpora[name].holdout})


def _peak_mib() -> float:
    # Linux counts kibibytes, macOS bytes.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)
