"""Finished runs for the page, in a process of their own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from tokbench.comparison.compare import compare
from tokbench.comparison.render import ComparisonPage
from tokbench.comparison.render import html as comparison_html
from tokbench.engine.workers.worker import WorkerContext
from tokbench.foundation.errors import InputError, Problem
from tokbench.foundation.failures import Failure, attempt, doing
from tokbench.measuring.job import Job
from tokbench.results.model import NamedRun, Results
from tokbench.serve.jobs import as_json

RESULTS: Final = "results.json"


def find_runs(paths: Sequence[Path]) -> list[Path]:
    """Return the ``results.json`` of each run, sorted in each folder.

    Raises:
        InputError: a path has no results; the error lists all such paths.
    """
    runs: dict[Path, None] = {}
    problems = []
    for path in paths:
        inside = [path] if path.is_file() else sorted([*path.glob(RESULTS), *path.glob(f"*/{RESULTS}")])
        if not inside:
            message = f"there is no {RESULTS} in it; give the folder of a run, such as reports/quickstart"
            problems.append(Problem(str(path), message))
        runs |= dict.fromkeys(inside)
    if problems:
        raise InputError(problems)
    return list(runs)


def written_at(path: Path) -> int:
    """Return the modification time of a file in nanoseconds, or 0.

    >>> written_at(Path("nowhere.json"))
    0
    """
    return path.stat().st_mtime_ns if path.exists() else 0


@dataclass(frozen=True)
class RunJob(Job):
    """A question about finished runs; the answer is bytes, or the failure."""

    paths: tuple[Path, ...]
    verb: ClassVar[str] = "reading results"

    @property
    def tokenizers(self) -> tuple[str, ...]:
        return ()

    def run(self, context: WorkerContext) -> Iterator[bytes | Failure]:
        with doing(self.verb, tokenizer="", place=", ".join(map(str, self.paths))):
            yield attempt(lambda: self.answer(context))

    @abstractmethod
    def answer(self, context: WorkerContext) -> bytes:
        """Return the answer."""


class DescribeRun(RunJob):
    """Return the name, extent and saved tokenizers of a run as JSON."""

    def answer(self, context: WorkerContext) -> bytes:
        [path] = self.paths
        results = _read(context, path)
        artefacts = [
            {
                "name": name,
                "path": str(path.parent / info.artefact),
                "backend": info.backend,
                "options": info.options,
            }
            for name, info in results.tokenizers.items()
            if info.artefact and (path.parent / info.artefact).is_file()
        ]
        return as_json(
            {
                "name": results.name,
                "folder": str(path.parent),
                "created": results.created,
                "seconds": results.seconds,
                "tokenizers": list(results.tokenizers),
                "corpora": list(results.corpora),
                "cells": len(results.cells),
                "failed": results.failed,
                "artefacts": artefacts,
            }
        )


class RunReport(RunJob):
    """Render the report of a run as one HTML page."""

    verb: ClassVar[str] = "rendering the report"

    def answer(self, context: WorkerContext) -> bytes:
        page = context.registry.reporters.get("html").render(_read(context, self.paths[0]))
        return page if isinstance(page, bytes) else page.encode("utf-8", "backslashreplace")


class RunComparison(RunJob):
    """Compare two runs on one HTML page; the first is the baseline."""

    verb: ClassVar[str] = "comparing runs"

    def answer(self, context: WorkerContext) -> bytes:
        one, two = (NamedRun(str(path.parent), _read(context, path)) for path in self.paths)
        return comparison_html(ComparisonPage(compare(one, two), (), 0)).encode("utf-8", "backslashreplace")


def _read(context: WorkerContext, path: Path) -> Results:
    kept: dict[Path, tuple[int, Results]] = context.kept.setdefault("results of runs", {})
    stamp = written_at(path)
    if path not in kept or kept[path][0] != stamp:
        while len(kept) > 1:
            del kept[next(iter(kept))]
        kept[path] = stamp, Results.read(path)
    return kept[path][1]
