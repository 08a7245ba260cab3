"""Renders the reports of finished runs again: nothing is measured, and no results are overwritten."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tokbench.config.model import DEFAULT_FORMATS
from tokbench.engine.folder import make_folder
from tokbench.engine.reports import report_of
from tokbench.foundation.errors import InputError, Problem
from tokbench.foundation.failures import Failure, attempt
from tokbench.foundation.files import write_atomically
from tokbench.registry.plugins import Registry, load_registry, missing
from tokbench.report.pictures import check_pictures, write_pictures
from tokbench.results.model import NamedRun, Results
from tokbench.results.reporter import ReporterSpec


class Rendered(NamedTuple):
    """The outcome of rendering."""

    written: list[Path]
    problems: list[str]
    """The formats that could not be rendered or written, each with the reason."""
    notes: list[str]
    """On runs whose raw states cannot be read: only their intervals are compared."""


class _Due(NamedTuple):
    results: Results
    folder: Path
    formats: Sequence[ReporterSpec]


def render_reports(
    paths: Sequence[str | Path], formats: Sequence[str] = (), output: Path | None = None, *, pictures: bool = False
) -> Rendered:
    """Write the reports of finished runs again. All input is checked before the first file is written.

    Args:
        paths: the folders of the runs, or their ``results.json``.
        formats: names of report formats; empty for the formats of each run.
        output: the folder for the reports, or of the folders of several runs; ``None`` writes next to the results.
        pictures: whether to write all charts as SVG and PNG, too.

    Raises:
        InputError: a format is unknown, a library is missing, two runs have the same name, or the folder holds the
            results of another run.
        ResultsError: a run has no results, or they are damaged.
    """
    if pictures:
        check_pictures()
    registry = load_registry()
    chosen = [_format(registry, name) for name in dict.fromkeys(formats)]
    runs = [NamedRun.read(path) for path in paths]
    folders = _folders(runs, output)
    due = [_Due(run.results, folder, chosen or _own(registry, run)) for run, folder in zip(runs, folders, strict=True)]
    rendered = Rendered([], [], [])
    for task in due:
        states = attempt(lambda task=task: len(task.results.states))  # type: ignore[misc]
        if isinstance(states, Failure):
            rendered.notes.append(f"numbers are compared by their intervals alone: {states.reason}")
        make_folder(task.folder)
        for spec in task.formats:
            _write(task, spec, rendered)
        if pictures:
            _picture(task, rendered)
    return rendered


def _format(registry: Registry, name: str) -> ReporterSpec:
    spec = registry.reporters.get(name)
    if absent := missing(spec):
        raise InputError(f"format {name!r} {absent}")
    return spec


def _own(registry: Registry, run: NamedRun) -> list[ReporterSpec]:
    """Return the formats that a run names, and those whose metrics or study it has."""
    default = [name for name in DEFAULT_FORMATS if name in registry.reporters.entries]
    names = dict.fromkeys(run.results.config.formats or default)
    results = run.results
    due = [spec.name for spec in registry.reporters if spec.needs in results.families or spec.needs in results.studies]
    return [_format(registry, name) for name in dict.fromkeys([*names, *due])]


def _folders(runs: Sequence[NamedRun], output: Path | None) -> list[Path]:
    problems, folders = [], list[Path]()
    for run in runs:
        path = Path(run.name)
        source = path / "results.json" if path.is_dir() else path
        name = run.results.name
        if output is not None and len(runs) > 1 and (Path(name).name != name or name in {"", ".."}):
            problems.append(Problem(run.name, f"the name of the run, {name!r}, is not a valid folder name"))
        folder = source.parent if output is None else output / name if len(runs) > 1 else output
        if folder in folders:
            other = runs[folders.index(folder)].name
            message = (
                f"its reports would replace the reports of {other} in {folder}; render them one by one, each with -o"
            )
            problems.append(Problem(run.name, message))
        elif (there := folder / "results.json").exists() and not there.samefile(source):
            message = f"holds the results of another run than {run.name}; choose another folder with -o"
            problems.append(Problem(str(folder), message))
        folders.append(folder)
    if problems:
        raise InputError(problems)
    return folders


def _picture(due: _Due, rendered: Rendered) -> None:
    outcome = attempt(lambda: write_pictures(report_of(due.results), due.folder), f"pictures of {due.folder}")
    if isinstance(outcome, Failure):
        rendered.problems.append(outcome.reason)
    else:
        rendered.written.extend(outcome)


def _write(due: _Due, spec: ReporterSpec, rendered: Rendered) -> None:
    path = due.folder / spec.filename
    outcome = attempt(lambda: write_atomically(path, spec.content(due.results)), str(path))
    if isinstance(outcome, Failure):
        rendered.problems.append(outcome.reason)
    else:
        rendered.written.append(path)
