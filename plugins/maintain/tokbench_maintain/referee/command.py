"""The command ``tokbench referee``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import click

from tokbench.command import common_options, examples, json_option, print_json, say

_TABLES: Final = Path("reports/referee")


@click.command(
    epilog=examples("tokbench referee openai-20", "tokbench referee --fetch", "tokbench referee --json > verdicts.json")
)
@click.argument("names", nargs=-1, metavar="[TABLE]...")
@click.option(
    "--tables", type=click.Path(path_type=Path), default=_TABLES, show_default=True, help="The folder of tables."
)
@click.option(
    "--texts", type=click.Path(path_type=Path), help="Where fetched texts are kept [default: texts/ in that folder]."
)
@click.option("--fetch", is_flag=True, help="Fetch the texts that are missing, from where each table says.")
@click.option("--page", type=click.Path(path_type=Path), help="Write the findings to this Markdown page, too.")
@json_option
@common_options
def referee(
    names: tuple[str, ...], tables: Path, texts: Path | None, page: Path | None, *, fetch: bool, as_json: bool
) -> None:
    """Hold published numbers against tokbench's own.

    A number is equal, equal up to rounding, parted with a cause that gives the whole column, or open. What cannot run
    here says why.

    Exit codes: 0 no number is open, 1 some are, 2 bad input.
    """
    from tokbench.plugin import write_atomically
    from tokbench_maintain.referee.judge import judge
    from tokbench_maintain.referee.page import lines_of, page_of, totals_of
    from tokbench_maintain.referee.table import read_tables

    kept = texts or tables / "texts"
    verdicts = []
    for published in read_tables(tables, names):
        if fetch:
            published.fetch(kept)
        verdicts.append(judge(published, kept))
        if not as_json:
            say("\n".join(lines_of(verdicts[-1])))
    if page is not None:
        write_atomically(page, page_of(verdicts).encode())
    if as_json:
        print_json({"tables": [verdict.plain() for verdict in verdicts]})
    else:
        say(f"{len(verdicts)} table{'s' * (len(verdicts) != 1)}, {totals_of(verdicts)}")
    sys.exit(int(any(verdict.count("open") for verdict in verdicts)))
