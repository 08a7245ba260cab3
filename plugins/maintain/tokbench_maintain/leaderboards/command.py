"""The command ``tokbench leaderboard``: of runs, and of a folder of entries."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from tokbench.command import common_options, json_option, print_json, say
from tokbench.terminal.options import log_option, page_option, print_markdown

_RUNS: Final = "runs"


class _RunsOrFolder(click.Group):
    """Passes arguments that name no command to ``runs``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in {*self.commands, *ctx.help_option_names}:
            args = [_RUNS, *args]
        return super().parse_args(ctx, args)


@click.group(cls=_RunsOrFolder)
def leaderboard() -> None:
    """Show the best over many runs (leaderboard RUNS...), or keep a leaderboard in a folder.

    The folder has a file for what is measured, one for each entry, and one for the numbers of each. A run whose folder
    is named like a command follows the word runs.
    """


@leaderboard.command(_RUNS)
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
def runs_(runs: tuple[Path, ...], metrics: tuple[str, ...], files: tuple[Path, ...], *, as_json: bool) -> None:
    """Show the best of each corpus and metric over many RUNS: folders of runs, or results.json files.

    Numbers are compared only if they have the same text and definition, and speeds only within one machine.
    Lossy tokenizers are never best. Every number names its run.
    """
    from tokbench.results.model import NamedRun
    from tokbench_maintain.leaderboards import place_page as page
    from tokbench_maintain.leaderboards.places import leaderboard as board_of

    board = board_of([NamedRun.read(path) for path in runs], metrics)
    for file in files:
        render = {".md": page.markdown, ".html": page.html, ".json": page.as_json}[file.suffix]
        file.write_bytes(render(board).encode("utf-8", "backslashreplace"))
        say(f"written: {file}", err=True)
    if as_json:
        print_json(page.as_mapping(board))
    elif not files:
        print_markdown(page.markdown(board))


_folder_option = click.option(
    "--folder",
    type=click.Path(path_type=Path),
    default=Path("reports/leaderboard"),
    show_default=True,
    help="The folder of the leaderboard.",
)
_workers_option = click.option(
    "-w",
    "--workers",
    type=click.IntRange(min=0),
    help="Parallel processes; 0 for this one alone [default: all cores, at most 8].",
)


@leaderboard.command("run")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@_folder_option
@_workers_option
@log_option
@common_options
def run_(names: tuple[str, ...], folder: Path, workers: int | None, log: str) -> None:
    """Measure the entries of these NAMEs, or all, and write their numbers, and the ranks of all.

    Entries that have not changed come from the store. Exit codes: 0 all is written, 1 nothing is, since something could
    not be measured, or a number of another entry is not the published one, 2 bad input.
    """
    from tokbench_maintain.leaderboards.board import read_board
    from tokbench_maintain.leaderboards.measure import run_entries

    board = read_board(folder)
    problems = run_entries(board, names, workers=_workers(workers), log=log)
    for problem in problems:
        say(problem, err=True)
    say(f"written: {'nothing' if problems else ', '.join(board.chosen(names))}")
    sys.exit(int(bool(problems)))


@leaderboard.command("verify")
@click.argument("number", type=click.IntRange(min=1), default=3, metavar="[N]")
@click.option("--seed", type=int, default=None, help="Draw the same entries again [default: others each day].")
@_folder_option
@_workers_option
@common_options
def verify_(number: int, seed: int | None, folder: Path, workers: int | None) -> None:
    """Measure N random entries again, and name every published number that is not the same.

    Exit codes: 0 all are the same, 1 some are not, 2 bad input.
    """
    from datetime import UTC, datetime

    from tokbench_maintain.leaderboards.board import read_board
    from tokbench_maintain.leaderboards.measure import drawn

    seed = datetime.now(UTC).toordinal() if seed is None else seed
    names = drawn(read_board(folder), number, seed)
    say(f"seed {seed}: {', '.join(names)}")
    _check(folder, names, workers)


@leaderboard.command("check")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@_folder_option
@_workers_option
@common_options
def check_(names: tuple[str, ...], folder: Path, workers: int | None) -> None:
    """Measure the entries of these NAMEs again, as before a new one is accepted.

    Exit codes: 0 all numbers are as published, 1 some are not, or an entry has none, 2 bad input.
    """
    _check(folder, names, workers)


def _check(folder: Path, names: Sequence[str], workers: int | None) -> None:
    from tokbench_maintain.leaderboards.board import read_board
    from tokbench_maintain.leaderboards.measure import verify

    wrong = verify(read_board(folder), names, workers=_workers(workers), say=say)
    for sentence in wrong:
        say(sentence, err=True)
    sys.exit(int(bool(wrong)))


@leaderboard.command("build")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("reports/leaderboard"), metavar="[FOLDER]")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The folder for the pages.")
@common_options
def build_(folder: Path, output: Path) -> None:
    """Write the pages of the leaderboard in FOLDER [default: reports/leaderboard]: static files that need no network.

    Nothing is measured.
    """
    from tokbench_maintain.leaderboards.board import read_board
    from tokbench_maintain.leaderboards.site import write_site

    say(f"written: {write_site(read_board(folder), output)}")


def _workers(given: int | None) -> int:
    return min(8, os.cpu_count() or 1) if given is None else given
