"""The command ``tokbench conform``."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import click

from tokbench import InputError, TokbenchError
from tokbench.command import common_options, examples, json_option, print_json, say

_SHOWN = 3


@click.command(
    epilog=examples(
        "tokbench conform gpt-4o --cmd ./mine",
        "tokbench conform gpt-4o --like tiktoken:o200k_base",
        "tokbench conform gpt-4o --write gpt-4o.kit.json",
    )
)
@click.argument("name")
@click.option("--cmd", "command", metavar="PROGRAM", help="Ask this program, with its arguments.")
@click.option("--like", "other", metavar="TOKENIZER", help="Ask a tokenizer that tokbench loads.")
@click.option("--write", type=click.Path(path_type=Path), metavar="FILE", help="Write the texts and their ids as JSON.")
@json_option
@common_options
def conform(name: str, command: str | None, other: str | None, write: Path | None, *, as_json: bool) -> None:
    """Tell whether a program is the tokenizer NAME, and if not, which mistake it makes.

    The program reads a line {"text": "..."} for each text and writes a line {"ids": [...]}. There are few
    texts: each known mistake changes the ids of at least one of them.

    Exit codes: 0 all ids are right; 1 some are not; 2 bad input.
    """
    from tokbench.command import load_named
    from tokbench.plugin import write_atomically
    from tokbench_identity.conform import conform as hold
    from tokbench_identity.conform import program
    from tokbench_identity.kit import kit_of

    if (command is None) == (other is None) and (write is None or command is not None):
        raise InputError("give one of --cmd PROGRAM, --like TOKENIZER and --write FILE")
    kit = kit_of(name)
    if write is not None:
        try:
            write_atomically(write, (json.dumps(kit.content(), indent=1) + "\n").encode())
        except (OSError, TokbenchError) as error:
            raise InputError(str(error)) from error
        say(f"{write}: {len(kit.texts)} texts that notice {kit.noticed} of {kit.mutants} mistakes")
    if command is not None:
        answer = hold(kit, program(command))
    elif other is not None:
        tokenizer = load_named(other)
        answer = hold(kit, lambda texts: [list(map(int, tokenizer.encode(text))) for text in texts])
    else:
        return
    if as_json:
        print_json({"sentence": answer.sentence(), "conforms": answer.conforms, **asdict(answer)})
    else:
        say(answer.sentence())
        for failed in answer.failed[:_SHOWN]:
            say(f"  {failed.shown()}")
    sys.exit(int(not answer.conforms))
