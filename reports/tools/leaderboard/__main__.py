"""Keeps a leaderboard in a folder: ``PYTHONPATH=reports/tools python -m leaderboard --help``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from tokbench.command import common_options, say
from tokbench.terminal.options import log_option


@click.group()
def leaderboard() -> None:
    """Keep a leaderboard in a folder: measure its entries, measure them again, and write its pages.

    The folder has a file for what is measured, one for each entry, and one for the numbers of each.
    """


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
    from leaderboard.board import read_board
    from leaderboard.measure import run_entries

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

    from leaderboard.board import read_board
    from leaderboard.measure import drawn

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
    from leaderboard.board import read_board
    from leaderboard.measure import verify

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
    from leaderboard.board import read_board
    from leaderboard.site import write_site

    say(f"written: {write_site(read_board(folder), output)}")


def _workers(given: int | None) -> int:
    return min(8, os.cpu_count() or 1) if given is None else given


if __name__ == "__main__":
    leaderboard(prog_name="leaderboard")
