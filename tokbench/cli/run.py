"""The command ``tokbench run``."""

from __future__ import annotations

import gc
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tokbench.engine.workers.one_thread import use_one_thread
from tokbench.terminal.interruption import Interruption
from tokbench.terminal.number_table import console
from tokbench.terminal.options import (
    common_options,
    json_option,
    log_option,
    model_option,
    override_options,
    pictures_option,
    print_json,
    say,
    show_traceback,
    store_option,
)
from tokbench.terminal.several import PlannedRun, plan_runs, run_each

if TYPE_CHECKING:
    from tokbench.foundation.display import Log


@click.command()
@click.argument("configs", nargs=-1, required=True, metavar="CONFIG...", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="The run's folder; with several configurations, the folder of their folders [default: reports/NAME].",
)
@override_options
@model_option
@click.option(
    "-w",
    "--workers",
    type=click.IntRange(min=0),
    help="Number of processes that measure side by side, each with all tokenizers in memory; timings are taken one at "
    "a time [default: one for each core, at most 8]. 0 runs everything in this process, for a debugger: a crash ends "
    "the run, and there are no time limits.",
)
@click.option(
    "--executor",
    metavar="NAME",
    default="",
    help="How the work is done: inprocess (in this process), workers (in worker processes), or with one of 'tokbench "
    "list executors', such as futures, for workers of any library [default: workers].",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    default="",
    help="With --executor futures: what makes the executor, such as 'loky:ProcessPoolExecutor(4)'.",
)
@click.option("-v", "--verbose", is_flag=True, help="Print all tokenizers, losses, notes, times and files, too.")
@json_option
@pictures_option
@store_option
@log_option
@common_options
def run(configs: tuple[Path, ...], output: Path | None, workers: int | None, log: Log, **options: Any) -> None:
    """Execute each CONFIG and write results.json and the reports.

    A CONFIG is a YAML file, a folder of them, or the name of a suite that ships with tokbench (see: tokbench list
    suites). Several are all checked first, and then run one after the other, each into a folder of its own; the exit
    code is the worst.
    """
    from tokbench.foundation.display import announce

    if workers == 0 and log == "auto":
        log = "none"  # a debugger needs the terminal
    announce(f"reading {', '.join(map(str, configs))}", log)
    use_one_thread()
    from tokbench.config.overrides import Overrides
    from tokbench.engine.workers.executor import Executor, default_workers

    if workers is None:
        workers = 1 if options["executor"] == "inprocess" or options["scheduler"] else default_workers()
    Executor(workers, options["executor"], options["scheduler"]).check()
    if model := options.pop("model"):
        options["settings"] = (*options["settings"], f"study.vocabulary.model={model}")
    overrides = Overrides(options["limit"], options["only"], options["settings"])
    if options["pictures"]:
        from tokbench.report.pictures import check_pictures

        check_pictures()
    runs = plan_runs(configs, output, overrides, workers)
    options["store"] = not options.pop("no_store")
    execute = partial(_execute, workers=workers, log=log, **options)
    sys.exit(run_each(runs, execute, as_json=options["as_json"]))


def _execute(
    run: PlannedRun, *, workers: int, log: Log, pictures: bool, verbose: bool, as_json: bool, **options: Any
) -> int:
    from tokbench.api import run as execute
    from tokbench.engine.reports import report_of
    from tokbench.foundation.display import conclude, progress_shown
    from tokbench.report.terminal import summary

    gc.freeze()  # modules stay until the end, so that the collector need not look at them
    with progress_shown(log) as progress:
        results = execute(run.config, run.folder, workers, progress=progress, **options)
    report = report_of(results)
    if as_json:
        print_json({"name": results.name, "folder": run.folder, **report.answer.facts()})
    else:
        with console() as terminal:
            summary(report, terminal, run.folder, verbose=verbose)
    if pictures:
        from tokbench.report.pictures import write_pictures

        written = write_pictures(report, run.folder)
        say(
            f"written: {len(written):,} pictures in {written[0].parent}" if written else "no chart to picture",
            err=as_json,
        )
    for reason, traceback in results.tracebacks.items():
        show_traceback(reason, traceback)
    for problem in results.problems:
        say(f"error: {problem}", err=True)
    conclude(report.subtitle, progress, log)
    if results.partial and results.partial.reason:
        return 1
    return Interruption.exit_code if results.interrupted else int(results.failed)
