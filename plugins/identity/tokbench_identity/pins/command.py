"""The command ``tokbench pin``: keep the ids of texts in a file, and check them."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Final

import click

from tokbench.command import common_options, examples, json_option, print_json, say
from tokbench.terminal.options import store_option

_LOCK: Final = "ids.lock"


@click.command(
    epilog=examples(
        "tokbench pin gpt-4o",
        "tokbench pin mine.yaml -o ids.lock",
        "tokbench pin --check ids.lock",
        "tokbench pin --check ids.lock --json",
    )
)
@click.argument("config", required=False, type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help=f"The file of the pins [default: {_LOCK}; it is replaced]."
)
@click.option("--check", "lock", type=click.Path(path_type=Path), help="Check this file of pins, and write nothing.")
@click.option("--with", "other", metavar="BACKEND", help="With --check: let this backend load every tokenizer.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Pin at most N documents of each group.")
@click.option("--only", multiple=True, metavar="TOKENIZER", help="Pin this one alone; may be repeated.")
@json_option
@store_option
@common_options
def pin(
    config: Path | None,
    output: Path | None,
    lock: Path | None,
    other: str | None,
    limit: int | None,
    only: tuple[str, ...],
    *,
    as_json: bool,
    no_store: bool,
) -> None:
    """Pin the ids that the tokenizers of CONFIG give, or check that they still give them.

    A pin is a line for each tokenizer and document in a text file, which is kept in a repository. CONFIG is what
    tokbench run takes, a YAML file or the name of a suite; or it is a tokenizer, which is pinned on texts that notice
    known mistakes.

    Exit codes: 0 all is pinned, or all is the same; 1 something changed, or a tokenizer failed; 2 bad input.
    """
    if lock is not None:
        if config or output or limit is not None or only:
            raise click.UsageError("--check takes CONFIG, --limit and --only from the file; leave them out")
        sys.exit(_check(lock, other or "", as_json=as_json, no_store=no_store))
    if config is None:
        raise click.UsageError("give a CONFIG to pin, or --check FILE")
    if other:
        raise click.UsageError("--with goes with --check FILE")
    sys.exit(_pin(config, output or Path(_LOCK), limit, only, as_json=as_json, no_store=no_store))


def _pin(config: Path, output: Path, limit: int | None, only: tuple[str, ...], *, as_json: bool, no_store: bool) -> int:
    from tokbench.foundation.display import progress_shown
    from tokbench.foundation.store import open_store
    from tokbench.plugin import write_atomically
    from tokbench_identity.pins.lock import write_lock
    from tokbench_identity.pins.pin import Request
    from tokbench_identity.pins.pin import pin as pin_all

    with progress_shown("none" if as_json else "auto") as progress:
        pins = pin_all(Request(config, limit, only), output.parent, progress, None if no_store else open_store())
    content = write_lock(pins.lock, output.name).encode("utf-8", "backslashreplace")
    write_atomically(output, content)
    texts = {tokenizer.name: len(tokenizer.texts) for tokenizer in pins.lock.tokenizers}
    if as_json:
        print_json({"file": str(output), "bytes": len(content), "texts": texts, "failures": dict(pins.failures)})
    else:
        for name, reason in pins.failures.items():
            say(f"{name}: not pinned: {reason}", err=True)
        count = f"{len(texts)} tokenizer{'s' if len(texts) != 1 else ''}"
        say(f"{count} pinned on {max(texts.values(), default=0):,} documents: {output} ({len(content):,} bytes)")
    return int(bool(pins.failures))


def _check(lock: Path, other: str, *, as_json: bool, no_store: bool) -> int:
    from tokbench.foundation.display import progress_shown
    from tokbench.foundation.store import open_store
    from tokbench_identity.pins.check import check_lock
    from tokbench_identity.pins.lock import read_lock
    from tokbench_identity.pins.terminal import lines

    pins = read_lock(lock)
    with progress_shown("none" if as_json else "auto") as progress:
        checked = check_lock(pins, lock.parent, progress, other=other, store=None if no_store else open_store())
    if as_json:
        print_json({"same": checked.same, **asdict(checked)})
    else:
        for line in lines(checked):
            say(line)
    return int(not checked.same)
