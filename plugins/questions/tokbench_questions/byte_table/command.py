"""The command ``tokbench bytes``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tokbench.plugin.command import TOKENIZER, common_options, examples, json_option, print_json, print_numbers, say

if TYPE_CHECKING:
    from tokbench_questions.byte_table.table import ByteTable

_FEW = 5


@click.command(
    "bytes", epilog=examples("tokbench bytes gpt-4o -o table.npy", "tokbench bytes llama-2 --texts texts --json")
)
@click.argument("tokenizer")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="A NumPy file for the table, such as table.npy.")
@click.option("--texts", default="sample", metavar="WHERE", help="A file, folder or pattern to check [default: sample].")
@click.option("--size", default=0, metavar="N", help="The rows of the model's output, if there are more than ids.")
@json_option
@common_options
def byte_table(tokenizer: str, output: Path | None, texts: str, size: int, *, as_json: bool) -> None:
    """Write how many bytes of text each id of TOKENIZER has, for bits per byte in a training loop.

    Every id is decoded between two letters, and the ids of every text must add up to its bytes.

    Exit codes: 0 the bytes are exact, 1 an id or a text differs, 2 bad input.
    """
    import numpy as np

    from tokbench.plugin.command import texts_by_group
    from tokbench_questions.byte_table.table import byte_table as make

    table = make(tokenizer, texts_by_group(texts), size=size)
    if output:
        with output.open("wb") as file:
            np.save(file, table.sizes)
    if as_json:
        print_json(_facts(tokenizer, table))
    else:
        _show(tokenizer, table, output)
    sys.exit(int(not table.exact))


byte_table.help = (byte_table.help or "").replace("of TOKENIZER", f"of TOKENIZER ({TOKENIZER})", 1)


def _facts(name: str, table: ByteTable) -> dict[str, object]:
    return {
        "tokenizer": name,
        "exact": table.exact,
        "ids": len(table.sizes),
        "longest": int(table.sizes.max()),
        "prefix": table.prefix,
        "special": table.special,
        "unknown": table.unknown,
        "partial": table.partial,
        "wrong": [{"id": one.id, "bytes": one.said.hex(), "decoded": one.decoded} for one in table.wrong],
        "groups": [vars(group) for group in table.groups],
    }


def _show(name: str, table: ByteTable, output: Path | None) -> None:
    total, counted = sum(group.bytes for group in table.groups), sum(group.counted for group in table.groups)
    texts, lossy = sum(group.texts for group in table.groups), [group for group in table.groups if group.different]
    if lossy:
        differ = sum(group.different for group in lossy)
        say(
            f"{name}: the bytes of the ids differ from the bytes of {differ:,} of {texts:,} texts, in total by "
            f"{counted - total:+,} of {total:,} bytes ({(counted - total) / total:+.2%}); divide by the texts' own bytes."
        )
    else:
        say(f"{name}: the bytes of the ids add up to the bytes of each of {texts:,} texts ({total:,} bytes).")
    if table.wrong:
        shown = ", ".join(f"{one.id} ({one.said!r}, decoded {one.decoded!r})" for one in table.wrong[:_FEW])
        say(f"{len(table.wrong):,} ids decode to other bytes: {shown}")
    say(f"{len(table.sizes):,} ids, the longest of {table.sizes.max()} bytes; {table.partial:,} are parts of characters.")
    names = ", ".join(table.special[:_FEW]) + (", …" if len(table.special) > _FEW else "")
    say(f"special ids have 0 bytes, and their loss counts: {names or 'none'}")
    if table.prefix:
        say(f"each document's ids have {table.prefix} byte (a space) that its text does not: subtract it per document.")
    if unknowns := sum(group.unknown for group in table.groups):
        say(f"{unknowns:,} tokens are unknown (id {table.unknown}): 0 bytes, whatever the text was.")
    if lossy:
        heads = ["group", "texts", "differ", "bytes", "of ids", "difference", "unknown"]
        rows = [[x.group, *_numbers(x.texts, x.different, x.bytes, x.counted)] for x in lossy]
        for row, group in zip(rows, lossy, strict=True):
            row += [f"{group.counted / group.bytes - 1:+.2%}", f"{group.unknown:,}"]
        print_numbers(heads, rows)
    if output:
        say(f"wrote {output}: int32, one number for each id")


def _numbers(*numbers: int) -> list[str]:
    return [f"{number:,}" for number in numbers]
