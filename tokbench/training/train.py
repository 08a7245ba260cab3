"""``tokbench train``: a configuration's trainings alone, their artefacts, and a summary; and ``tokbench.train``."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import chain, repeat
from operator import add
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from tokbench.config.model import Config
from tokbench.corpus.corpus import Corpus, feed
from tokbench.engine.check import check, worker_pool
from tokbench.engine.folder import make_folder
from tokbench.engine.identity import Identities
from tokbench.engine.prepare import take_training, train_one
from tokbench.engine.run import Run
from tokbench.engine.stored import training_key
from tokbench.engine.workers.pool import WorkerDied
from tokbench.engine.workers.worker import WorkerContext
from tokbench.foundation.errors import InputError, Problem, did_you_mean
from tokbench.foundation.failures import Failure, attempt, doing
from tokbench.foundation.progress import Progress, silent
from tokbench.foundation.store import Store
from tokbench.measuring.job import Job
from tokbench.measuring.plan import RunTokenizer
from tokbench.measuring.round_trip import Loss, RoundTrip
from tokbench.measuring.sums import Sums
from tokbench.registry.plugins import Registry
from tokbench.segmentation.segment import encoded_texts, text_sums
from tokbench.tokenizers.backend import BackendSpec, GroupedText
from tokbench.tokenizers.contract import Tokenizer
from tokbench.tokenizers.options import Options
from tokbench.training.written import (
    OWN,
    OWN_FORMAT,
    TRANSFORMERS,
    Wanted,
    texts_to_compare,
    write,
)
from tokbench.training.written import check as check_files

_LEAST_CHARS: Final = 100_000
"""From so many characters on it is worth while to look for a training in the store."""

_SMALL: Final = GroupedText([("en", "a small text, a small vocabulary"), ("de", "ein kleiner Text")])
_COMPARED: Final = 1000
"""Held-out texts that are read with the written files; the difficult texts come on top."""

_TRAINED_HERE: Final = "trained here"


@dataclass(frozen=True)
class TrainedTokenizer:
    """The outcome of one training."""

    name: str
    vocab_size: int = 0
    """The real size, which may be less than was asked for."""
    n_bytes: int = 0
    """The UTF-8 bytes of the training text."""
    seconds: float = 0.0
    """Perhaps of an earlier run."""
    from_store: bool = False
    memory_mb: float | None = None
    """The most memory, 10^6 bytes; ``None`` if the system does not tell."""
    compression: float | None = None
    """Bytes per token on held-out text; ``None`` if nothing is held out."""
    loss: Loss | RoundTrip = RoundTrip.NOT_CHECKED
    """On that text; ``NOT_CHECKED`` if nothing is held out."""
    files: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()
    failure: Failure | None = None
    """Why the tokenizer, or a file of it, is missing."""

    @property
    def round_trip(self) -> RoundTrip:
        """The round trip of its held-out text, by the rule of loss."""
        return self.loss.round_trip() if isinstance(self.loss, Loss) else self.loss

    @property
    def lost_characters(self) -> float | None:
        """The share of the characters of its held-out text that is lost; ``None`` if nothing is held out."""
        return self.loss.lost if isinstance(self.loss, Loss) else None


def train(
    config: Config,
    folder: Path,
    progress: Progress,
    *,
    only: Sequence[str] = (),
    wanted: Wanted = OWN,
    store: Store | None = None,
) -> list[TrainedTokenizer]:
    """Train the tokenizers of a configuration and write them; nothing else is loaded or measured.

    Args:
        config: the configuration.
        folder: where to write.
        progress: called with every step.
        only: names of the tokenizers to train; all by default.
        wanted: formats and special tokens; they are tried on a small vocabulary before anything is trained.
        store: finished trainings are taken from it and kept there; ``None`` to train in any case.

    Raises:
        InputError: something is wrong with the configuration, a name, or the folder.
    """
    config = replace(config, tokenizers={name: entry for name, entry in config.tokenizers.items() if entry.train})
    with worker_pool(config, progress) as pool:
        run = check(config, pool, store)
        chosen = _choose(run, only)
        tried = [_try(tokenizer, wanted) for tokenizer in chosen]
        make_folder(folder)
        trained = []
        for tokenizer, (possible, notes) in zip(chosen, tried, strict=True):
            job = WriteTokenizer(tokenizer.name, tokenizer.spec.name, folder, possible)
            one = _train(run, tokenizer, job)
            trained.append(replace(one, notes=(*one.notes, *notes)))
    run.stored.end()
    return trained


def _choose(run: Run, only: Sequence[str]) -> list[RunTokenizer]:
    tokenizers = run.plan.tokenizers
    known = [tokenizer.name for tokenizer in tokenizers]
    wrong = [
        Problem(f"--only {name}", f"no training is called {name!r}; {did_you_mean(name, known)}")
        for name in only
        if name not in known
    ]
    if wrong or not tokenizers:
        raise InputError(wrong or [Problem(str(run.plan.config.path), "nothing to train: no tokenizer has 'train'")])
    return [tokenizer for tokenizer in tokenizers if not only or tokenizer.name in only]


def _try(tokenizer: RunTokenizer, wanted: Wanted) -> tuple[Wanted, list[str]]:
    """Write and read a small vocabulary; return what can be written and why not all, or raise InputError."""
    asked = replace(wanted, output=None) != OWN or getattr(tokenizer.options, "special_tokens", None)
    if tokenizer.spec.train is None or tokenizer.failure or not (asked or wanted.output):
        return wanted, []
    small = attempt(partial(tokenizer.spec.train, _SMALL, tokenizer.vocab_size, tokenizer.options, silent))
    if isinstance(small, Failure):
        return wanted, [f"formats and special tokens could not be tried before training: {small.reason}"]
    with TemporaryDirectory() as folder:
        here = replace(wanted, output=wanted.output and Path(folder, wanted.output.name))
        for form, path in here.paths(small, Path(folder), tokenizer.name).items():
            try:
                files = write(small, form, path, wanted)
                check_files(small, files, tokenizer.spec.name, list(_SMALL))
            except Exception as error:  # libraries raise anything
                reason = str(error).replace(f"{folder}/", "")
                if form == TRANSFORMERS and not asked:
                    return replace(wanted, formats=(OWN_FORMAT,)), [f"not written for AutoTokenizer: {reason}"]
                raise InputError([Problem("", f"{tokenizer.name}: {reason}")]) from error
    return wanted, []


class WrittenTokenizer(NamedTuple):
    """The files of a tokenizer, and what it makes of the held-out text."""

    files: list[Path]
    notes: list[str]
    failures: list[Failure]
    held_out: Sums | None
    """Tokens, bytes, characters and losses; ``None`` without such a text."""


@dataclass(frozen=True)
class WriteTokenizer(Job):
    """Write a tokenizer in some formats, and encode the feed ``held out``; the answer is :class:`WrittenTokenizer`."""

    name: str
    backend: str
    folder: Path
    wanted: Wanted

    @property
    def tokenizers(self) -> tuple[str, ...]:
        return (self.name,)

    def run(self, context: WorkerContext) -> Iterator[WrittenTokenizer]:
        tokenizer = context.tokenizer(self.name)
        paths = self.wanted.paths(tokenizer, self.folder, self.name)
        with doing("writing", tokenizer=self.name, place=self.name):
            written = [attempt(partial(write, tokenizer, form, path, self.wanted)) for form, path in paths.items()]
        with doing("encoding", tokenizer=self.name, place="the held-out text"):
            loaded = context.loaded(self.name)
            texts, parts = list[str](), list[Sums]()
            for batch in context.batches("held out"):
                texts += batch[: _COMPARED - len(texts)]
                parts.append(text_sums(encoded_texts(loaded, batch)))
        answer = WrittenTokenizer([], [], [], reduce(add, parts) if parts else None)
        with doing("reading back", tokenizer=self.name, place=self.name):
            texts = texts_to_compare(tokenizer, texts)
            for files in written:
                if isinstance(files, Failure):
                    answer.failures.append(files)
                elif isinstance(said := attempt(partial(check_files, tokenizer, files, self.backend, texts)), Failure):
                    answer.failures.append(said)
                else:
                    answer.files.extend(files.values())
                    answer.notes.extend(said)
        yield answer


def _train(run: Run, tokenizer: RunTokenizer, write: WriteTokenizer) -> TrainedTokenizer:
    if not tokenizer.failure and not take_training(run, tokenizer, with_memory=False):
        train_one(run, tokenizer, alone=True)
    info, train = tokenizer.info, tokenizer.info.train
    if not tokenizer.ready or train is None:
        return TrainedTokenizer(tokenizer.name, failure=tokenizer.failure)
    held_out = [corpus for name in tokenizer.train_on if (corpus := run.plan.corpora[name]).holdout]
    feeds = partial(_held_out, held_out)
    answer: WrittenTokenizer | WorkerDied = run.pool.ask(write, feeds)
    if isinstance(answer, WorkerDied):
        return TrainedTokenizer(tokenizer.name, failure=answer.failure)
    failures, held = answer.failures, answer.held_out
    total = {name: float(column.sum()) for name, column in held.columns.items()} if held else {}
    joined = Failure("; ".join(x.reason for x in failures), traceback="\n".join(x.traceback for x in failures))
    return TrainedTokenizer(
        name=tokenizer.name,
        vocab_size=info.vocab_size or 0,
        n_bytes=train.bytes,
        seconds=train.seconds or 0.0,
        from_store=train.from_store,
        memory_mb=train.memory_mb,
        compression=total["bytes"] / total["tokens"] if total.get("tokens") else None,
        loss=Loss.of(held) if held else RoundTrip.NOT_CHECKED,
        files=tuple(answer.files),
        notes=(*info.notes, *answer.notes),
        failure=joined if failures else None,
    )


def _held_out(corpora: Iterable[Corpus]) -> dict[str, Iterator[str]]:
    return {"held out": feed(chain.from_iterable(corpus.evaluation() for corpus in corpora))}


def train_here(
    registry: Registry,
    spec: BackendSpec,
    documents: Iterable[str],
    vocab_size: int,
    options: Options,
    store: Store | None,
) -> Tokenizer:
    """Train one tokenizer in this process; long texts that can be read twice are looked up in the store."""
    assert spec.train is not None
    train = partial(spec.train, documents, vocab_size, options, silent)
    once = documents.once if isinstance(documents, GroupedText) else isinstance(documents, Iterator)
    if store is None or once or sum(map(len, documents)) < _LEAST_CHARS:
        return train()
    text = {"documents": _digest_of(documents)}
    key = attempt(lambda: training_key(Identities(), registry, spec, options, vocab_size, text))
    if isinstance(key, Failure):
        return train()
    taken: Tokenizer | None = store.value(_TRAINED_HERE, key)
    if taken is not None:
        return taken
    trained = train()
    attempt(lambda: store.put_value(_TRAINED_HERE, key, trained))  # it may be one that cannot be pickled
    return trained


def _digest_of(documents: Iterable[str]) -> str:
    digest = hashlib.sha256()
    grouped = documents.grouped() if isinstance(documents, GroupedText) else zip(repeat(None), documents)
    for group, text in grouped:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(f"{group!r} {len(data)}\n".encode() + data)
    return digest.hexdigest()
