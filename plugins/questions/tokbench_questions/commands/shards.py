"""The command ``tokbench shards``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from tokbench.command import (
    TOKENIZER,
    common_options,
    examples,
    json_option,
    local_names,
    print_json,
    say,
    session,
)

_FEW = 5
_SURE = 0.9
"""The share of stretches that must be encoded to the same ids; a few begin inside a long chunk."""


@click.command(epilog=examples("tokbench shards train.bin -t gpt-2", "tokbench shards ids.npy --json"))
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-t", "--tokenizer", default="", metavar="NAME", help=f"Whose ids they should be: {TOKENIZER}.")
@click.option("--dtype", type=click.Choice(["uint16", "uint32"]), help="Of numbers without a header.")
@json_option
@common_options
def shards(files: tuple[Path, ...], tokenizer: str, dtype: str | None, *, as_json: bool) -> None:
    """Look at tokens on disk: how many, which, whose ids they are, and what they say.

    Files of NumPy, llm.c, Megatron and nanoGPT. The ids are those of a tokenizer if stretches of them, decoded and
    encoded again, are the same ids. Without -t all published names are tried.

    Exit codes: 0 they are ids of the tokenizer, or of one of all, 1 they are not, 2 bad input.
    """
    from tokbench.plugin import Failure
    from tokbench_questions.shards import LooksAtIds, count_ids, read_shard, windows

    opened = [read_shard(path, dtype or "") for path in files]
    counts = count_ids(opened)
    with session([tokenizer] if tokenizer else local_names()) as ready:
        answers = ready.ask(LooksAtIds(windows(opened), counts))
    failed = {name: answer.reason for name, answer in answers.items() if isinstance(answer, Failure)}
    looked = {name: answer for name, answer in answers.items() if not isinstance(answer, Failure)}
    shares = {name: answer.same for name, answer in looked.items()}
    of = sorted((name for name, share in shares.items() if share >= _SURE), key=lambda name: (-shares[name], name))
    facts: dict[str, object] = {
        "files": [
            {"file": str(path), "form": one.form, "tokens": len(one.ids)}
            for path, one in zip(files, opened, strict=True)
        ],
        "tokens": counts.total,
        "distinct": len(counts.ids),
        "lowest": int(counts.ids[0]),
        "highest": int(counts.ids[-1]),
        "entropy": counts.entropy,
        "ids_of": of,
        "shares": shares,
    }
    chosen = tokenizer or next(iter(of), "")
    if chosen in looked:
        facts |= {"tokenizer": chosen, **looked[chosen]._asdict()}
    if as_json:
        print_json(facts)
    else:
        _show(facts)
        for name, reason in failed.items() if tokenizer else ():
            say(f"{name}: {reason}", err=True)
    sys.exit(int(not of))


def _show(facts: Mapping[str, Any]) -> None:
    for one in facts["files"]:
        say(f"{one['file']}: {one['tokens']:,} tokens ({one['form']})")
    say(
        f"{facts['tokens']:,} tokens, {facts['distinct']:,} different ids from {facts['lowest']:,} to "
        f"{facts['highest']:,}, {facts['entropy']:.2f} bits per token"
    )
    same = [name for name in facts["ids_of"] if facts["shares"][name] == facts["shares"][facts["ids_of"][0]]]
    if same:
        say(f"ids of {', '.join(same)}: {facts['shares'][same[0]]:.0%} of the stretches are encoded to the same ids")
    else:
        nearest = max(facts["shares"], key=facts["shares"].__getitem__, default="")
        near = f"; nearest: {nearest}, {facts['shares'][nearest]:.0%} of the stretches" if nearest else ""
        say(f"not the ids of {facts.get('tokenizer') or 'any published name here'}{near}")
    if "tokenizer" in facts:
        special = ", ".join(f"{name} {times:,}" for name, times in list(facts["special"].items())[:_FEW])
        say(f"under {facts['tokenizer']}: {facts['out_of_range']:.2%} out of range, {facts['unknown']:.2%} unknown")
        say(f"special tokens: {special or 'none'}")
        say(f"a sample: {facts['sample']!r}")
