"""The command ``tokbench merge``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tokbench.cli.options import common_options, say


@click.command()
@click.argument("runs", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The folder of the merged run.")
@click.option("--other-versions", is_flag=True, help="Accept runs of different versions of tokbench and of libraries.")
@common_options
def merge(runs: tuple[Path, ...], output: Path, *, other_versions: bool) -> None:
    """Put RUNS over disjoint parts of a corpus together: folders of runs, or results.json files.

    All numbers are those of one run over all of the text, intervals included. Give the parts in the order that the text
    has. Timings, studies of vocabulary sizes and of validity, and bits per byte are not merged. Runs with different
    tokenizers, metrics or versions are refused, and so are parts with the same text.
    """
    from rich.console import Console

    from tokbench.api import merge as merge_runs
    from tokbench.report.terminal import summary

    results = merge_runs(runs, output, other_versions=other_versions)
    summary(results, Console(), sorted(results.written))
    for problem in results.problems:
        say(f"error: {problem}", err=True)
    sys.exit(int(results.failed))
