"""One run from its file to its report, to be read from top to bottom."""

from __future__ import annotations

import hashlib
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from tokbench.config.model import Config
from tokbench.config.read import read_config
from tokbench.config.validate import validate_options
from tokbench.errors import BackendUnavailable, InputError
from tokbench.metrics.view import Subject
from tokbench.progress import Progress, progress_bars
from tokbench.protocol import Tokenizer
from tokbench.registry import Registry, load_registry, missing
from tokbench.results import Results
from tokbench.runner.bench import bench
from tokbench.runner.cells import CellMaker
from tokbench.runner.describe import describe_corpus, describe_machine, describe_metrics, describe_tokenizer, one_thread
from tokbench.runner.evaluate import evaluate
from tokbench.runner.plan import Plan, make_plan, reading_order
from tokbench.runner.prepare import Prepared, load_all, train_all
from tokbench.runner.store import make_folder, save_artefacts, write_reports

__all__ = ["Checked", "check", "load", "run"]


class Checked(NamedTuple):
    """A configuration in which nothing is wrong.

    Attributes:
        registry: the plugins.
        plan: what will be done.
        prepared: the tokenizers, loaded; those to be trained are not yet.
    """

    registry: Registry
    plan: Plan
    prepared: list[Prepared]


def load(backend: str, **options: Any) -> Tokenizer:
    """One tokenizer, by the name of its backend and the backend's options.

    Raises:
        InputError: no such backend or option.
        BackendUnavailable: it cannot be had here.
        BackendError: it cannot be loaded.

    >>> load("utf16_units").encode("né")
    [110, 233]
    """
    spec = load_registry().backends.get(backend)
    if spec.load is None:
        msg = f"backend {backend!r} cannot be loaded, only trained"
        raise InputError(msg)
    absent = missing(spec)
    if absent:
        raise BackendUnavailable(absent)
    return spec.load(validate_options(spec.load_options, options, f"tokbench.load({backend!r})"))


def check(config: Config, progress: Progress) -> Checked:
    """Find everything that is wrong before anything is measured.

    Raises:
        InputError: with all problems, each with its place.
    """
    one_thread()
    registry = load_registry()
    plan = make_plan(config, registry, progress)
    prepared = load_all(plan, progress)
    if plan.problems:
        raise InputError(reading_order(plan.problems))
    return Checked(registry, plan, prepared)


def run(path: str | Path, output: str | Path | None = None) -> Results:
    """Execute a configuration.

    Args:
        path: the YAML file.
        output: a folder for ``results.json`` and the reports; ``None`` writes nothing.

    Returns:
        The results; ``results.frame`` is the tidy table. ``results.failed`` tells whether a cell failed.

    Raises:
        InputError: something is wrong with the input, told before anything is measured.
    """
    created, start = datetime.now(UTC), time.perf_counter()
    with progress_bars() as progress:
        checked = check(read_config(Path(path)), progress)
        folder = Path(output) if output is not None else None
        if folder:
            make_folder(folder)
        train_all(checked.plan, checked.prepared, progress)
        results = _measure(checked, folder, progress)
    results.created = created.isoformat(timespec="seconds")
    results.seconds = round(time.perf_counter() - start, 3)
    if folder:
        results.troubles = write_reports(folder, results, checked.plan.reporters)
    return results


def _measure(checked: Checked, folder: Path | None, progress: Progress) -> Results:
    """Text metrics first, then, alone on the machine, what is timed; then all that describes them."""
    registry, plan, prepared = checked
    subjects = [Subject(each.name, each.tokenizer) for each in prepared if each.tokenizer is not None]
    evaluation = evaluate(plan, subjects, progress)
    maker = CellMaker(plan, evaluation)
    cells = [cell for each in prepared for cell in maker.cells(each)]
    interrupted, notes = evaluation.interrupted, []
    if not interrupted:
        try:
            outcome = bench(plan, prepared, progress)
            cells += outcome.cells
            notes += outcome.notes
        except KeyboardInterrupt:
            interrupted = True
    if interrupted:
        notes.append("the run was stopped before it was through")
    saved = save_artefacts(folder, prepared) if folder else {}
    text = plan.config.text
    return Results(
        name=plan.config.name,
        config={"file": plan.config.path.name, "sha256": hashlib.sha256(text.encode()).hexdigest(), "text": text},
        environment=describe_machine(),
        plugins=[
            {
                "name": plugin.name,
                "distribution": plugin.distribution,
                "version": plugin.version,
                "state": "broken" if plugin.reason else "usable",
                "reason": plugin.reason,
            }
            for plugin in registry.plugins
        ],
        corpora={name: describe_corpus(plan, name) for name in plan.corpora},
        tokenizers={each.name: describe_tokenizer(each, registry, saved.get(each.name, {})) for each in prepared},
        metrics=describe_metrics([spec for spec, _ in plan.metrics]),
        cells=cells,
        losses=maker.losses,
        notes=notes,
        states=maker.states,
        interrupted=interrupted,
    )
