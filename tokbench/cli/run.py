"""The command ``tokbench run``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from tokbench.cli.interruption import Interruption
from tokbench.cli.options import common_options, override_options, show_traceback
from tokbench.cli.several import PlannedRun, plan_runs, run_each
from tokbench.progress import announce


@click.command()
@click.argument("configs", nargs=-1, required=True, metavar="CONFIG...", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="The run's folder; with several configurations, the folder of their folders [default: reports/NAME].",
)
@override_options
@click.option(
    "-w",
    "--workers",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Number of processes that measure side by side, each with all tokenizers in memory; timings are taken one at "
    "a time. 0 runs everything in this process, for a debugger: a crash ends the run, and there are no time limits.",
)
@common_options
def run(configs: tuple[Path, ...], output: Path | None, workers: int, **overrides: Any) -> None:
    """Execute each CONFIG and write results.json and the reports.

    A CONFIG is a YAML file, a folder of them, or the name of a suite that ships with tokbench (see: tokbench list
    suites). Several are all checked before the first is run, one after the other; each is written to a folder of its
    own, and the exit code is the worst.
    """
    announce(f"reading {', '.join(map(str, configs))}")
    from tokbench.config.overrides import Overrides

    runs = plan_runs(configs, output, Overrides(**overrides), workers)
    sys.exit(run_each(runs, lambda each: _execute(each, workers, **overrides)))


def _execute(run: PlannedRun, workers: int, **overrides: Any) -> int:
    """Execute one configuration, print a summary, and return its exit code."""
    from rich.console import Console

    from tokbench.api import run as execute
    from tokbench.report.terminal import summary

    results = execute(run.config, run.folder, workers, **overrides)
    summary(results, Console(), sorted(results.written))
    for reason, traceback in results.tracebacks.items():
        show_traceback(reason, traceback)
    for problem in results.problems:
        click.echo(f"error: {problem}", err=True)
    return Interruption.exit_code if results.interrupted else int(results.failed)
