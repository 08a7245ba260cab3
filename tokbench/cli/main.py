"""The command line: thin, and light to start."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tokbench.cli.check import check
from tokbench.cli.inspect import inspect
from tokbench.cli.train import train
from tokbench.errors import InputError, TokbenchError

if TYPE_CHECKING:
    from rich.console import Console

    from tokbench.registry import Registry

__all__ = ["main"]

_KINDS = {
    "plugins": "plugin",
    "backends": "backend",
    "corpora": "corpus source",
    "metrics": "metric family",
    "reporters": "report format",
}


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="tokbench")
def tokbench() -> None:
    """Compare and benchmark tokenizers: one YAML file in, one report out.

    Exit codes: 0 all cells have a value or are declared optional, 1 some cells failed (check --backend: some rules
    are broken), 2 bad input (told before anything is measured), 130 interrupted.
    """


@tokbench.command()
@click.argument("config", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The run's folder [default: reports/NAME].")
@click.option(
    "-w",
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Processes that measure side by side, each with all tokenizers in memory; timings stay alone.",
)
def run(config: Path, output: Path | None, workers: int) -> None:
    """Execute CONFIG and write results.json and the reports."""
    from tokbench.api import run as execute
    from tokbench.config.read import read_config
    from tokbench.report.terminal import summary

    folder = output or Path("reports", read_config(config).name or "run")
    results = execute(config, folder, workers)
    summary(results, _console(), sorted(path for path in folder.iterdir() if path.is_file()))
    for trouble in results.problems:
        click.echo(f"error: {trouble}", err=True)
    sys.exit(130 if results.interrupted else int(results.failed))


@tokbench.command("list")
@click.argument("kind", required=False, type=click.Choice(list(_KINDS)))
def list_(kind: str | None) -> None:
    """List what is installed: plugins, backends, corpora, metrics and report formats, and what is broken and why."""
    from tokbench.registry import load_registry

    registry, console = load_registry(), _console()
    for each in [kind] if kind else _KINDS:
        _plugins(registry, console) if each == "plugins" else _shelf(registry, each, console)


def _plugins(registry: Registry, console: Console) -> None:
    rows = [
        (plugin.name, f"{plugin.distribution} {plugin.version}".strip(), plugin.reason or "usable")
        for plugin in registry.plugins
    ]
    _table(console, "plugins", (_KINDS["plugins"], "from", "state"), rows)


def _shelf(registry: Registry, kind: str, console: Console) -> None:
    from tokbench.contracts.backend import BackendSpec
    from tokbench.registry import missing

    rows = []
    for name, entry in sorted(getattr(registry, kind).entries.items()):
        absent = missing(entry.spec) if isinstance(entry.spec, BackendSpec) else ""
        rows.append((name, entry.plugin.distribution or entry.plugin.name, absent or entry.spec.summary))
    _table(console, kind, (_KINDS[kind], "from", "what it is"), rows)


def _table(console: Console, title: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    from rich.table import Table
    from rich.text import Text

    from tokbench.report.escaping import plain

    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(plain(cell)) for cell in row))
    console.print(table)
    console.print()


def _show_log() -> None:
    """What the packages have to say while they work, such as that something is being compiled, on standard error."""
    import logging

    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(message)s"))
    logger = logging.getLogger("tokbench")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)


def _console() -> Console:
    from rich.console import Console

    return Console()


tokbench.add_command(check)
tokbench.add_command(inspect)
tokbench.add_command(train)


def main() -> None:
    """The entry point: what tokbench raises on purpose is a message and an exit code, not a traceback."""
    _show_log()
    try:
        tokbench.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except InputError as error:
        for problem in error.problems:
            click.echo(f"error: {problem}", err=True)
        sys.exit(2)
    except TokbenchError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(1)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(130)
