"""The command ``tokbench bytes``."""

from __future__ import annotations

import io
import sys
from dataclasses import asdict
from pathlib import Path

import click

from tokbench.command import common_options, examples, json_option, print_json, print_numbers, say, texts_by_group

_FEW = 5


@click.command(epilog=examples("tokbench bytes gpt-4o -o table.npy", "tokbench bytes llama-2 --texts texts --json"))
@click.argument("tokenizer")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="A NumPy file for the table, such as table.npy.")
@click.option("--texts", default="sample", show_default=True, metavar="WHERE", help="A file, folder or pattern.")
@json_option
@common_options
def byte_table(tokenizer: str, output: Path | None, texts: str, *, as_json: bool) -> None:
    """Write how many bytes of text each id of TOKENIZER has, for bits per byte in a training loop.

    Every id is decoded between two letters, and the ids of every text must add up to its bytes.

    Exit codes: 0 the bytes are exact, 1 an id or a text differs, 2 bad input.
    """
    import numpy as np

    from tokbench.plugin import write_atomically
    from tokbench_questions.byte_table import byte_table as make

    if output and (output.suffix != ".npy" or not output.parent.is_dir()):
        raise click.UsageError(f"-o {output}: give a name that ends in .npy, in a folder that exists")
    table = make(tokenizer, texts_by_group(texts))
    if output:
        content = io.BytesIO()
        np.save(content, table.sizes)
        write_atomically(output, content.getvalue())
    if as_json:
        numbers = {"ids": len(table.sizes), "longest": int(table.sizes.max()), "sizes": output}
        print_json({"tokenizer": tokenizer, "exact": table.exact, **asdict(table), **numbers})
        sys.exit(int(not table.exact))
    lossy = [group for group in table.groups if group.different]
    differ, total = sum(group.different for group in lossy), f"{sum(group.texts for group in table.groups):,} texts"
    if lossy:
        say(f"{tokenizer}: the bytes of the ids differ from the bytes of {differ:,} of {total}.")
    else:
        n_bytes = sum(group.bytes for group in table.groups)
        say(f"{tokenizer}: the bytes of the ids add up to the bytes of each of {total} ({n_bytes:,} bytes).")
    if table.wrong:
        shown = ", ".join(f"{one.id} ({one.said!r}, decoded {one.decoded!r})" for one in table.wrong[:_FEW])
        say(f"{len(table.wrong):,} ids decode to different bytes: {shown}")
    say(f"{len(table.sizes):,} ids, the longest of {table.sizes.max()} bytes")
    if table.special:
        names = ", ".join(table.special[:_FEW]) + (", …" if len(table.special) > _FEW else "")
        say(f"special ids have 0 bytes, and their loss counts: {names}")
    if table.prefix:
        say(f"each document's ids have {table.prefix} byte (a space) that its text does not: subtract it per document")
    if lossy:
        say("not exact in these groups; divide by the bytes of the texts themselves")
        rows = [[x.group, *map(str, (x.texts, x.different, x.bytes)), f"{x.counted / x.bytes - 1:+.2%}"] for x in lossy]
        print_numbers(["group", "texts", "differ", "bytes", "difference"], rows)
    say(f"wrote {output}: int32, one number for each id" if output else "-o FILE writes the table")
    sys.exit(int(not table.exact))
