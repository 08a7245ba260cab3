"""The command ``tokbench list``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from tokbench.terminal.number_table import console
from tokbench.terminal.options import common_options, examples, json_option, print_json

if TYPE_CHECKING:
    from rich.console import Console

    from tokbench.registry.plugins import Catalogue, Registry

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
@click.option("--all", "everything", is_flag=True, help="Include what packages bring that are not installed.")
@json_option
@common_options
def list_(kind: str | None, *, everything: bool, as_json: bool) -> None:
    """List shipped suites, plugins and what these bring; a broken plugin says why.

    They bring backends, published names of tokenizers, corpora, metrics, studies, report formats and executors.
    """
    from tokbench.registry.plugins import load_registry

    registry, kinds = load_registry(), [kind] if kind else list(_KINDS)
    if as_json:
        print_json({listed: _facts(registry, listed, everything=everything) for listed in kinds})
        return
    with console() as terminal:
        for listed in kinds:
            _table(terminal, listed, _listed(registry, listed, everything=everything))


class _Listed(NamedTuple):
    name: str
    origin: str
    """The distribution or the plugin that registered it."""
    summary: str
    reason: str = ""
    """What it lacks, and how to install that."""


def _listed(registry: Registry, kind: str, *, everything: bool) -> list[_Listed]:
    from tokbench.config.suites import shipped_suites
    from tokbench.registry.plugins import missing
    from tokbench.registry.tokenizer_names import catalogue, unverified

    if kind == "suites":
        needed = " (needs test data: TOKBENCH_TEST_DATA)"
        suites = shipped_suites().values()
        return [_Listed(suite.name, "", suite.summary + needed * suite.needs_data) for suite in suites]
    if kind == "plugins":
        return [
            _Listed(plugin.name, f"{plugin.distribution} {plugin.version}".strip(), "usable", plugin.reason)
            for plugin in registry.plugins
        ]
    if kind == "published":
        entries = registry.backends.entries
        listed, unproved = [], unverified(registry)
        for name, candidates in catalogue(registry).items():
            plugins = [entries[candidate.backend].plugin for candidate in candidates]
            origins = dict.fromkeys(plugin.distribution or plugin.name for plugin in plugins)
            summary = ", ".join(map(str, candidates)) + ("; unverified" if name in unproved else "")
            listed.append(_Listed(name, ", ".join(origins), summary))
        return listed
    needs = kind in {"backends", "executors"}
    known = [
        _Listed(
            name,
            entry.plugin.distribution or entry.plugin.name,
            entry.spec.summary,
            (needs and missing(entry.spec)) or "",
        )
        for name, entry in sorted(getattr(registry, kind).entries.items())
    ]
    return known + _absent(getattr(registry, kind)) * everything


def _absent(catalogue: Catalogue[Any]) -> list[_Listed]:
    """Return what packages bring that are not installed."""
    from tokbench.foundation.packages import install, packages

    return [
        _Listed(name, package, "", f"not installed: {install(package)}")
        for package, kinds in packages().items()
        for name in kinds.get(catalogue.kind, ())
        if name not in catalogue.entries
    ]


def _facts(registry: Registry, kind: str, *, everything: bool) -> list[dict[str, object]]:
    from tokbench.config.suites import shipped_suites

    if kind == "suites":
        suites = shipped_suites().values()
        return [{"name": suite.name, "summary": suite.summary, "needs_data": suite.needs_data} for suite in suites]
    if kind == "plugins":
        return [
            {name: getattr(plugin, name) for name in ("name", "distribution", "version", "reason")}
            for plugin in registry.plugins
        ]
    return [entry._asdict() for entry in _listed(registry, kind, everything=everything)]


_HEADS = {
    "suites": ("what it shows; run it with 'tokbench run SUITE'",),
    "plugins": ("from", "state"),
    "published": ("from", "what loads it: the first that needs no network"),
}


def _table(terminal: Console, kind: str, entries: Sequence[_Listed]) -> None:
    from rich.table import Table
    from rich.text import Text

    from tokbench.report.escaping import plain

    table = Table(title=kind, title_justify="left", box=None, pad_edge=False)
    for head in (_KINDS[kind], *_HEADS.get(kind, ("from", "what it is"))):
        table.add_column(head, overflow="fold")
    for entry in entries:
        cells = [entry.name, *([entry.origin] if kind != "suites" else []), entry.reason or entry.summary]
        table.add_row(*(Text(plain(cell)) for cell in cells))
    terminal.print(table)
    terminal.print()
