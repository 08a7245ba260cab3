"""The command ``tokbench leaderboard``."""

from __future__ import annotations

from pathlib import Path

import click

from tokbench.cli.options import common_options, json_option, page_option, print_json, say


@click.command()
@click.argument("runs", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="METRIC",
    help="Show this metric alone; may be repeated [default: all of which a direction is better].",
)
@page_option("leaderboard")
@json_option
@common_options
def leaderboard(runs: tuple[Path, ...], metrics: tuple[str, ...], files: tuple[Path, ...], *, as_json: bool) -> None:
    """Show the best of each corpus and metric over many RUNS: folders of runs, or results.json files.

    Numbers stand side by side only if they rest on the same text and definition, and speeds only within one machine.
    Tokenizers that lose text are never best. Every number names its run.
    """
    from tokbench.comparison import leaderboard_page as page
    from tokbench.comparison.leaderboard import leaderboard as board_of
    from tokbench.foundation.files import write_atomically
    from tokbench.report.terminal_nodes import print_document, terminal
    from tokbench.results.model import NamedRun

    board = board_of([NamedRun.read(path) for path in runs], metrics)
    for file in files:
        render = {".md": page.markdown, ".html": page.html, ".json": page.as_json}[file.suffix]
        write_atomically(file, render(board).encode("utf-8", "backslashreplace"))
        say(f"written: {file}", err=True)
    if as_json:
        print_json(page.as_mapping(board))
    elif not files and (console := terminal()):
        print_document(console, page.title(board), page.EXPLANATION, page.sections(board))
    elif not files:
        click.echo(page.markdown(board))
