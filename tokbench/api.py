"""One run from its file to its report, to be read from top to bottom."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tokbench.config.overrides import Overrides
from tokbench.config.read import read_config
from tokbench.config.validate import validate_options
from tokbench.contracts.metric import TimedOutcome
from tokbench.contracts.tokenizer import Tokenizer
from tokbench.errors import BackendUnavailable, InputError
from tokbench.failures import Failure, attempt, tracebacks
from tokbench.progress import progress_bars, silent
from tokbench.registry import load_registry, missing
from tokbench.results.cells import Status
from tokbench.results.model import Results
from tokbench.results.vocabulary_size import VocabularySizes
from tokbench.runner.describe import (
    describe_config,
    describe_corpus,
    describe_machine,
    describe_metrics,
    describe_plugin,
    describe_tokenizer,
    identify,
)
from tokbench.runner.evaluate import Evaluation, evaluate
from tokbench.runner.finish import Finished, finish
from tokbench.runner.folder import make_folder, save_artefact, write_reports
from tokbench.runner.prepare import Checked, check, train_all, worker_pool
from tokbench.runner.probe import Probed, probe
from tokbench.runner.time import Untimed, time_all
from tokbench.runner.vocabulary_size.measure import study_vocabulary
from tokbench.runner.workers.pool import WorkerPool


def load(backend: str, **options: Any) -> Tokenizer:
    """Load one tokenizer, by the name of its backend and the backend's options.

    Raises:
        InputError: there is no such backend or option.
        BackendUnavailable: the backend cannot be used here.
        BackendError: the tokenizer cannot be loaded.

    >>> load("utf16_units").encode("né")
    [110, 233]
    """
    spec = load_registry().backends.get(backend)
    if spec.load is None:
        raise InputError(f"backend {backend!r} cannot be loaded, only trained")
    if absent := missing(spec):
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
    if absent := missing(spec):
        raise BackendUnavailable(absent)
    return spec.train(documents, vocab_size, validate_options(spec.train_options, options, "tokbench.train"), silent)


def run(
    path: str | Path,
    output: str | Path | None = None,
    workers: int = 1,
    *,
    limit: int | None = None,
    only: Sequence[str] = (),
    settings: Sequence[str] = (),
) -> Results:
    """Execute a configuration.

    Args:
        path: the YAML file, or the name of a suite that ships with tokbench, such as ``quickstart``.
        output: a folder for ``results.json`` and the reports; ``None`` writes nothing.
        workers: processes that measure side by side, each with all tokenizers in memory. Trainings and
            timings come one at a time all the same, and no number depends on it. 0 runs everything in this
            process, so that a debugger works in plugins: nothing is isolated then, there are no time limits, and
            no progress is shown.
        limit: for a first look, the number of documents of each group to measure at most; training reads all text.
        only: names of the tokenizers to measure; empty for all.
        settings: values that replace those of the file: ``metrics.fertility.unit=icu``. Relative paths in them start
            at the current folder. All three are recorded in the results.

    Returns:
        The results; ``results.frame`` is the tidy table. ``results.failed`` tells whether a cell failed.

    Raises:
        InputError: something is wrong with the input, told before anything is measured.
    """
    created, start = datetime.now(UTC), time.perf_counter()
    config = read_config(Path(path), Overrides(limit, tuple(only), tuple(settings)))
    folder = Path(output) if output is not None else None
    with progress_bars(shown=workers > 0) as progress, worker_pool(config, progress, workers) as pool:
        checked = check(config, pool)
        if folder:
            make_folder(folder)
        trained = train_all(checked.plan, checked.prepared, pool)
        prepared = [save_artefact(folder, each, pool) if folder else each for each in trained]
        checked = checked._replace(prepared=identify(prepared, pool))
        evaluation = evaluate(checked.plan, [each.name for each in checked.prepared if each.facts], pool)
        finished = finish(checked.plan, checked.prepared, evaluation)
        further = _measure_further(checked, evaluation, finished, pool)
    results = _results(checked, evaluation, finished, further)
    results.created = created.isoformat(timespec="seconds")
    results.seconds = round(time.perf_counter() - start, 3)
    if folder:
        results.problems = write_reports(folder, results, checked.plan.reporters)
    return results


@dataclass
class _Further:
    """The results of what follows the text metrics, as far as the run came."""

    sizes: VocabularySizes | None = None
    probed: Probed = field(default_factory=lambda: Probed([], [], {}))
    timed: TimedOutcome = field(default_factory=lambda: TimedOutcome([], []))
    interrupted: bool = False


def _measure_further(checked: Checked, evaluation: Evaluation, finished: Finished, pool: WorkerPool) -> _Further:
    """Study vocabulary sizes, put the probes, and then, alone on the machine, time. Ctrl-C ends it early."""
    _, plan, prepared = checked
    further = _Further(interrupted=evaluation.interrupted)
    if further.interrupted:
        return further
    try:
        if plan.config.study.vocabulary:
            sizes = attempt(lambda: study_vocabulary(plan, prepared, evaluation, finished.cells, pool))
            further.sizes = VocabularySizes(failures=[sizes.reason]) if isinstance(sizes, Failure) else sizes
        ended = {name: failure for (name, _), failure in evaluation.ended.items()}
        further.probed = probe(plan, prepared, ended, pool)
        further.timed = time_all(plan, prepared, _untimed(evaluation), evaluation.unread, pool)
    except KeyboardInterrupt:
        further.interrupted = True
    return further


def _results(checked: Checked, evaluation: Evaluation, finished: Finished, further: _Further) -> Results:
    """Put together all that was found, and all that describes it."""
    registry, plan, prepared = checked
    failures = further.sizes.failures if further.sizes else []
    return Results(
        name=plan.config.name,
        config=describe_config(plan.config),
        environment=describe_machine(),
        plugins=[describe_plugin(plugin) for plugin in registry.plugins],
        corpora={name: describe_corpus(plan, name) for name in plan.corpora},
        tokenizers={each.name: describe_tokenizer(each, registry) for each in prepared},
        metrics=describe_metrics((family for family, _ in plan.metrics), plan.bound),
        cells=finished.cells + further.probed.cells + further.timed.cells,
        losses=finished.losses,
        differences=evaluation.same_ids.differences,
        vocabulary_size=further.sizes,
        probes=further.probed.probes,
        pairs=finished.pairs,
        notes=[
            *plan.notes,
            *(f"the study of vocabulary sizes: {failure}" for failure in failures),
            *(failure.reason for failure in evaluation.unread.values()),
            *further.timed.notes,
            *(["the run was stopped before it was through"] if further.interrupted else []),
        ],
        states=finished.states,
        tracebacks=finished.tracebacks | further.probed.tracebacks | tracebacks(further.timed.failures),
        interrupted=further.interrupted,
    )


def _untimed(evaluation: Evaluation) -> dict[str, Untimed]:
    """Return by tokenizer why it is not timed: it ended a process, or does not do the work it is declared to do."""
    untimed = {}
    for name, other in evaluation.same_ids.references.items():
        differing, compared = evaluation.same_ids.differing(name)
        if differing:
            reason = f"not ranked: its ids are not those of {other} in {differing:,} of {compared:,} documents"
            untimed[name] = Untimed(Status.NOT_APPLICABLE, reason)
    untimed.update({name: Untimed.of(failure) for (name, _), failure in evaluation.ended.items()})
    return untimed
