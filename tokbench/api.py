"""One run from its file to its report, to be read from top to bottom."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tokbench.config.read import read_config
from tokbench.config.validate import validate_options
from tokbench.contracts.tokenizer import Tokenizer
from tokbench.errors import BackendUnavailable, InputError
from tokbench.failures import Failure, attempt
from tokbench.progress import Progress, progress_bars, silent
from tokbench.registry import load_registry, missing
from tokbench.results.cells import Status
from tokbench.results.model import Results
from tokbench.runner.describe import (
    describe_corpus,
    describe_machine,
    describe_metrics,
    describe_tokenizer,
    identify,
)
from tokbench.runner.evaluate import Evaluation, evaluate
from tokbench.runner.finish import CellMaker
from tokbench.runner.folder import make_folder, save_artefact, write_reports
from tokbench.runner.prepare import Checked, check, train_all, worker_pool
from tokbench.runner.probe import Probed, probe
from tokbench.runner.same_ids import SPEC
from tokbench.runner.time import Untimed, bench
from tokbench.runner.vocabulary_size.measure import study_vocabulary
from tokbench.runner.workers.pool import WorkerPool

__all__ = ["load", "run", "train"]


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


def train(backend: str, documents: Iterable[str], vocab_size: int, **options: Any) -> Tokenizer:
    """Train one tokenizer, in this process.

    Args:
        backend: the name of the backend.
        documents: the training text; no merge crosses the end of a document.
        vocab_size: how many ids the tokenizer gets at most.
        **options: the backend's options of training.

    Raises:
        InputError: there is no such backend or option, or the vocabulary is smaller than the backend accepts.
        BackendUnavailable: the backend cannot be used here.
        BackendError: the training failed.

    >>> tokenizer = train("naive_bpe", ["aaabdaaabac"], 259)
    >>> [tokenizer.token_bytes(token) for token in tokenizer.encode("aaabdaaabac")]
    [b'aaab', b'd', b'aaab', b'a', b'c']
    """
    spec = load_registry().backends.get(backend)
    if spec.train is None:
        raise InputError(f"backend {backend!r} cannot be trained, only loaded")
    if vocab_size < spec.min_vocab_size:
        raise InputError(f"vocab_size is {vocab_size}, but backend {backend!r} needs {spec.min_vocab_size} or more")
    absent = missing(spec)
    if absent:
        raise BackendUnavailable(absent)
    return spec.train(documents, vocab_size, validate_options(spec.train_options, options, "tokbench.train"), silent)


def run(path: str | Path, output: str | Path | None = None, workers: int = 1) -> Results:
    """Execute a configuration.

    Args:
        path: the YAML file.
        output: a folder for ``results.json`` and the reports; ``None`` writes nothing.
        workers: processes that measure side by side, each with all tokenizers in memory. Trainings and
            timings come one at a time all the same, and no number depends on it. 0 runs everything in this
            process, so that a debugger works in plugins: nothing is isolated then, there are no time limits, and
            no progress is shown.

    Returns:
        The results; ``results.frame`` is the tidy table. ``results.failed`` tells whether a cell failed.

    Raises:
        InputError: something is wrong with the input, told before anything is measured.
    """
    created, start = datetime.now(UTC), time.perf_counter()
    config = read_config(Path(path))
    folder = Path(output) if output is not None else None
    with progress_bars(shown=workers > 0) as progress, worker_pool(config, progress, workers) as pool:
        checked = check(config, pool, progress)
        if folder:
            make_folder(folder)
        trained = train_all(checked.plan, checked.prepared, pool, progress)
        prepared = [save_artefact(folder, each, pool) if folder else each for each in trained]
        checked = checked._replace(prepared=identify(prepared, pool, progress))
        results = _measure(checked, pool, progress)
    results.created = created.isoformat(timespec="seconds")
    results.seconds = round(time.perf_counter() - start, 3)
    if folder:
        results.problems = write_reports(folder, results, checked.plan.reporters)
    return results


def _measure(checked: Checked, pool: WorkerPool, progress: Progress) -> Results:
    """Text metrics first, then probes, then, alone on the machine, what is timed; then all that describes them."""
    registry, plan, prepared = checked
    evaluation = evaluate(plan, [each.name for each in prepared if each.facts], pool, progress)
    maker = CellMaker(plan, evaluation)
    cells = [cell for each in prepared for cell in maker.cells(each)]
    failures = [*evaluation.failures, *maker.failures, *(each.failure for each in prepared if each.failure)]
    interrupted, notes, probed = evaluation.interrupted, [], Probed()
    study: dict[str, Any] = {}
    if not interrupted:
        try:
            if plan.config.study.vocabulary:
                found = attempt(lambda: study_vocabulary(plan, prepared, evaluation, cells, pool, progress))
                study["vocabulary"] = {"failures": [found.reason]} if isinstance(found, Failure) else found
                notes += [f"the study of vocabulary sizes: {why}" for why in study["vocabulary"]["failures"]]
            ended = {name: failure for (name, _), failure in evaluation.ended.items()}
            probed = probe(plan, prepared, ended, pool)
            cells += probed.cells
            outcome = bench(plan, prepared, _untimed(evaluation), pool)
            cells += outcome.cells
            notes += outcome.notes
            failures += outcome.failures
        except KeyboardInterrupt:
            interrupted = True
    if interrupted:
        notes.append("the run was stopped before it was through")
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
        tokenizers={each.name: describe_tokenizer(each, registry) for each in prepared},
        metrics=describe_metrics([spec for spec, _ in plan.metrics] + [SPEC] * bool(evaluation.same_ids.declared)),
        cells=cells,
        losses=maker.losses,
        differences=evaluation.same_ids.differences,
        study=study,
        probes=probed.shown,
        pairs=maker.pairs,
        notes=notes,
        states=maker.states,
        tracebacks={each.reason: each.traceback for each in failures if each.traceback},
        interrupted=interrupted,
    )


def _untimed(evaluation: Evaluation) -> dict[str, Untimed]:
    """Who is not timed: what ended a process, and what does not do the work that it is declared to do."""
    untimed = {}
    for name, other in evaluation.same_ids.references.items():
        differing, compared = evaluation.same_ids.differing(name)
        if differing:
            reason = f"not ranked: its ids are not those of {other} in {differing:,} of {compared:,} documents"
            untimed[name] = Untimed(Status.NOT_APPLICABLE, reason)
    untimed.update({name: Untimed.of(failure) for (name, _), failure in evaluation.ended.items()})
    return untimed
