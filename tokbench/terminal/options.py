"""Options that several commands have."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

import click

from tokbench.foundation.errors import NotWritten
from tokbench.terminal.interruption import leave

if TYPE_CHECKING:
    from tokbench.tokenizers.options import GivenOptions

F = TypeVar("F", bound=Callable[..., Any])

backend_options = click.option(
    "-O", "--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of the backend; a list is JSON."
)

store_option = click.option(
    "--no-store", is_flag=True, help="Ignore the cache of finished work: compute everything, and keep nothing."
)

model_option = click.option(
    "--model",
    default="",
    metavar="125m…405b|WIDTHxLAYERS",
    help="The model to choose a vocabulary size for, such as 3b [default: each of 125m, 1b and 8b].",
)

TOKENIZER: Final = "a published name such as gpt-4o, backend:value, or a file such as tokenizer.json"


def examples(*commands: str) -> str:
    """Return the examples of a help text; the tests run every one."""
    return "\n".join(["\b", "Examples:", *(f"  {command}" for command in commands)])


STANDARD_OUTPUT: Final = "standard output"


def emit(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Write to standard output, or raise NotWritten; what standard error cannot take is lost.

    Raises:
        NotWritten: it is full or closed.
    """
    try:
        click.echo(text, err=err, nl=nl)
    except BrokenPipeError:
        raise  # which ends a command as its reader wants
    except OSError as error:
        leave(sys.stderr if err else sys.stdout)  # or Python would fail to write the rest when it ends
        if not err:
            raise NotWritten(error.errno or 0, error.strerror, STANDARD_OUTPUT) from error


def say(message: str, *, err: bool = False) -> None:
    """Print a message with control characters escaped."""
    from tokbench.foundation.visible_text import visible

    emit(visible(message, keep="\n\t"), err=err)


STDIN: Final = "-"
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object, and nothing else.")


def print_json(facts: Mapping[str, object]) -> None:
    """Print JSON in ASCII, so that no encoding matters."""
    emit(json.dumps(facts, indent=1, default=str))


def print_markdown(text: str) -> None:
    """Print Markdown: rendered on a terminal, raw elsewhere."""
    if not sys.stdout.isatty():
        emit(text)
        return
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.markdown import Markdown, TableElement
    from rich.table import Table

    class Folded(TableElement):  # names stay whole in a narrow terminal
        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            for table in super().__rich_console__(console, options):
                for column in table.columns if isinstance(table, Table) else ():
                    column.overflow = "fold"
                yield table

    class Page(Markdown):
        elements: ClassVar = {**Markdown.elements, "table_open": Folded}

    Console().print(Page(text, hyperlinks=False))


_PAGES: Final = (".md", ".html", ".json")


def _pages(_context: click.Context, _option: click.Parameter, files: tuple[Path, ...]) -> tuple[Path, ...]:
    if wrong := [str(file) for file in files if file.suffix not in _PAGES]:
        raise click.UsageError(f"-o {wrong[0]}: end the name in .md, .html or .json")
    return files


def page_option(what: str) -> Callable[[F], F]:
    """Return the option ``-o FILE``; ``what`` is for the help."""
    return click.option(
        "-o",
        "--output",
        "files",
        type=click.Path(path_type=Path),
        multiple=True,
        callback=_pages,
        help=f"A file for the {what}: .md, .html or .json; may be repeated [default: none; print it, "
        "as Markdown where standard output is not a terminal].",
    )


