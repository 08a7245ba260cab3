"""The command ``tokbench bytes``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tokbench.command import common_options, examples, json_option, print_json, print_numbers, say

if TYPE_CHECKING:
    from tokbench_questions.byte_table.table import ByteTable

_FEW = 5


@click.command(epilog=examples("tokbench bytes gpt-4o -o table.npy", "tokbench bytes llama-2 --texts texts --json"))
@click.argument("tokenizer")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="A NumPy file for the table, such as table.npy.")
@click.option(
    "--texts", default="sample", show_default=True, metavar="WHERE", help="A file, folder or pattern to check."
)
@click.option("--size", default=0, metavar="N", help="The rows of the model's output, if there are more than ids.")
@json_option
@common_options
def byte_table(tokenizer: str, output: Path | None, texts: str, size: int, *, as_json: bool) -> None:
    """Write how many bytes of text each id of TOKENIZER has, for bits per byte in a training loop.

    Every id is decoded between two letters, and the ids of every text must add up to its bytes.

    Exit codes: 0 the bytes are exact, 1 an id or a text differs, 2 bad input.
    """
    import numpy as np

    from tokbench.command import texts_by_group
    from tokbench_questions.byte_table.table import byte_table as make

    table = make(tokenizer, texts_by_group(texts), size=size)
    if output:
        with output.open("wb") as file:
            np.save(file, table.sizes)
    if as_json:
        lists = {"wrong": [one._asdict() for one in table.wrong], "groups": [one._asdict() for one in table.groups]}
        numbers = {"ids": len(table.sizes), "longest": int(table.sizes.max())}
        print_json(
            {"tokenizer": tokenizer, "exact": table.exact, **table._asdict(), **numbers, **lists, "sizes": output}
        )
    else:
        _show(tokenizer, table)
        say(f"wrote {output}: int32, one number for each id" if output else "-o FILE writes the table")
    sys.exit(int(not table.exact))


def _show(name: str, table: ByteTable) -> None:
    texts, differ, total, counted, unknown = (sum(column) for column in list(zip(*table.groups, strict=True))[1:])
    if differ:
        share = f"{counted - total:+,} of {total:,} bytes ({(counted - total) / total:+.2%})"
        say(
            f"{name}: the bytes of the ids differ from the bytes of {differ:,} of {texts:,} texts, in total by {share}."
        )
    else:
        say(f"{name}: the bytes of the ids add up to the bytes of each of {texts:,} texts ({total:,} bytes).")
    if table.wrong:
        shown = ", ".join(f"{one.id} ({one.said!r}, decoded {one.decoded!r})" for one in table.wrong[:_FEW])
        say(f"{len(table.wrong):,} ids decode to other bytes: {shown}")
    say(
        f"{len(table.sizes):,} ids, the longest of {table.sizes.max()} bytes; {table.partial:,} are parts of characters"
    )
    names = ", ".join(table.special[:_FEW]) + ", …" * (len(table.special) > _FEW)
    say(f"special ids have 0 bytes, and their loss counts: {names}")
    if table.prefix:
        say(f"each document's ids have {table.prefix} byte (a space) that its text does not: subtract it per document")
    if unknown:
        say(f"{unknown:,} tokens are unknown (id {table.unknown}): 0 bytes, whatever the text was")
    if differ:
        say("not exact in these groups; divide by the bytes of the texts themselves")
        heads = ["group", "texts", "differ", "bytes", "of ids", "unknown", "difference"]
        lossy = [group for group in table.groups if group.different]
        rows = [[g.group, *(f"{n:,}" for n in g[1:]), f"{g.counted / g.bytes - 1:+.2%}"] for g in lossy]
        print_numbers(heads, rows)
