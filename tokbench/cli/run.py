"""The command ``tokbench run``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tokbench.cli.interruption import Interruption
from tokbench.cli.options import common_options, show_traceback
from tokbench.progress import announce


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
@common_options
def run(
    config: Path, output: Path | None, workers: int, executor: str | None, scheduler: str | None, *, no_store: bool
) -> None:
    """Execute CONFIG and write results.json and the reports."""
    announce(f"reading {config}")
    from rich.console import Console

    from tokbench.api import run as execute
    from tokbench.config.read import read_config
    from tokbench.report.terminal import summary

    folder = output or Path("reports", read_config(config).name or "run")
    way = {"executor": executor or "", "scheduler": scheduler or ""}
    results = execute(config, folder, workers, **way, store=not no_store)
    summary(results, Console(), sorted(results.written))
    for reason, traceback in results.tracebacks.items():
        show_traceback(reason, traceback)
    for problem in results.problems:
        click.echo(f"error: {problem}", err=True)
    sys.exit(Interruption.exit_code if results.interrupted else int(results.failed))