def split_names(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of tokenizers that are given, with commas between them; a file's name may have one.

    >>> split_names(None, None, ("gpt-4o, llama-3", "gpt-2"))
    ('gpt-4o', 'llama-3', 'gpt-2')
    """
    names = (name.strip() for part in given for name in ([part] if os.path.lexists(part) else part.split(",")))
    return tuple(filter(None, names))


def tokenizer_options(what: str) -> Callable[[F], F]:
    """Return ``-t NAME`` and ``-c CONFIG``; ``what`` is for the help."""

    def add(command: F) -> F:
        command = click.option(
            "-c", "--config", type=click.Path(path_type=Path), help="A configuration, or the name of a suite."
        )(command)
        return click.option(
            "-t", "--tokenizer", "names", multiple=True, metavar="NAMES", callback=split_names, help=what
        )(command)

    return add


class Debugging:
    """Remembers whether the command has ``--debug``."""

    on = False


def show_traceback(reason: str, traceback: str) -> None:
    """With ``--debug``, print a failure and its traceback on standard error."""
    if Debugging.on and traceback:
        say(f"\n{reason}\n{traceback.rstrip()}", err=True)


def _debug(_context: click.Context, _option: click.Parameter, value: bool) -> None:  # noqa: FBT001 - as click calls it
    Debugging.on = value


def _no_third_party(_context: click.Context, _option: click.Parameter, value: bool) -> None:  # noqa: FBT001
    if value:  # in the environment, so that worker processes inherit it
        os.environ["TOKBENCH_NO_THIRD_PARTY"] = "1"


pictures_option = click.option(
    "--pictures", is_flag=True, help="Write all charts as SVG and PNG, too, to the folder pictures of the run."
)


def common_options(command: F) -> F:
    """Add ``--debug`` and ``--no-third-party``, which every command has."""
    for name, remember, text in (
        ("--no-third-party", _no_third_party, "Load only the plugins that come with tokbench."),
        ("--debug", _debug, "Show tracebacks of errors and failed results."),
    ):
        command = click.option(name, is_flag=True, expose_value=False, callback=remember, help=text)(command)
    return command


def log_option(command: F) -> F:
    """Add ``--log``. With ``json``, only JSON reaches standard error from then on."""

    def start(_context: click.Context, _option: click.Parameter, value: str) -> str:
        if value == "json":
            from tokbench.foundation.display import only_json

            only_json()
        return value

    return click.option(
        "--log",
        type=click.Choice(["auto", "bars", "lines", "json", "none"]),
        default="auto",
        show_default=True,
        callback=start,
        help="How to show progress on standard error: bars, plain lines, or JSON, one object a line; auto is bars in a "
        "terminal and lines elsewhere.",
    )(command)


def _no_quick(_context: click.Context, _option: click.Parameter, given: bool) -> None:  # noqa: FBT001 - click's
    if given:
        raise click.UsageError("--quick is gone: take --limit N for fewer documents, and --set PATH=VALUE for the rest")


def override_options(command: F) -> F:
    """Add the options that change a configuration: ``--limit``, ``--only`` and ``--set``."""
    for option in (
        click.option(
            "--set",
            "settings",
            multiple=True,
            metavar="PATH=VALUE",
            help="Replace a value, such as metrics.fertility.unit=icu; null removes it; may be repeated.",
        ),
        click.option("--quick", is_flag=True, hidden=True, expose_value=False, callback=_no_quick),
        click.option("--only", multiple=True, metavar="TOKENIZER", help="Measure this one alone; may be repeated."),
        click.option(
            "--limit",
            type=click.IntRange(min=1),
            metavar="N",
            help="For a first look, measure at most N documents of each group, and train on as few.",
        ),
    ):
        command = option(command)
    return command


def parse_options(options: Sequence[str]) -> GivenOptions:
    """Parse the values of ``-O``: a plain value as in YAML, a list or mapping as JSON.

    Raises:
        click.UsageError: one has no equals sign.

    >>> parse_options(["pattern=gpt4", "character_coverage=0.9995", 'user_defined_symbols=["<a>"]'])
    {'pattern': 'gpt4', 'character_coverage': 0.9995, 'user_defined_symbols': ['<a>']}
    """
    from tokbench.config.strict_yaml import plain_scalar
    from tokbench.foundation.parsing import parse_json

    parsed: GivenOptions = {}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals:
            raise click.UsageError(f"-O {option}: write it as KEY=VALUE")
        try:
            parsed[key] = parse_json(value) if value.startswith(("[", "{")) else plain_scalar(value)
        except ValueError:  # a regular expression may begin like that
            parsed[key] = value
    return parsed
