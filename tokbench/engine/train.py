"""``tokbench train``: a configuration's trainings alone, their artefacts, and a summary; and ``tokbench.train``."""

from __future__ import annotations

import hashlib
import re
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import repeat
from operator import add
from pathlib import Path
from typing import Final, NamedTuple

from tokbench.config.model import Config
from tokbench.config.validate import validate_options
from tokbench.corpus.corpus import Reading
from tokbench.engine.check import Checked, check, worker_pool
from tokbench.engine.folder import make_folder, save_whole
from tokbench.engine.identity import Identities
from tokbench.engine.prepare import take_training, train_one
from tokbench.engine.segment import encoded_texts, text_sums
from tokbench.engine.stored import StoredWork, training_key
from tokbench.engine.surveys import StoredSurveys
from tokbench.engine.workers.pool import WorkerDied, WorkerPool
from tokbench.engine.workers.worker import WorkerContext, checked
from tokbench.foundation.errors import InputError, Problem, did_you_mean
from tokbench.foundation.failures import Failure, attempt, doing
from tokbench.foundation.progress import Progress, silent
from tokbench.foundation.store import Key, Store
from tokbench.measuring.job import Job
from tokbench.measuring.plan import Plan
from tokbench.measuring.prepared import PreparedTokenizer
from tokbench.measuring.round_trip import Loss, Number, RoundTrip, judge
from tokbench.measuring.sums import Sums
from tokbench.registry.plugins import Registry
from tokbench.tokenizers.backend import BackendSpec, GroupedText
from tokbench.tokenizers.contract import Exports, Saves, Tokenizer
from tokbench.tokenizers.options import Options

OWN_FORMAT = "tokbench"
"""The format that the backend itself loads."""

_LEAST_CHARS: Final = 100_000
"""From so many characters on it is worth while to look for a training in the store."""

_SAVED: Final = "saved training"


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
    memory: int | None = None
    """The most memory in bytes; ``None`` if the system does not tell."""
    compression: float | None = None
    """Bytes per token on held-out text; ``None`` if nothing is held out."""
    loss: Loss | RoundTrip = RoundTrip.NOT_CHECKED
    """On that text; ``NOT_CHECKED`` if nothing is held out."""
    lost_characters: float | None = None
    """The share of its characters that is lost; ``None`` likewise."""
    files: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()
    failure: Failure | None = None
    """Why the tokenizer, or a file of it, is missing."""


def round_trips(trained: Sequence[TrainedTokenizer]) -> list[RoundTrip]:
    """Return the round trip of each on its held-out text, by the rule of loss among them."""
    numbers = []
    for one in trained:
        value = one.compression or 0.0
        numbers.append(Number(value, value / one.loss.factor if isinstance(one.loss, Loss) else value, one.loss))
    return [judge(number, numbers, higher=True) for number in numbers]


def train(
    config: Config,
    folder: Path,
    progress: Progress,
    *,
    only: Sequence[str] = (),
    formats: Sequence[str] = (),
    store: Store | None = None,
) -> list[TrainedTokenizer]:
    """Train the tokenizers of a configuration and write them; nothing else is loaded or measured.

    Args:
        config: the configuration.
        folder: where to write.
        progress: called with every step.
        only: names of the tokenizers to train; all by default.
        formats: formats to write, :data:`OWN_FORMAT` or those that the tokenizers export.
        store: finished trainings are taken from it and kept there; ``None`` to train in any case.

    Raises:
        InputError: something is wrong with the configuration, a name, or the folder.
    """
    began = time.time_ns()
    config = replace(config, tokenizers={name: entry for name, entry in config.tokenizers.items() if entry.train})
    with worker_pool(config, progress) as pool:
        (registry, plan, _), chosen = _choose(config, only, pool, StoredSurveys(store))
        make_folder(folder)
        written = tuple(formats) or (OWN_FORMAT,)
        stored = StoredWork(store, registry, plan, began)
        trained = [
            _train(plan, tokenizer, WriteTokenizer(tokenizer.name, folder, written), pool, stored)
            for tokenizer in chosen
        ]
    stored.end()
    return trained


def _choose(
    config: Config, only: Sequence[str], pool: WorkerPool, surveys: StoredSurveys
) -> tuple[Checked, list[PreparedTokenizer]]:
    checked = check(config, pool, surveys)
    prepared = checked.prepared
    known = [tokenizer.name for tokenizer in prepared]
    unknown = [name for name in only if name not in known]
    wrong = [Problem("", f"no training is called {name!r}; {did_you_mean(name, known)}") for name in unknown]
    if wrong or not prepared:
        raise InputError(wrong or [Problem(str(config.path), "nothing to train: no tokenizer has 'train'")])
    return checked, [tokenizer for tokenizer in prepared if not only or tokenizer.name in only]


