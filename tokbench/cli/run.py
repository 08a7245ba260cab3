"""The command ``tokbench run``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tokbench.cli.interruption import Interruption
from tokbench.cli.options import common_options, log_option, show_traceback

if TYPE_CHECKING:
    from tokbench.display import Log


@click.command()
@click.argument("config", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The run's folder [default: reports/NAME].")
@click.option(
    "-w",
    "--workers",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Number of processes that measure side by side, each with all tokenizers in memory; timings are taken one at "
    "a time. 0 runs everything in this process, for a debugger: a crash ends the run, and there are no time limits.",
)
@click.option(
    "--executor",
    type=click.Choice(["inprocess", "workers", "dask"]),
    help="How the work is done: in this process, in worker processes, or on a dask cluster (pip install "
    "'tokbench[cluster]'), which is started here with this number of workers [default: workers].",
)
@click.option("--scheduler", metavar="ADDRESS", help="With --executor dask: join the cluster at tcp://HOST:PORT.")
@click.option("--no-store", is_flag=True, help="Compute everything, and keep nothing in the store of finished work.")
@log_option
@common_options
def run(
    config: Path,
    output: Path | None,
    workers: int,
    executor: str | None,
    scheduler: str | None,
    log: Log,
    *,
    no_store: bool,
) -> None:
    """Execute CONFIG and write results.json and the reports."""
    from tokbench.display import announce, conclude, progress_shown

    if not workers and log == "auto":
        log = "none"  # a debugger needs the terminal
    announce(f"reading {config}", log)
    from rich.console import Console

    from tokbench.api import run as execute
    from tokbench.config.read import read_config
    from tokbench.report.report import Report
    from tokbench.report.terminal import summary

    folder = output or Path("reports", read_config(config).name or "run")
    way = {"executor": executor or "", "scheduler": scheduler or ""}
    with progress_shown(log) as progress:
        results = execute(config, folder, workers, **way, store=not no_store, progress=progress)
    summary(results, Console(), sorted(results.written))
    for reason, traceback in results.tracebacks.items():
        show_traceback(reason, traceback)
    for problem in results.problems:
        click.echo(f"error: {problem}", err=True)
    conclude(Report(results).subtitle, progress, log)
    sys.exit(Interruption.exit_code if results.interrupted else int(results.failed))
