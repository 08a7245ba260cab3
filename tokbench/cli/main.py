"""The command line; it starts without heavy imports."""

from __future__ import annotations

import gc
import io
import sys
from typing import Final

import click

from tokbench.cli.adapt import adapt
from tokbench.cli.check import check
from tokbench.cli.compare import compare
from tokbench.cli.cost import cost
from tokbench.cli.interruption import Interruption, stop_on_signals
from tokbench.cli.list import list_
from tokbench.cli.new import new
from tokbench.cli.options import Debugging, say
from tokbench.cli.report import report
from tokbench.cli.run import run
from tokbench.cli.serve import serve
from tokbench.cli.show import show
from tokbench.cli.store import store
from tokbench.cli.train import train
from tokbench.foundation.errors import InputError, TokbenchError
from tokbench.inspect.command import inspect
from tokbench_maintain.leaderboards.command import leaderboard
from tokbench_maintain.pins.command import pin

_NEW_OBJECTS: Final = 50_000
"""New objects per garbage collection; Python's 700 take a fifth of the start-up time."""


_FIRST_STEPS: Final = """\b
Begin with one of these:
  tokbench run quickstart --limit 5        a first report, in reports/quickstart/
  tokbench show "an Egg" -t gpt-4o -t qwen-3  the tokens of a text
  tokbench cost texts/mine.txt             its tokens under all of today's vocabularies
  tokbench serve                           the same on a page, while you type
  tokbench new texts                       a configuration for all texts of a folder
  tokbench list                            everything that there is
"""


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, epilog=_FIRST_STEPS)
@click.version_option(package_name="tokbench")
def tokbench() -> None:
    """Compare and benchmark tokenizers: one YAML file in, one report out.

    Exit codes: 0 all cells have a value or are declared optional, 1 some cells failed (check --backend: some rules
    are broken), 2 bad input (reported before anything is measured), 130 interrupted (143 by SIGTERM, 129 by SIGHUP).
    """


for _command in (
    *(run, report, show, cost, serve, compare, leaderboard, new),
    *(list_, check, pin, inspect, train, adapt, store),
):
    tokbench.add_command(_command)


def _show_log() -> None:
    import logging

    class Visible(logging.Formatter):
        """Escapes control characters, such as in a file name."""

        def format(self, record: logging.LogRecord) -> str:
            from tokbench.foundation.visible_text import visible

            return visible(super().format(record), keep="\n")

    handler = logging.StreamHandler()
    handler.setFormatter(Visible("%(message)s"))
    logger = logging.getLogger("tokbench")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)


def main() -> None:
    """Run the command line; an intended error becomes a message and an exit code."""
    gc.set_threshold(_NEW_OBJECTS)
    _show_log()
    stop_on_signals()
    try:
        tokbench.main(prog_name="tokbench", standalone_mode=False)
    except click.ClickException as error:
        shown = io.StringIO()
        if isinstance(error, click.UsageError) and error.ctx:
            error.ctx.color = True  # or click would take escape sequences away instead of letting them be seen
        error.show(shown)
        say(shown.getvalue().rstrip("\n"), err=True)
        sys.exit(2)
    except TokbenchError as error:
        if Debugging.on:
            sys.excepthook(*sys.exc_info())
        for problem in error.problems if isinstance(error, InputError) else [error]:
            say(f"error: {problem}", err=True)
        sys.exit(2 if isinstance(error, InputError) else 1)
    except (click.Abort, KeyboardInterrupt):
        if Debugging.on:
            sys.excepthook(*sys.exc_info())
        click.echo("interrupted", err=True)
        # A KeyboardInterrupt in the exec of a string, as dataclasses have, makes Python end by SIGINT whatever the exit
        # code is, until the next exec of a string.
        exec("")  # noqa: S102
        sys.exit(Interruption.exit_code)