class WrittenTokenizer(NamedTuple):
    """The files of a tokenizer, and what it makes of the held-out text."""

    written: list[Path | Failure]
    held_out: Sums | None
    """Tokens, bytes, characters and losses; ``None`` without such a text."""


@dataclass(frozen=True)
class WriteTokenizer(Job):
    """Write a tokenizer in some formats, and encode the feed ``held out``; the answer is :class:`WrittenTokenizer`."""

    name: str
    folder: Path
    formats: tuple[str, ...]

    @property
    def tokenizers(self) -> tuple[str, ...]:
        return (self.name,)

    def run(self, context: WorkerContext) -> Iterator[WrittenTokenizer]:
        tokenizer = context.tokenizer(self.name)
        with doing("writing", tokenizer=self.name, place=self.name):
            written = [attempt(lambda form=form: self._write(tokenizer, form)) for form in self.formats]  # type: ignore[misc]
        with doing("encoding", tokenizer=self.name, place="the held-out text"):
            loaded = context.loaded(self.name)
            parts = [text_sums(encoded_texts(loaded, texts)) for texts in context.batches("held out")]
        yield WrittenTokenizer(written, reduce(add, parts) if parts else None)

    def _write(self, tokenizer: Tokenizer, form: str) -> Path:
        own = {OWN_FORMAT: tokenizer.file_suffix} if isinstance(tokenizer, Saves) else {}
        exports: Mapping[str, str] = tokenizer.exports if isinstance(tokenizer, Exports) else {}
        suffixes = {**own, **exports}
        if form not in suffixes:
            raise InputError(f"cannot be written as {form!r}; {did_you_mean(form, suffixes)}")
        path = self.folder / (self.name + suffixes[form])
        if form == OWN_FORMAT:
            assert isinstance(tokenizer, Saves)
            return save_whole(path, tokenizer.save).path
        assert isinstance(tokenizer, Exports)
        tokenizer.export(form, path)
        return path


def _train(
    plan: Plan, tokenizer: PreparedTokenizer, write: WriteTokenizer, pool: WorkerPool, stored: StoredWork
) -> TrainedTokenizer:
    if not tokenizer.planned.absent:
        taken = take_training(tokenizer, pool, stored, with_memory=False)
        tokenizer = taken or train_one(plan, tokenizer, pool, stored, alone=True)
    if tokenizer.facts is None:
        return TrainedTokenizer(tokenizer.name, failure=tokenizer.failure)
    readings = list[Reading]()

    def feeds() -> dict[str, Reading]:
        readings.append(_held_out(plan, tokenizer.planned.train_on))
        return {"held out": readings[-1]}

    answer: WrittenTokenizer | WorkerDied = pool.ask(write, feeds)
    if isinstance(answer, WorkerDied):
        return TrainedTokenizer(tokenizer.name, failure=answer.failure)
    failures = [outcome for outcome in answer.written if isinstance(outcome, Failure)]
    held_out = readings[-1]
    failures += held_out.failures.values()
    held = None if held_out.failures else answer.held_out
    total = {name: float(column.sum()) for name, column in held.columns.items()} if held else {}
    joined = Failure("; ".join(x.reason for x in failures), traceback="\n".join(x.traceback for x in failures))
    return TrainedTokenizer(
        name=tokenizer.name,
        vocab_size=tokenizer.facts.vocab_size,
        n_bytes=tokenizer.train_bytes,
        seconds=tokenizer.train_s or 0.0,
        from_store=tokenizer.train_from_store,
        memory=tokenizer.train_memory,
        compression=total["bytes"] / total["tokens"] if total.get("tokens") else None,
        loss=Loss.of(held) if held else RoundTrip.NOT_CHECKED,
        lost_characters=total["lost characters"] / (total["characters"] or 1.0) if total else None,
        files=tuple(path for path in answer.written if isinstance(path, Path)),
        notes=tokenizer.notes,
        failure=joined if failures else None,
    )


def _held_out(plan: Plan, names: Sequence[str]) -> Reading:
    return Reading({name: plan.corpora[name].evaluation() for name in names if plan.corpora[name].holdout})


