"""One run from its file to its report, to be read from top to bottom."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench.config.model import Config
from tokbench.config.overrides import Overrides
from tokbench.config.read import config_of, read_config
from tokbench.engine.check import check, worker_pool
from tokbench.engine.describe import describe
from tokbench.engine.evaluate import evaluate
from tokbench.engine.finish import finish, pack_states
from tokbench.engine.folder import make_folder, write_again, write_run
from tokbench.engine.prepare import train as train_tokenizers
from tokbench.engine.run import Run, uninterrupted
from tokbench.engine.studies import run_studies
from tokbench.engine.workers.executor import Executor
from tokbench.foundation.display import Log, in_notebook, progress_shown
from tokbench.foundation.errors import BackendUnavailable, InputError
from tokbench.foundation.progress import RunProgress
from tokbench.foundation.store import Store, open_store
from tokbench.notebook.results import NotebookResults
from tokbench.results.blocks import Durations
from tokbench.tokenizers.contract import Tokenizer

if TYPE_CHECKING:
    from tokbench.notebook.comparison import NotebookComparison
    from tokbench.segmentation.segmented_text import SegmentedText


def train(
    backend: str,
    documents: Iterable[str] | Mapping[str, Iterable[str]],
    vocab_size: int,
    *,
    store: bool = True,
    **options: Any,
) -> Tokenizer:
    """Train one tokenizer, in this process.

    Args:
        backend: the name of the backend, or ``backend:value`` with its main option of training: ``regex_bpe:gpt4``.
        documents: the training text; no merge crosses the end of a document. A mapping has the documents of each group,
            such as a language, for a trainer that uses groups.
        vocab_size: the most tokens of the vocabulary.
        store: use the store of finished work; not for generators and texts below 100,000 characters.
        **options: the backend's options of training.

    Raises:
        InputError: no such backend or option, the vocabulary is too small for the backend, or a document is not a
            string of Unicode.
        BackendUnavailable: the backend cannot be used here.
        BackendError: the training failed.

    >>> tokenizer = train("naive_bpe", ["aaabdaaabac"], 259)
    >>> [tokenizer.token_bytes(token) for token in tokenizer.encode("aaabdaaabac")]
    [b'aaab', b'd', b'aaab', b'a', b'c']
    """
    from tokbench.config.validate import validate_options
    from tokbench.registry.plugins import load_registry, missing
    from tokbench.registry.tokenizer_names import Grammar
    from tokbench.text.given import checked_texts
    from tokbench.tokenizers.backend import GroupedText
    from tokbench.training.train import train_here

    documents = checked_texts(documents, "documents")
    registry = load_registry()
    backend, given = Grammar(registry).resolve_training(backend).with_options(options, backend)
    spec = registry.backends.get(backend)
    if spec.train is None:
        raise InputError(f"backend {backend!r} cannot be trained, only loaded")
    if vocab_size < spec.min_vocab_size:
        raise InputError(f"vocab_size is {vocab_size}, but backend {backend!r} needs {spec.min_vocab_size} or more")
    if absent := missing(spec):
        raise BackendUnavailable(absent)
    validated = validate_options(spec.train_options, given, "tokbench.train")
    if isinstance(documents, Mapping):
        documents = GroupedText.of(documents)
    return train_here(registry, spec, documents, vocab_size, validated, open_store() if store else None)


def show(
    texts: str | Sequence[str | tuple[str, str]],
    tokenizers: str | Sequence[str] = (),
    *,
    config: str | Path | None = None,
    merges: bool = False,
    workers: int = 1,
    store: bool = True,
) -> list[SegmentedText]:
    """Cut texts into tokens, to look at them.

    Args:
        texts: a text, or several; a pair has a label first.
        tokenizers: names of the configuration, or names for :func:`load`; empty for all of the configuration.
        config: the configuration, or the name of a suite.
        merges: add the merges by which BPE makes each token.
        workers: 1 to isolate the tokenizers in a process; 0 to run them in this one.
        store: use the store of trained tokenizers.

    Raises:
        InputError: a tokenizer is unknown, or cannot be loaded, or a text is not a string of Unicode.

    >>> [text] = show("née", "utf8_bytes", workers=0)
    >>> text.segmentations[0].ids
    [110, 195, 169, 101]
    """
    from tokbench.foundation.failures import Failure
    from tokbench.segmentation.segment import cut_texts, without_tokens
    from tokbench.segmentation.segmented_text import SegmentedText
    from tokbench.terminal.session import session
    from tokbench.text.given import check_text, refuse_collection

    listed = [texts] if isinstance(texts, str) else texts
    refuse_collection(listed, "texts")
    labelled = [text if isinstance(text, tuple) else ("", text) for text in listed]
    checked = [(label, check_text(text, label or "texts", k)) for k, (label, text) in enumerate(labelled, 1)]
    names = [tokenizers] if isinstance(tokenizers, str) else tokenizers
    shown = [SegmentedText(label=label, text=text, segmentations=[]) for label, text in checked]
    step = partial(cut_texts, texts=[text for _, text in checked], merges=merges, notes=True)
    kept, n_bytes = open_store() if store else None, sum(len(text.encode()) for _, text in checked)
    path = Path(config) if config else None
    with session(names, path, n_bytes=n_bytes, workers=workers, store=kept, named=True) as ready:
        for name, answer in ready.ask(step).items():
            cuts = [without_tokens(name, answer) for _ in shown] if isinstance(answer, Failure) else answer
            for text, cut in zip(shown, cuts, strict=True):
                text.segmentations.append(replace(cut, tokenizer=name))
    return shown


def run(
    path: str | Path | Mapping[str, Any],
    output: str | Path | None = None,
    workers: int = 1,
    *,
    limit: int | None = None,
    only: Sequence[str] = (),
    settings: Sequence[str] = (),
    executor: str = "",
    scheduler: str = "",
    store: bool = True,
    progress: RunProgress | Log | None = None,
) -> NotebookResults:
    """Execute a configuration.

    Args:
        path: the YAML file, the name of a suite such as ``quickstart``, or a mapping with the keys of a file; relative
            paths of a mapping start at the current folder. A corpus of it may be a list of texts or a frame, or
            ``{"texts": frame, "text": "column"}``; a tokenizer may be an object, as for :func:`load`.
        output: a folder for ``results.json`` and the reports; ``None`` writes nothing.
        workers: parallel processes. Trainings and timings run one at a time all the same, and no number depends on it.
            0 runs everything in this process, for a debugger: without isolation, time limits, or progress.
        limit: the most documents of each group to measure, and to train on.
        only: names of the tokenizers to measure; empty for all.
        settings: replace values of the file: ``metrics.fertility.unit=icu``. Relative paths in them start at the
            current folder. All three are recorded in the results.
        executor: ``inprocess``, ``workers``, or a plugin's, such as ``futures``; by default ``workers``, or
            ``inprocess`` for 0 workers. Only times depend on it.
        scheduler: for ``futures``, the call that makes the executor, such as ``loky:ProcessPoolExecutor(4)``;
            by default ``workers`` processes.
        store: use the store of finished work. No number depends on it.
        progress: a callback, or ``bars``, ``lines``, ``notebook`` (one changing line), ``json``, ``none``, or ``auto``
            for the one that fits. By default there are bars in a terminal, a line in a notebook, and nothing elsewhere.

    Returns:
        The results; ``results.frame`` is the tidy table, and ``results.failed`` is true if a cell failed.

    Raises:
        InputError: something is wrong with the input; it is raised before anything is measured.
    """
    how = Executor(workers, executor, scheduler)
    finished_work = open_store() if store else None
    overrides = Overrides(limit, tuple(only), tuple(settings))
    if isinstance(path, Mapping):
        from tokbench.registry.plugins import load_registry
        from tokbench.registry.python_objects import with_files

        config = config_of(with_files(path, load_registry()), overrides)
    else:
        config = read_config(Path(path), overrides)
    folder = Path(output) if output is not None else None
    if isinstance(progress, RunProgress):
        return _run(config, folder, how, finished_work, progress)
    bars = how.kind != "inprocess" and sys.stderr.isatty()
    with progress_shown(progress or ("notebook" if in_notebook() else "bars" if bars else "none")) as shown:
        return _run(config, folder, how, finished_work, shown)


def _run(
    config: Config, folder: Path | None, executor: Executor, store: Store | None, progress: RunProgress
) -> NotebookResults:
    created, start = datetime.now(UTC), time.perf_counter()
    with worker_pool(config, progress, executor) as pool:
        this = check(config, pool, store)
        if folder:
            make_folder(folder)
        describe(this.results, this.plan, this.registry)
        this.results.created = created.isoformat(timespec="seconds")
        this.phase("training", partial(train_tokenizers, folder=folder))
        this.phase("measuring", evaluate)
        this.phase("cells", finish)
        run_studies(this)
    if uninterrupted(partial(_end, this, folder, start)).stopped:
        this.stop("reports")
    return NotebookResults.of(this.results)


def _end(this: Run, folder: Path | None, start: float) -> None:
    """Make the results of what was measured, and write them."""
    results, progress = this.results, this.pool.progress
    with progress.phase("cells"):
        if not this.finished:
            finish(this)
        pack_states(this)
    results.notes += this.pool.notes
    results.from_store = this.stored.sentences()
    this.stored.end()
    results.seconds = round(time.perf_counter() - start, 3)
    results.durations = _durations(progress, this.plan.studies)
    if folder:
        with progress.phase("reports"):
            write_run(folder, results, this.plan.reporters, progress)
        results.durations = replace(results.durations, reports=round(progress.seconds["reports"], 3))
        results.problems += write_again(folder, results)


def compare(baseline: str | Path, other: str | Path, *, other_machine: bool = False) -> NotebookComparison:
    """Compare a run with a baseline: every difference, with a paired interval where the documents are the same.

    Args:
        baseline: the folder of the earlier run, or its ``results.json``.
        other: the run to judge, likewise.
        other_machine: compare speeds of different machines or versions of tokbench, too.

    Returns:
        The comparison; ``comparison.frame`` is a table with a row for each number.

    Raises:
        ResultsError: a run has no results, or they are damaged.
    """
    from tokbench.comparison.compare import compare as compare_runs
    from tokbench.notebook.comparison import NotebookComparison
    from tokbench.results.model import NamedRun

    return NotebookComparison.of(
        compare_runs(NamedRun.read(baseline), NamedRun.read(other), other_machine=other_machine)
    )


def _durations(progress: RunProgress, studies: Iterable[str]) -> Durations:
    seconds = {name: round(value, 3) for name, value in progress.seconds.items()}
    of_studies = {name: seconds.pop(name) for name in studies if name in seconds}
    return Durations(**seconds, studies=of_studies)
