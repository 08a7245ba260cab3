"""The command ``tokbench equal``."""

from __future__ import annotations

import sys
from dataclasses import asdict

import click

from tokbench.command import common_options, examples, json_option, print_json, print_numbers, say


@click.command(epilog=examples("tokbench equal gpt-4o llama-3", "tokbench equal gpt-4o tokenizer.json --json"))
@click.argument("one", metavar="A")
@click.argument("other", metavar="B")
@click.option("--minutes", type=click.FloatRange(min=0.01), default=10.0, show_default=True, help="The most time.")
@json_option
@common_options
def equal(one: str, other: str, *, minutes: float, as_json: bool) -> None:
    """Prove that A and B give the same ids for every text, or show the shortest text found where they do not.

    A and B are published names such as gpt-4o, backend:value, or files such as tokenizer.json.

    Exit codes: 0 proved equal; 1 different; 2 bad input; 3 no difference found, but not proved.
    """
    from tokbench_identity.equal import equal as compare

    answer = compare(one, other, minutes=minutes)
    if as_json:
        print_json({"sentence": answer.sentence(one, other), **asdict(answer)})
    else:
        say(answer.sentence(one, other))
        if answer.counterexample is not None:
            counterexample = answer.counterexample
            rows = zip((f"A: {one}", f"B: {other}"), counterexample.ids, counterexample.pieces, strict=True)
            print_numbers(("tokenizer", "ids", "pieces"), [(name, f"{ids}", f"{pieces}") for name, ids, pieces in rows])
            if counterexample.shortest:
                say("every shorter text has the same ids")
        for reason in answer.not_proved:
            say(f"not proved: {reason}")
        for note in answer.notes:
            say(f"note: {note}")
        if answer.stopped:
            say(f"stopped after {minutes:g} minutes: give --minutes more to try the other texts")
        if answer.texts:
            say(f"{answer.texts:,} texts had the same ids")
    sys.exit({"equal": 0, "different": 1, "unknown": 3}[answer.verdict])
