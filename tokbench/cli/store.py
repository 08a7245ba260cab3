"""``tokbench store``: list and prune finished work."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tokbench.terminal.options import common_options, json_option, print_json, say

if TYPE_CHECKING:
    from tokbench.foundation.store import Store, StoredEntry


@click.group("store")
def store() -> None:
    """List or prune the store, the cache of finished work.

    A run keeps finished work there, and takes it from there the next time. The store is the folder TOKBENCH_STORE, or
    one in the platform's place for caches. It takes at most TOKBENCH_STORE_SIZE (10GB).
    """


@store.command("list")
@json_option
@common_options
def list_(*, as_json: bool) -> None:
    """Count the entries of each kind; with --json list them all with their keys, the last used one last."""
    opened = _opened()
    entries = sorted(opened.entries(), key=lambda entry: entry.used)
    if as_json:
        facts = [{"kind": entry.kind, "used": _time(entry), "bytes": entry.size, "key": entry.key} for entry in entries]
        print_json({"folder": str(opened.folder), "entries": facts})
    else:
        _list_kinds(opened.folder, entries)


def _list_kinds(folder: Path, entries: Sequence[StoredEntry]) -> None:
    say(f"{folder}: {len(entries):,} entries, {sum(entry.size for entry in entries):,} bytes")
    for kind in sorted({entry.kind for entry in entries}):
        sizes = [entry.size for entry in entries if entry.kind == kind]
        say(f"  {kind:<20} {len(sizes):>8,} entries {sum(sizes):>16,} bytes")


def _time(entry: StoredEntry) -> str:
    from datetime import datetime

    return datetime.fromtimestamp(entry.used).astimezone().isoformat(" ", "seconds")


@store.command()
@click.option("--size", metavar="SIZE", help="Delete until the entries take no more than this, such as 500MB or 0.")
@json_option
@common_options
def prune(size: str | None, *, as_json: bool) -> None:
    """Delete the least recently used entries."""
    from tokbench.foundation.parsing import parse_size

    try:
        limit = None if size is None else parse_size(size)
    except ValueError as error:
        raise click.UsageError(f"--size: {error}") from None
    deleted, freed = _opened().prune(limit)
    if as_json:
        print_json({"deleted": deleted, "bytes": freed})
    else:
        say(f"deleted {deleted:,} entries, {freed:,} bytes")


def _opened() -> Store:
    from tokbench.foundation.store import OFF, open_store

    opened = open_store()
    if opened is None:
        raise click.UsageError(f"there is no store: {OFF} or --no-store is given")
    return opened
