"""The command ``tokbench report``: render finished runs again."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tokbench.terminal.options import common_options, pictures_option, say


@click.command()
@click.argument("results", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="RESULTS...")
@click.option(
    "--format",
    "formats",
    multiple=True,
    metavar="FORMAT",
    help="A report format, such as latex; may be repeated [default: those of the run]. 'tokbench list reporters' names "
    "them all.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="The folder for the reports; with several runs, the folder of their folders [default: the folder of the run].",
)
@pictures_option
@common_options
def report(results: tuple[Path, ...], formats: tuple[str, ...], output: Path | None, *, pictures: bool) -> None:
    """Render the reports of finished runs again: RESULTS are folders of runs, or results.json files.

    Nothing is measured, and results.json is left alone. A format has the same bytes as when the run itself wrote it.

    Exit codes: 0 all reports were written, 1 one could not be rendered or written, 2 bad input.
    """
    from tokbench.engine.render import render_reports

    rendered = render_reports(results, formats, output, pictures=pictures)
    for path in rendered.written:
        say(f"written: {path}")
    for note in rendered.notes:
        say(f"note: {note}", err=True)
    for problem in rendered.problems:
        say(f"error: {problem}", err=True)
    sys.exit(int(bool(rendered.problems)))
