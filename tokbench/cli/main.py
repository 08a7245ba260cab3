"""The command line; it starts without heavy imports."""

from __future__ import annotations

import gc
import importlib
import io
import json
import os
import subprocess
import sys
from functools import cached_property
from importlib.metadata import entry_points
from traceback import walk_tb
from typing import Final

import click

from tokbench.foundation.errors import InputError, NotWritten, TokbenchError, one_line
from tokbench.foundation.failures import Failure, PluginError, attempt
from tokbench.foundation.packages import elsewhere, is_own
from tokbench.terminal.interruption import Interruption, leave, stop_on_signals
from tokbench.terminal.options import STANDARD_OUTPUT, Debugging, say

_NEW_OBJECTS: Final = 50_000
"""New objects per garbage collection; Python's 700 take a fifth of the start-up time."""


_FIRST_STEPS: Final = """\b
Begin with one of these:
  tokbench run quickstart --limit 5        a first report, in reports/quickstart/
  tokbench show "an Egg" -t gpt-4o -t qwen-3  the tokens of a text
  tokbench cost texts/mine.txt             its tokens under all of today's vocabularies
  tokbench serve                           tokens on a local page, while you type
  tokbench new texts                       a configuration for all texts of a folder
  tokbench list                            all suites, plugins and what they bring
"""


_COMMANDS: Final = {
    "run": "tokbench.cli.run",
    "report": "tokbench.cli.report",
    "show": "tokbench.cli.show",
    "cost": "tokbench.cost.command",
    "serve": "tokbench.serve.command",
    "compare": "tokbench.comparison.command",
    "new": "tokbench.cli.new",
    "list": "tokbench.cli.list:list_",
    "check": "tokbench.cli.check",
    "inspect": "tokbench.inspect.command",
    "train": "tokbench.training.command",
    "store": "tokbench.cli.store",
    "schema": "tokbench.cli.schema",
}
"""The commands of the default installation, each with its module, and its name there if it has another one."""

GROUP: Final = "tokbench.commands"
"""The entry points of the commands of packages: a name, and a click command as ``module:name``."""


class Commands(click.Group):
    """A group of commands that are imported when they are used."""

    here: str = ""
    """The command of another package that this process was started for."""

    @cached_property
    def homes(self) -> dict[str, str]:
        """Return the module of every command, those of packages last."""
        return {**{point.name: point.value for point in entry_points(group=GROUP)}, **_COMMANDS}

    @cached_property
    def strangers(self) -> dict[str, str]:
        """Return the commands of packages that are not tokbench's, each with its package."""
        packages = {point.name: point.dist.name for point in entry_points(group=GROUP) if point.dist}
        return {name: package for name, package in packages.items() if name not in _COMMANDS and not is_own(package)}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click calls it
        return sorted(self.homes)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.strangers and cmd_name != self.here:
            return _apart(cmd_name, self.strangers[cmd_name])
        if home := self.homes.get(cmd_name):
            module, _, name = home.partition(":")
            try:
                command: click.Command = getattr(importlib.import_module(module), name or cmd_name)
            except (Exception, SystemExit) as error:
                if cmd_name in _COMMANDS:
                    raise
                return _broken(cmd_name, one_line(error))
            return command
        if said := elsewhere("command", cmd_name):
            raise click.UsageError(said, ctx)
        return None


_START: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); "
    "from tokbench.cli.main import main; main(sys.argv.pop(1))"
)


def _apart(name: str, package: str) -> click.Command:
    """Return a command of another package: its module is imported in a process of its own, which has the terminal."""

    def run(arguments: tuple[str, ...]) -> None:
        read, write = os.pipe()
        os.set_blocking(read, False)
        words = [sys.executable, "-c", _START, json.dumps(sys.path), f"{write} {name}", name, *arguments]
        code = subprocess.run(words, pass_fds=[write], check=False).returncode  # noqa: S603 - this interpreter
        os.close(write)
        unasked = code == Interruption.exit_code  # Ctrl-C would have interrupted this process, too
        if unasked or attempt(lambda: os.read(read, 1)) != b".":
            how = f"died with signal {-code}" if code < 0 else "ended the program, and nothing is finished"
            raise PluginError(Failure(f"the command {name!r} of the package {package} {how}"))
        sys.exit(code)

    anything = click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED)
    help_ = f"A command of the package {package}: tokbench {name} --help."
    return click.Command(name, {"ignore_unknown_options": True}, run, [anything], help_, add_help_option=False)


