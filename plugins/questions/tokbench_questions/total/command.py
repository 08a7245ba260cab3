"""The command ``tokbench total``."""

from __future__ import annotations

import click

from tokbench.plugin.command import TOKENIZER, common_options, examples, json_option, print_json, print_numbers, say

_MOST = 20


def _share(_context: click.Context, _option: click.Parameter, value: str) -> float:
    number, percent, _ = value.strip().partition("%")
    try:
        return float(number) / (100 if percent else 1)
    except ValueError as error:
        raise click.BadParameter(f"{value!r} is not a share; write it as 1%") from error


@click.command(
    epilog=examples("tokbench total texts -t gpt-4o", "tokbench total 'texts/*.txt' -t llama-3 --sample 5% --json")
)
@click.argument("corpus")
@click.option("-t", "--tokenizer", required=True, metavar="NAME", help=f"The tokenizer: {TOKENIZER}.")
@click.option("--sample", default="1%", callback=_share, show_default=True, help="The share of the bytes to read.")
@click.option("--seed", default=0, show_default=True, help="Decides the sample.")
@click.option("--field", default="text", show_default=True, help="The field of the text in JSON rows.")
@json_option
@common_options
def total(corpus: str, tokenizer: str, sample: float, seed: int, field: str, *, as_json: bool) -> None:
    """Estimate the tokens of CORPUS, a file, a folder or a pattern, from a sample of its bytes.

    Text and rows of JSON (.jsonl) are read, also as .gz or .zst. Of a large plain file only the sampled blocks are
    read; a compressed one is decompressed as a whole.

    Exit codes: 0 estimated, 2 bad input.
    """
    from tokbench_questions.total.estimate import total as estimate

    found = estimate(corpus, tokenizer, sample=sample, seed=seed, field=field)
    if as_json:
        strata = [vars(stratum) for stratum in found.strata]
        sums = {"bytes": found.bytes, "read": found.read}
        print_json({"corpus": corpus, "tokenizer": tokenizer, **vars(found), **sums, "strata": strata})
        return
    count = f"{corpus} has {found.tokens:,.0f} tokens of {tokenizer}"
    if found.high > found.low:
        reach = (found.high - found.low) / 2 / found.tokens if found.tokens else 0.0
        count += f" ± {reach:.1%} (95 % interval: {found.low:,.0f} to {found.high:,.0f})"
    say(f"{count}; {found.read:,} of {found.bytes:,} bytes were read ({found.read / found.bytes:.1%}).")
    rows = [
        [
            *(stratum.name, f"{stratum.files:,}", f"{stratum.bytes:,}", f"{stratum.read:,}"),
            *(f"{stratum.tokens:,.0f}", f"{1.96 * stratum.error / max(stratum.tokens, 1):.1%}"),
            f"{stratum.bytes / stratum.tokens:.2f}" if stratum.tokens else "-",
        ]
        for stratum in sorted(found.strata, key=lambda stratum: -stratum.bytes)
    ]
    print_numbers(["files", "number", "bytes", "read", "tokens", "±", "B/token"], rows[:_MOST])
    if len(rows) > _MOST:
        say(f"and {len(rows) - _MOST:,} more: --json")
    for reason, names in found.left_out.items():
        more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""  # noqa: PLR2004
        say(f"left out, {reason}: {', '.join(names[:3])}{more}")
    if found.high > found.low:
        say("A cut between two blocks may add a token; the interval does not include it.")
