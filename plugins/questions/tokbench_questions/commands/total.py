"""The command ``tokbench total``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from tokbench.command import TOKENIZER, common_options, examples, json_option, print_json, print_numbers, say

_MOST = 20


def _share(_context: click.Context, _option: click.Parameter, value: str) -> float:
    number, percent, _ = value.strip().partition("%")
    try:
        return float(number) / (100 if percent else 1)
    except ValueError as error:
        raise click.BadParameter(f"{value!r} is not a share; write it as 1%") from error


@click.command(epilog=examples("tokbench total texts -t gpt-4o", "tokbench total 'texts/*.txt' -t gpt-4o --json"))
@click.argument("corpus")
@click.option("-t", "--tokenizer", required=True, metavar="NAME", help=f"The tokenizer: {TOKENIZER}.")
@click.option("--sample", default="1%", callback=_share, show_default=True, help="The share of the blocks to read.")
@click.option("--seed", default=0, show_default=True, help="Decides the sample.")
@click.option("--field", default="", help="The field with the text of rows [default: text, content, …].")
@click.option(
    "--nulls",
    type=click.Choice(["error", "skip"]),
    default="error",
    show_default=True,
    help="What to do with rows whose text is null.",
)
@json_option
@common_options
def total(corpus: str, tokenizer: str, *, as_json: bool, **given: Any) -> None:
    """Estimate the tokens of CORPUS, a file, a folder, a pattern or -, from a sample of its blocks.

    Text, JSON rows, CSV, Parquet and CoNLL-U are read, packed or not. Of a large plain file of text or JSON rows only
    the sampled blocks are read; others are unpacked as a whole.

    Exit codes: 0 estimated, 2 bad input.
    """
    from tokbench_questions.total import total as estimate

    answer = estimate(corpus, tokenizer, **given)
    if as_json:
        print_json({"corpus": corpus, "tokenizer": tokenizer, **asdict(answer)})
        return
    reach = (answer.high - answer.low) / 2 / (answer.tokens or 1)
    interval = f" ± {reach:.1%} (95 % interval: {answer.low:,.0f} to {answer.high:,.0f})" if reach else ""
    read = f"{answer.read:,} of {answer.bytes:,} bytes were read ({answer.read / answer.bytes:.1%})"
    say(f"{corpus} has {answer.tokens:,.0f} tokens of {tokenizer}{interval}; {read}.")
    rows = []
    for x in sorted(answer.strata, key=lambda stratum: -stratum.bytes)[:_MOST]:
        numbers = (f"{number:,.0f}" for number in (x.files, x.bytes, x.read, x.tokens))
        rows.append([x.name, *numbers, f"{x.reach / (x.tokens or 1):.1%}", f"{x.bytes / (x.tokens or 1):.2f}"])
    print_numbers(["files", "number", "bytes", "read", "tokens", "± (95 %)", "file B/token"], rows)
    if len(answer.strata) > _MOST:
        say(f"and {len(answer.strata) - _MOST:,} more: --json")
    if answer.left_out:
        say("\n  ".join(["left out:", *answer.left_out]))
    if answer.read > 2 * given["sample"] * answer.bytes:
        say("more than the sample asked for was read: at least 40 blocks are, and 3 of each row above")
    if reach:
        say("a cut between two blocks may add a token; the interval does not include it")