def _broken(name: str, reason: str) -> click.Command:
    """Return a command of a package that cannot be imported; it says why, and all others work."""

    def fail(arguments: tuple[str, ...]) -> None:  # noqa: ARG001 - whatever they are
        raise click.ClickException(f"the command {name!r} cannot be imported: {reason}; install its package again")

    anything = click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED)
    return click.Command(name, {"ignore_unknown_options": True}, fail, [anything], f"Cannot be imported: {reason}")


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]}, epilog=_FIRST_STEPS)
@click.version_option(package_name="tokbench")
def tokbench() -> None:
    """Compare and benchmark tokenizers: one YAML file in, one report out.

    Exit codes: 0 all results are there or optional, 1 some failed (check --backend: a rule is broken), 2 bad input
    (before anything is measured), 130 interrupted (143 by SIGTERM, 129 by SIGHUP).
    """


def _show_log() -> None:
    import logging

    class Said(logging.Handler):
        """Prints messages with control characters escaped, such as those in a file name."""

        def emit(self, record: logging.LogRecord) -> None:
            say(self.format(record), err=True)

    logger = logging.getLogger("tokbench")
    logger.addHandler(Said())
    logger.setLevel(logging.INFO)


def _open_closed_streams() -> None:
    """Open the streams that are closed, or the next file that is opened would be one."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR if name == "stderr" else os.O_RDONLY)
            setattr(sys, name, os.fdopen(nowhere, mode, encoding="utf-8"))


def main(started_for: str = "") -> None:
    """Run the command line; an intended error becomes a message and an exit code.

    Args:
        started_for: a command of another package, behind the descriptor that gets a byte when it has ended.
    """
    line, _, tokbench.here = started_for.partition(" ")
    code: object = None
    try:
        _main()
    except SystemExit as error:
        code = error.code
    if line:
        os.write(int(line), b".")
    sys.exit(code)  # type: ignore[arg-type]


def _main() -> None:
    gc.set_threshold(_NEW_OBJECTS)
    _open_closed_streams()
    _show_log()
    stop_on_signals()
    try:
        tokbench.main(prog_name="tokbench", standalone_mode=False)
    except SystemExit as error:
        if not error.code and (module := _not_a_command(error)):
            say(f"error: {module} ended the program, and nothing is finished: leave it out", err=True)
            sys.exit(1)
        raise
    except (click.ClickException, TokbenchError, OSError) as error:
        sys.exit(_say_error(error))
    except (click.Abort, KeyboardInterrupt):
        if Debugging.on:
            sys.excepthook(*sys.exc_info())
        say("interrupted", err=True)
        # A KeyboardInterrupt in the exec of a string, as dataclasses have, makes Python end by SIGINT whatever the exit
        # code is, until the next exec of a string.
        exec("")  # noqa: S102
        sys.exit(Interruption.exit_code)


def _not_a_command(error: SystemExit) -> str:
    """Return the module that called ``sys.exit``, if it is none of a command."""
    *_, (frame, _) = walk_tb(error.__traceback__)
    module = str(frame.f_globals.get("__name__"))
    known = {home.partition(":")[0] for home in tokbench.homes.values()}
    return "" if module in known or module.startswith("click.") else module


def _say_error(error: click.ClickException | TokbenchError | OSError) -> int:
    """Say what is wrong; return the exit code."""
    if isinstance(error, click.ClickException):
        shown = io.StringIO()
        if isinstance(error, click.UsageError) and error.ctx:
            error.ctx.color = True  # or click would take escape sequences away instead of letting them be seen
        error.show(shown)
        say(shown.getvalue().rstrip("\n"), err=True)
        return 2
    if Debugging.on:
        sys.excepthook(*sys.exc_info())
    said: object = error
    if isinstance(error, OSError) and not isinstance(error, TokbenchError):
        said = f"{error.filename}: {error.strerror}; --debug shows where"
        if error.filename is None:  # all files say their names
            leave(sys.stdout)
            said = NotWritten(error.errno or 0, error.strerror, STANDARD_OUTPUT)
    for problem in error.problems if isinstance(error, InputError) else [said]:
        say(f"error: {problem}", err=True)
    return 2 if isinstance(error, InputError) else 1
