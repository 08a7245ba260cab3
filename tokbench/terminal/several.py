"""Several configurations in one command: all are checked first, then each runs into its own folder."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tokbench.foundation.errors import InputError, Problem, TokbenchError, one_line
from tokbench.terminal.options import say

if TYPE_CHECKING:
    from tokbench.config.model import Config
    from tokbench.config.overrides import Overrides
    from tokbench.engine.run import Run
    from tokbench.engine.workers.executor import Executor
    from tokbench.foundation.display import Log


@dataclass(frozen=True)
class PlannedRun:
    """A configuration, as a path or suite name, and its output folder."""

    config: Path
    folder: Path


def plan_runs(given: Sequence[Path], output: Path | None, overrides: Overrides, workers: int = 1) -> list[PlannedRun]:
    """Return the runs of a command; all are checked before the first begins, with 0 ``workers`` in this process.

    Several runs have subfolders of ``output``. An InputError lists all problems of all configurations.
    """
    from tokbench.config.read import read_config
    from tokbench.config.suites import find_configs
    from tokbench.engine.folder import make_folder
    from tokbench.engine.workers.executor import Executor

    paths = find_configs(given)
    if len(paths) == 1:
        name = read_config(paths[0], overrides).name or "run"
        inside = given[0] != paths[0]
        return [PlannedRun(paths[0], Path("reports", name) if output is None else output / name if inside else output)]
    runs = []

    def plan(path: Path, config: Config) -> None:
        folder = (output or Path("reports")) / (config.name or "run")
        runs.append(PlannedRun(path, folder))
        _checked(config, "none", Executor(min(workers, 1)))
        make_folder(folder)

    _each(paths, overrides, plan)
    return runs


def check_each(given: Sequence[Path], overrides: Overrides, show: Callable[[Path, Run], None]) -> None:
    """Check configurations as :func:`plan_runs` does, without writing, and call ``show`` with each valid one."""
    from tokbench.config.suites import find_configs

    log: Log = "bars" if sys.stderr.isatty() else "none"
    _each(find_configs(given), overrides, lambda path, config: show(path, _checked(config, log)))


def _checked(config: Config, log: Log, executor: Executor | None = None) -> Run:
    from tokbench.engine.check import check, worker_pool
    from tokbench.foundation.display import progress_shown

    with progress_shown(log) as progress, worker_pool(config, progress, executor) as pool:
        return check(config, pool)


def _each(paths: Sequence[Path], overrides: Overrides, use: Callable[[Path, Config], None]) -> None:
    """Read and use each; an InputError lists all problems of all."""
    from tokbench.config.read import read_config

    problems: list[Problem] = []
    tracebacks: list[str] = []
    names: dict[str, Path] = {}
    for path in paths:
        try:
            config = read_config(path, overrides)
            other = names.setdefault(config.name, path)
            if config.name and other is not path:
                message = f"{other} is called {config.name!r}, too; give each configuration a name of its own"
                problems.append(Problem(config.located.where(("name",)), message))
            use(path, config)
        except InputError as error:
            problems += error.problems
            tracebacks += getattr(error, "__notes__", [])
    if problems:
        combined = InputError(list(dict.fromkeys(problems)))
        for note in tracebacks:
            combined.add_note(note)
        raise combined


_INTERRUPTED: Final = 128
"""An exit code from here on is a signal."""


def run_each(runs: Sequence[PlannedRun], execute: Callable[[PlannedRun], int], *, as_json: bool = False) -> int:
    """Execute runs one after the other, and return the worst exit code.

    A failed run is reported, and the next begins. An interruption ends all. ``as_json`` keeps all else off the output.
    """
    worst = 0
    for number, run in enumerate(runs):
        if len(runs) > 1:
            say(f"\n{number + 1} of {len(runs)}: {run.config}", err=as_json)
        try:
            worst = max(worst, execute(run))
        except TokbenchError as error:
            if len(runs) == 1:
                raise
            for problem in error.problems if isinstance(error, InputError) else [one_line(error)]:
                say(f"error: {problem}", err=True)
            worst = max(worst, 2 if isinstance(error, InputError) else 1)
        except KeyboardInterrupt:
            _not_run(runs[number + 1 :])
            raise
        if worst >= _INTERRUPTED:
            _not_run(runs[number + 1 :])
            break
    return worst


def _not_run(rest: Sequence[PlannedRun]) -> None:
    if rest:
        say(f"not run: {', '.join(str(run.config) for run in rest)}", err=True)
