"""The command ``tokbench audit``."""

from __future__ import annotations

import sys
from dataclasses import asdict

import click

from tokbench.command import common_options, examples, json_option, print_json, say


@click.command(epilog=examples("tokbench audit tokenizer.json", "tokbench audit models/mine --as qwen-3 --json"))
@click.argument("given", metavar="TOKENIZER")
@click.option("--as", "name", default="", metavar="NAME", help="Compare with this one, not the one it resembles most.")
@json_option
@common_options
def audit(given: str, name: str, *, as_json: bool) -> None:
    """Tell whether a file is the published tokenizer that it resembles most, and if not, what was changed.

    TOKENIZER is a file such as tokenizer.json, a folder with one, a published name or backend:value. Compared are
    tokens and their ids, special tokens, and the ids of the shipped sample and of texts that notice known mistakes.
    Each difference is named with what it costs: how many per cent more tokens the sample has.

    Exit codes: 0 nothing differs; 1 something does; 2 bad input.
    """
    from tokbench_identity.audit import audit as compare

    answer = compare(given, name)
    if as_json:
        print_json({"sentence": answer.sentence(), **asdict(answer)})
    else:
        say(answer.sentence())
        for finding in answer.findings:
            cost = f" ({finding.cost:+.1f}% tokens, {finding.texts:,} of {answer.documents:,} texts)"
            say(f"  {finding.cause}: {finding.what}{cost if finding.texts else ''}")
        for what in answer.not_compared:
            say(f"  not compared: {what}")
        for what in answer.not_shown:
            say(f"  written otherwise: {what}")
        for note in answer.notes:
            say(f"  note: {note}")
    sys.exit(int(bool(answer.findings)))