def train_here(
    registry: Registry,
    spec: BackendSpec,
    documents: Iterable[str],
    vocab_size: int,
    options: Options,
    store: Store | None,
) -> Tokenizer:
    """Train one tokenizer in this process, or take it from the store.

    Only documents that can be read twice are looked up, because what is kept is known by the hash of its text. That
    hash is taken again while the text is trained on. Short texts are trained on at once. The store has the saved file,
    which the backend loads: nothing of the store is unpickled here.

    Args:
        registry: the plugins.
        spec: the backend, which has ``train``.
        documents: the training text.
        vocab_size: how many ids the tokenizer gets at most.
        options: of the training.
        store: finished trainings are taken from it and kept there; ``None`` to train in any case.

    Raises:
        BackendError: the training failed.
    """
    assert spec.train is not None
    once = documents.once if isinstance(documents, GroupedText) else isinstance(documents, Iterator)
    began = time.time_ns()
    before = _TextHash(() if store is None or once else documents)
    for _ in before:
        pass
    if store is None or before.chars < _LEAST_CHARS:
        return spec.train(documents, vocab_size, options, silent)
    identities, documents_sha256 = Identities(), {"documents": before.hexdigest()}
    known = attempt(lambda: training_key(identities, registry, spec, options, vocab_size, documents_sha256))
    taken = None if isinstance(known, Failure) else _taken(store, known.key, spec, options)
    if taken is not None:
        return taken
    text = _TextHash(documents)
    trained = spec.train(text.for_training(), vocab_size, options, silent)
    if isinstance(known, Failure) or text.hexdigest() != before.hexdigest():
        return trained
    saved = attempt(lambda: _saved(trained, spec, options))
    if isinstance(saved, bytes) and all(stamp.holds(began) for stamp in [*identities.stamps, *known.stamps]):
        store.put(_SAVED, known.key, saved)
    return trained


def _taken(store: Store, key: Key, spec: BackendSpec, options: Options) -> Tokenizer | None:
    """Return the tokenizer of a training in the store, or ``None`` if there is none that can be used."""
    saved = store.get(_SAVED, key)
    tokenizer = attempt(lambda: _loaded(saved, spec, options)) if saved is not None else None
    if isinstance(tokenizer, Failure):
        store.damaged(_SAVED, key, tokenizer.reason)
        return None
    return tokenizer


def _saved(tokenizer: Tokenizer, spec: BackendSpec, options: Options) -> bytes | None:
    """Return the end of the name of a tokenizer's file, and its content; ``None`` if it cannot be loaded again."""
    if not isinstance(tokenizer, Saves) or spec.load is None or "path" not in spec.load_options.model_fields:
        return None
    with tempfile.TemporaryDirectory() as folder:
        file = save_whole(Path(folder, f"tokenizer{tokenizer.file_suffix}"), tokenizer.save).path
        saved = tokenizer.file_suffix.encode() + b"\n" + file.read_bytes()
    return saved if _loaded(saved, spec, options).vocab_size == tokenizer.vocab_size else None


def _loaded(saved: bytes, spec: BackendSpec, options: Options) -> Tokenizer:
    """Load what :func:`_saved` returned, with the options of training that loading has, too.

    Raises:
        InputError: it is something else.
        Exception: of the backend.
    """
    assert spec.load is not None
    suffix, _, content = saved.partition(b"\n")
    if not re.fullmatch(rb"\.[\w.-]{1,60}", suffix):
        raise InputError("its first line is not the end of a file's name")
    shared = options.model_fields_set & spec.load_options.model_fields.keys()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"tokenizer{suffix.decode()}")
        file.write_bytes(content)
        given = {**{name: getattr(options, name) for name in shared}, "path": file}
        return checked(spec.load(validate_options(spec.load_options, given, "load")))


class _TextHash:
    """Yields documents, and hashes and counts those that it has yielded."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = texts
        self._digest = hashlib.sha256()
        self.chars = 0
        """The number of characters so far."""

    def __iter__(self) -> Iterator[str]:
        return (text for _, text in self._grouped())

    def for_training(self) -> Iterable[str]:
        return GroupedText(self._grouped()) if isinstance(self._texts, GroupedText) else self

    def _grouped(self) -> Iterator[tuple[str, str]]:
        texts = self._texts
        has_groups = isinstance(texts, GroupedText)
        for group, text in texts.grouped() if isinstance(texts, GroupedText) else zip(repeat(""), texts):
            data = text.encode("utf-8", "surrogatepass")
            self.chars += len(text)
            self._digest.update(b"%d\n" % len(data) + data)
            if has_groups:
                self._digest.update(f"in {group}\n".encode("utf-8", "surrogatepass"))
            yield group, text

    def hexdigest(self) -> str:
        return self._digest.hexdigest()
