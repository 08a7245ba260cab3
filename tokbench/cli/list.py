"""The command ``tokbench list``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from tokbench.cli.options import common_options, examples, json_option, print_json

if TYPE_CHECKING:
    from rich.console import Console

    from tokbench.registry.index import PluginIndex

_KINDS = {
    "suites": "suite",
    "plugins": "plugin",
    "backends": "backend",
    "published": "published name",
    "corpora": "corpus source",
    "metrics": "metric family",
    "studies": "study",
    "reporters": "report format",
    "executors": "executor",
}


@click.command("list", epilog=examples("tokbench list", "tokbench list published", "tokbench list backends"))
@click.argument("kind", required=False, type=click.Choice(list(_KINDS)))
@json_option
@common_options
def list_(kind: str | None, *, as_json: bool) -> None:
    """List shipped suites, plugins and what these bring; a plugin that is broken says why.

    They bring backends, published names of tokenizers, corpora, metrics, studies, report formats and executors.
    """
    if as_json:
        print_json({listed: _facts(listed) for listed in ([kind] if kind else _KINDS)})
        return
    from rich.console import Console

    from tokbench.registry.index import plugin_index

    console = Console()
    if kind in {None, "suites"}:
        _list_suites(console)
    index = plugin_index()
    for listed in [kind] if kind else _KINDS:
        if listed == "plugins":
            _list_plugins(index, console)
        elif listed == "published":
            _list_published(index, console)
        elif listed != "suites":
            _list_entries(index, listed, console)


def _facts(kind: str) -> list[dict[str, object]]:
    """Return all of one kind; ``reason`` says why something cannot be used, and is empty if it can."""
    from tokbench.config.suites import shipped_suites
    from tokbench.registry.index import plugin_index
    from tokbench.registry.plugins import missing

    if kind == "suites":
        suites = shipped_suites().values()
        return [{"name": suite.name, "summary": suite.summary, "needs_data": suite.needs_data} for suite in suites]
    index = plugin_index()
    if kind == "plugins":
        return [
            {name: getattr(plugin, name) for name in ("name", "distribution", "version", "reason")}
            for plugin in index.plugins
        ]
    return [
        {"name": entry.name, "origin": entry.origin, "summary": entry.summary, "reason": missing(entry) or ""}
        for entry in index.listed[kind]
    ]


def _list_suites(console: Console) -> None:
    from tokbench.config.suites import shipped_suites

    needs = " (needs test data: TOKBENCH_TEST_DATA)"
    rows = [(suite.name, suite.summary + needs * suite.needs_data) for suite in shipped_suites().values()]
    _table(console, "suites", (_KINDS["suites"], "what it shows; run it with 'tokbench run SUITE'"), rows)


def _list_plugins(index: PluginIndex, console: Console) -> None:
    rows = [
        (plugin.name, f"{plugin.distribution} {plugin.version}".strip(), plugin.reason or "usable")
        for plugin in index.plugins
    ]
    _table(console, "plugins", (_KINDS["plugins"], "from", "state"), rows)


def _list_published(index: PluginIndex, console: Console) -> None:
    rows = [(plugin.name, plugin.origin, plugin.summary) for plugin in index.listed["published"]]
    _table(console, "published", (_KINDS["published"], "from", "what loads it: the first that needs no network"), rows)


def _list_entries(index: PluginIndex, kind: str, console: Console) -> None:
    from tokbench.registry.plugins import missing

    rows = [(plugin.name, plugin.origin, missing(plugin) or plugin.summary) for plugin in index.listed[kind]]
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
