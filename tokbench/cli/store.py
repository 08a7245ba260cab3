"""``tokbench store``: list, prune and verify finished work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tokbench.cli.options import common_options

if TYPE_CHECKING:
    from tokbench.foundation.store import Store


@click.group("store")
def store() -> None:
    """List, prune or verify the store of finished work.

    A run keeps what it has finished there, and takes from there what it need not do again. The store is the folder
    TOKBENCH_STORE, or one in the platform's place for caches. It takes at most TOKBENCH_STORE_SIZE (10GB).
    """


@store.command("list")
@click.argument("kind", required=False)
@common_options
def list_(kind: str | None) -> None:
    """List the entries, the last used one last; with KIND only those of one kind, with their keys."""
    from datetime import datetime

    from tokbench.foundation.store import canonical

    opened = _opened()
    entries = sorted(opened.entries(), key=lambda entry: entry.used)
    if kind:
        kinds = sorted({entry.kind for entry in entries})
        if kind not in kinds:
            raise click.UsageError(f"the store has no entries of kind {kind!r}; it has {', '.join(kinds) or 'none'}")
        for entry in entries:
            if entry.kind == kind:
                used = datetime.fromtimestamp(entry.used).astimezone().isoformat(" ", "seconds")
                click.echo(f"{used}  {entry.size:>13,}  {canonical(entry.key)}")
        return
    click.echo(f"{opened.folder}: {len(entries):,} entries, {sum(entry.size for entry in entries):,} bytes")
    for entry_kind in sorted({entry.kind for entry in entries}):
        sizes = [entry.size for entry in entries if entry.kind == entry_kind]
        click.echo(f"  {entry_kind:<20} {len(sizes):>8,} entries {sum(sizes):>16,} bytes")


@store.command()
@click.option("--size", metavar="SIZE", help="Delete until the entries take no more than this, such as 500MB or 0.")
@common_options
def prune(size: str | None) -> None:
    """Delete the entries that were not used for longest."""
    from tokbench.foundation.store import parse_size

    try:
        limit = None if size is None else parse_size(size)
    except ValueError as error:
        raise click.UsageError(f"--size: {error}") from None
    deleted, freed = _opened().prune(limit)
    click.echo(f"deleted {deleted:,} entries, {freed:,} bytes")


@store.command()
@common_options
def verify() -> None:
    """Read every entry, and delete the damaged ones. The exit code is 1 if there were any."""
    sound, damaged = _opened().verify()
    for path, reason in damaged:
        click.echo(f"damaged, deleted: {path}: {reason}")
    click.echo(f"{sound:,} entries are sound, {len(damaged):,} were damaged")
    if damaged:
        raise SystemExit(1)


def _opened() -> Store:
    from tokbench.foundation.store import OFF, open_store

    opened = open_store()
    if opened is None:
        raise click.UsageError(f"there is no store: {OFF} or --no-store is given")
    return opened
