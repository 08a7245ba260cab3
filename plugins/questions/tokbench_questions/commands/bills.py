"""The command ``tokbench bills``."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import click

from tokbench.command import TOKENIZER, common_options, examples, json_option, print_json, print_numbers, say

_FEW = 5


@click.command(epilog=examples("tokbench bills mine.csv --new"))
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    *("-t", "--tokenizer", "choices"),
    multiple=True,
    metavar="MODEL=NAME",
    help=f"{TOKENIZER} [default: the best name].",
)
@click.option("--new", is_flag=True, help="Write FILE with the shipped texts instead, for tokens to be filled in.")
@json_option
@common_options
def bills(file: Path, choices: tuple[str, ...], *, new: bool, as_json: bool) -> None:
    """Explain the prompt tokens that providers report, in the CSV FILE, by a tokenizer and a constant for each model.

    The columns are model, tokens, text, and maybe id, a name of the text.

    Exit codes: 0 every cell fits, 1 some do not, 2 bad input.
    """
    from tokbench_questions.bills import bills as explain
    from tokbench_questions.bills import read_rows, write_rows

    pairs = dict(pair.partition("=")[::2] for pair in choices)
    if wrong := [model for model, name in pairs.items() if not name]:
        raise click.UsageError(f"-t {wrong[0]}: write it as MODEL=NAME")
    if new and pairs:
        raise click.UsageError("-t does not go with --new: give it with the file that is filled in")
    if new:
        number = write_rows(file)
        say(f"wrote {file}: send each of {number} texts as the only user message, and fill in model and tokens.")
        return
    answers = explain(read_rows(file), pairs)
    if as_json:
        print_json({"bills": [asdict(bill) for bill in answers]})
    for bill in () if as_json else answers:
        more = f"{abs(bill.constant)} tokens {'more' if bill.constant >= 0 else 'fewer'} than {bill.tokenizer}"
        change = f" ({bill.change})" if bill.change else ""
        texts = f"{bill.fitting} of {bill.cells} texts" if bill.misfits else f"each of {bill.cells} texts"
        say(f"{bill.model} bills {more}{change} on {texts}.")
        if bill.cells < _FEW:
            say(f"fewer than {_FEW} texts fit many tokenizers by chance: send more")
        if 2 * bill.fitting < bill.cells:
            say(f"{bill.tokenizer} does not explain the bill")
        if bill.others:
            others = ", ".join(f"{name} ({fitting})" for name, fitting in bill.others.items())
            say(f"other tokenizers that fit as many texts, or more: {others}")
        if bill.misfits:
            rows = [[m.id, f"{m.tokens:,}", f"{m.expected:,}", m.cause or "unknown"] for m in bill.misfits]
            print_numbers(["text", "billed", "expected", "fits with"], rows)
    sys.exit(int(any(bill.misfits for bill in answers)))
