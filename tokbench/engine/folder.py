"""The run's folder: every file is written whole or not at all."""

from __future__ import annotations

import glob
import hashlib
import os
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from tokbench.engine.workers.pool import WorkerDied, WorkerPool
from tokbench.foundation.errors import InputError, Problem
from tokbench.foundation.failures import Failure, attempt
from tokbench.foundation.files import UNFINISHED, remove_unfinished, unfinished_prefix, write_atomically
from tokbench.foundation.progress import Progress, silent
from tokbench.measuring.job import TokenizerJob
from tokbench.measuring.plan import RunTokenizer
from tokbench.registry.foreign import distributions_of
from tokbench.results.blocks import NOT_SAVED, StatesFile
from tokbench.results.model import Results
from tokbench.results.reporter import ReporterSpec
from tokbench.tokenizers.contract import Saves, Tokenizer

STATES: Final = "states.jsonl.gz"
"""Next to ``results.json``."""

PREVIOUS: Final = "previous"
"""The folder in a run's folder that keeps the files of the run before."""


def make_folder(folder: Path) -> None:
    """Make the run's folder, and delete what a killed run has left unfinished there, or raise InputError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        remove_unfinished(folder)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(
            [Problem(str(folder), f"cannot be written to: {error.strerror}; choose another with -o")]
        ) from error


class SavedFile(NamedTuple):
    """A file that a tokenizer was saved to."""

    path: Path
    sha256: str


def save_whole(path: Path, save: Callable[[Path], object]) -> SavedFile:
    """Let a tokenizer write a file, and put it in its place when it is whole, with what is named ``NAME.*`` next to it.

    Raises:
        ValueError: it wrote no file.
        Exception: whatever ``save`` raises; then nothing is left behind.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_unfinished(path.parent)
    with tempfile.TemporaryDirectory(UNFINISHED, unfinished_prefix(path), path.parent) as scratch:
        made = Path(scratch) / path.name
        try:
            save(made)
        except OSError as error:
            if error.filename == str(made):
                error.filename = str(path)  # the file that a reader knows
            raise
        if not made.is_file() or made.is_symlink():
            what = "something other than a file" if os.path.lexists(made) else "nothing"
            raise ValueError(f"its save wrote {what}; it must write one file, {path.name}")
        digest = hashlib.sha256(made.read_bytes()).hexdigest()
        if path.is_dir() and not path.is_symlink():
            raise ValueError(f"{path} is a folder; remove it, or choose another folder with -o")
        for beside in Path(scratch).glob(f"{glob.escape(path.name)}.*"):
            beside.replace(path.with_name(beside.name))
        made.replace(path)
    return SavedFile(path, digest)


def _save(folder: Path, name: str, tokenizer: Tokenizer) -> SavedFile | None:
    if not isinstance(tokenizer, Saves):
        return None
    return save_whole(folder / "artefacts" / (name + tokenizer.file_suffix), tokenizer.save)


def save_artefact(folder: Path, tokenizer: RunTokenizer, pool: WorkerPool) -> None:
    """Save a trained tokenizer, and add its file with the sha256 to its block, or a note that it failed."""
    answer = pool.ask(
        TokenizerJob((tokenizer.name,), "saving", "", partial(_save, folder, tokenizer.name), local_only=True)
    )
    outcome = answer.failure if isinstance(answer, WorkerDied) else answer
    if isinstance(outcome, Failure):
        tokenizer.info.notes.append(f"{NOT_SAVED}: {outcome.reason}")
    elif outcome:
        tokenizer.info.artefact = outcome.path.relative_to(folder).as_posix()
        tokenizer.info.artefact_sha256 = outcome.sha256


def write_run(folder: Path, results: Results, reporters: Sequence[ReporterSpec], progress: Progress = silent) -> None:
    """Write raw states, ``results.json`` and every report; what could not be written is in ``problems``.

    The files of the run before are kept in ``previous``, so that ``tokbench compare`` has both. ``results.written``
    gets the files. Raw states that cannot be written are in ``results.json``.
    """
    moved = attempt(partial(_keep_previous, folder, reporters))
    if isinstance(moved, Failure):
        results.notes.append(f"the run before is not kept: {moved.reason}")
    files: list[tuple[str, Callable[[], object]]] = [
        (STATES, partial(_write_states, folder, results)),
        ("results.json", partial(_write, folder / "results.json", results.to_json)),
    ]
    files += [
        (reporter.filename, partial(_write, folder / reporter.filename, partial(reporter.content, results)))
        for reporter in sorted(reporters, key=_asks_strangers)
    ]
    from tokbench.engine.reports import shared_report  # late: charts and sections, which few commands need

    problems: list[str] = []
    with shared_report(results):
        for done, (name, write) in enumerate(files):
            progress("writing reports", done, len(files))
            outcome = attempt(write, name)
            if isinstance(outcome, Failure):
                problems.append(outcome.reason)
            elif folder / name not in results.written:
                results.written.append(folder / name)
    results.problems = problems + [problem for problem in results.problems if problem not in problems]
    progress("writing reports", len(files), len(files))


def _asks_strangers(reporter: ReporterSpec) -> tuple[bool, bool]:
    """Return the key that puts tables of numbers first, then reports, and formats of other packages last."""
    return bool(distributions_of(reporter.render)), not reporter.filename.endswith(".csv")


def _keep_previous(folder: Path, reporters: Sequence[ReporterSpec]) -> None:
    if (folder / "results.json").is_file():
        (folder / PREVIOUS).mkdir(exist_ok=True)
        for name in ("results.json", STATES, *(reporter.filename for reporter in reporters)):
            if (folder / name).is_file():
                (folder / name).replace(folder / PREVIOUS / name)


def _write_states(folder: Path, results: Results) -> None:
    data = results.states.to_bytes()
    write_atomically(folder / STATES, data)
    digest = hashlib.sha256(data).hexdigest()
    results.states_file = StatesFile(file=STATES, sha256=digest, states=len(results.states))


def write_again(folder: Path, results: Results) -> list[str]:
    """Write ``results.json`` again, with the times of the reports; return the problems."""
    path = folder / "results.json"
    if path not in results.written:
        return []
    outcome = attempt(lambda: _write(path, results.to_json), path.name)
    return [outcome.reason] if isinstance(outcome, Failure) else []


def _write(path: Path, content: Callable[[], str | bytes]) -> None:
    data = content()
    write_atomically(path, data if isinstance(data, bytes) else data.encode("utf-8", "backslashreplace"))
