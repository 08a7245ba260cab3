"""The command ``tokbench new``: it writes a shipped suite to a file, to be changed."""

from __future__ import annotations

from pathlib import Path

import click

from tokbench.cli.options import common_options
from tokbench.errors import InputError, Problem


@click.command()
@click.argument("suite")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The file [default: SUITE.yaml].")
@common_options
def new(suite: str, output: Path | None) -> None:
    """Write the shipped SUITE to a file, as the start of a configuration; a file that exists is left alone.

    'tokbench list suites' names the suites.
    """
    from tokbench.config.suites import find_suite

    found = find_suite(suite)
    path = output or Path(found.path.name)
    try:
        with path.open("xb") as file:
            file.write(found.path.read_bytes())
    except FileExistsError as error:
        message = "exists already and is left alone; choose another file with -o"
        raise InputError([Problem(str(path), message)]) from error
    except OSError as error:
        raise InputError([Problem(str(path), f"cannot be written: {error.strerror}")]) from error
    click.echo(f"written: {path}; run it with: tokbench run {path}")
