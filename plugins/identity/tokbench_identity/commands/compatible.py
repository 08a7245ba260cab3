"""The command ``tokbench compatible``."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Final

import click

from tokbench.command import common_options, examples, json_option, print_json, print_numbers, say

_MOST: Final = 8


@click.command(epilog=examples("tokbench compatible gpt-4o llama-3", "tokbench compatible gpt-2 gpt-4 --json"))
@click.argument("one", metavar="A")
@click.argument("other", metavar="B")
@click.option("--texts", default="sample", metavar="FILE|FOLDER|GLOB", help="The text [default: the shipped sample].")
@click.option("--require", type=click.Choice(["same", "padding", "subset", "mapping"]), help="Exit with 1 below this.")
@json_option
@common_options
def compatible(one: str, other: str, *, texts: str, require: str | None, as_json: bool) -> None:
    """Tell whether B may be the draft model of A, and whether logits may be distilled from A to B.

    A and B are published names such as gpt-4o, backend:value, files such as tokenizer.json, or folders with one. The
    configurations of the model in the same folder are checked, too.

    Exit codes: 0 compatible as --require says, or without it; 1 not so; 2 bad input.
    """
    from tokbench_identity.compatible import compatible as compare
    from tokbench_identity.compatible import percent

    result = compare(one, other, texts)
    failed = require is not None and not result.meets(require)
    if as_json:
        answer = {"sentence": result.sentence(one, other), "draft": result.draft, "distil": result.distil}
        print_json({**answer, **asdict(result)})
        sys.exit(int(failed))
    say(result.sentence(one, other))
    say(f"  draft model: {result.draft}")
    say(f"  distillation: {result.distil}")
    overlap = result.overlap
    rows = [
        ("ids", *(f"{size:,}" for size in result.sizes)),
        (f"tokens of {overlap.documents:,} documents", *(f"{tokens:,}" for tokens in overlap.tokens)),
    ]
    print_numbers(("", "A", "B"), rows)
    shares = [("documents with the same ids", overlap.same_ids / overlap.documents)]
    shares += [] if overlap.shared is None else [("tokens of the text that both have", overlap.shared)]
    shares += [(f"chunks {kind}", share) for kind, share in overlap.chunks.items()]
    print_numbers(("share", "%"), [(name, percent(share)) for name, share in shares])
    evidence = {"ids with different bytes": result.examples, "special tokens": result.special}
    for what, lines in (
        evidence | {"fault": result.faults, "undecided": result.undecided, "note": result.notes}
    ).items():
        for line in lines[:_MOST]:
            say(f"{what}: {line}")
        if lines[_MOST:]:
            say(f"{what}: and {len(lines) - _MOST:,} more")
    sys.exit(int(failed))
