"""``tokbench train``: a configuration's trainings alone, their artefacts, and a summary."""

from __future__ import annotations

import resource
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tokbench.batch import encode_batch
from tokbench.config.model import Config
from tokbench.errors import InputError, Problem, did_you_mean
from tokbench.guard import Failure, attempt
from tokbench.progress import Progress
from tokbench.protocol import Exports, Saves, Tokenizer
from tokbench.runner.api import check
from tokbench.runner.plan import Plan
from tokbench.runner.prepare import Prepared, train_one
from tokbench.runner.store import make_folder

__all__ = ["OWN_FORMAT", "Trained", "train"]

OWN_FORMAT = "tokbench"
"""The format that the backend itself loads."""


@dataclass(frozen=True)
class Trained:
    """What became of one training.

    Attributes:
        name, backend: of the tokenizer.
        asked, vocab_size: the size that was asked for, and that came out.
        n_bytes: size of the training text, UTF-8.
        seconds: how long training took.
        peak_mib: the largest memory of this process so far.
        compression: bytes per token on held-out text; ``None`` if nothing is held out.
        files: what was written.
        notes: what a user must know.
        failure: why there is no tokenizer; ``""`` if there is one.
    """

    name: str
    backend: str
    asked: int
    vocab_size: int = 0
    n_bytes: int = 0
    seconds: float = 0.0
    peak_mib: float = 0.0
    compression: float | None = None
    files: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()
    failure: str = ""


def train(
    config: Config, folder: Path, progress: Progress, *, only: Sequence[str] = (), formats: Sequence[str] = ()
) -> list[Trained]:
    """Train what a configuration says and write it; nothing else is loaded or measured.

    Args:
        config: the configuration.
        folder: where to write.
        progress: told of every step.
        only: names of the tokenizers to train; all by default.
        formats: formats to write, :data:`OWN_FORMAT` or those that the tokenizers export.

    Raises:
        InputError: something is wrong with the configuration, a name, or the folder.
    """
    config.tokenizers = {name: entry for name, entry in config.tokenizers.items() if entry.train}
    plan, prepared = check(config, progress)[1:]
    known = [each.name for each in prepared]
    wrong = [
        Problem("", f"no training is called {name!r}; {did_you_mean(name, known)}")
        for name in only
        if name not in known
    ]
    if wrong or not prepared:
        raise InputError(wrong or [Problem(str(config.path), "nothing to train: no tokenizer has 'train'")])
    make_folder(folder)
    chosen = [each for each in prepared if not only or each.name in only]
    return [_train(plan, each, folder, formats or (OWN_FORMAT,), progress) for each in chosen]


def _train(plan: Plan, each: Prepared, folder: Path, formats: Sequence[str], progress: Progress) -> Trained:
    planned = each.planned
    train_one(plan, each, progress)
    if each.tokenizer is None:
        return Trained(each.name, planned.spec.name, planned.vocab_size, failure=each.reason)
    tokenizer = each.tokenizer
    written = [attempt(lambda form=form: _write(tokenizer, form, folder, each.name)) for form in formats]  # type: ignore[misc]
    failures = [outcome.reason for outcome in written if isinstance(outcome, Failure)]
    return Trained(
        name=each.name,
        backend=planned.spec.name,
        asked=planned.vocab_size,
        vocab_size=tokenizer.vocab_size,
        n_bytes=each.train_bytes,
        seconds=each.train_s or 0.0,
        peak_mib=_peak_mib(),
        compression=_held_out(plan, planned.train_on, tokenizer),
        files=tuple(path for path in written if isinstance(path, Path)),
        notes=tuple(each.notes),
        failure="; ".join(failures),
    )


def _write(tokenizer: Tokenizer, form: str, folder: Path, name: str) -> Path:
    own = {OWN_FORMAT: tokenizer.file_suffix} if isinstance(tokenizer, Saves) else {}
    exports: Mapping[str, str] = tokenizer.exports if isinstance(tokenizer, Exports) else {}
    suffixes = {**own, **exports}
    if form not in suffixes:
        msg = f"cannot be written as {form!r}; {did_you_mean(form, suffixes)}"
        raise InputError(msg)
    path = folder / (name + suffixes[form])
    if form == OWN_FORMAT:
        assert isinstance(tokenizer, Saves)
        tokenizer.save(path)
    else:
        assert isinstance(tokenizer, Exports)
        tokenizer.export(form, path)
    return path


def _held_out(plan: Plan, names: Sequence[str], tokenizer: Tokenizer) -> float | None:
    """Bytes per token over the held-out parts of the training corpora."""
    n_bytes = tokens = 0
    for name in names:
        corpus = plan.corpora[name]
        if corpus.holdout:
            for shard in corpus.shards():
                n_bytes += int(shard.n_bytes.sum())
                tokens += len(encode_batch(tokenizer, shard.texts).ids)
    return n_bytes / tokens if tokens else None


def _peak_mib() -> float:
    # Linux counts kibibytes, macOS bytes.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)
