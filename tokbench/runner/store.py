"""The run's folder: every file is written whole or not at all."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tokbench.atomic import write_atomically
from tokbench.errors import InputError, Problem
from tokbench.guard import Failure, attempt
from tokbench.protocol import Saves
from tokbench.reporter import ReporterSpec
from tokbench.results import Results
from tokbench.runner.prepare import Prepared

__all__ = ["make_folder", "save_artefacts", "write_reports"]


def make_folder(folder: Path) -> None:
    """Make the run's folder before anything is measured.

    Raises:
        InputError: it cannot be made or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(
            [Problem(str(folder), f"cannot be written to: {error.strerror}; choose another with -o")]
        ) from error


def save_artefacts(folder: Path, prepared: list[Prepared]) -> dict[str, dict[str, str]]:
    """Save what was trained; by tokenizer its file and the file's sha256, or why it could not be saved."""
    saved: dict[str, dict[str, str]] = {}
    for each in prepared:
        tokenizer = each.tokenizer
        if not each.planned.train_on or not isinstance(tokenizer, Saves):
            continue
        (folder / "artefacts").mkdir(exist_ok=True)
        path = folder / "artefacts" / (each.name + tokenizer.file_suffix)
        outcome = attempt(lambda tokenizer=tokenizer, path=path: tokenizer.save(path))
        if isinstance(outcome, Failure):
            each.notes.append(f"not saved: {outcome.reason}")
        else:
            saved[each.name] = {
                "artefact": path.relative_to(folder).as_posix(),
                "artefact_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            }
    return saved


def write_reports(folder: Path, results: Results, reporters: list[ReporterSpec]) -> list[str]:
    """Write ``results.json``, then every report; what cannot be made or written is told, and the others go on."""
    files = [("results.json", results.to_json)]
    files += [(each.filename, partial(each.render, results)) for each in reporters]
    troubles = []
    for name, text in files:
        outcome = attempt(partial(_write, folder / name, text), name)
        if isinstance(outcome, Failure):
            troubles.append(outcome.reason)
    return troubles


def _write(path: Path, text: Callable[[], str]) -> None:
    write_atomically(path, text().encode("utf-8", "backslashreplace"))
