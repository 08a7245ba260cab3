"""A command: how many tokens a tokenizer needs for each language of some texts."""

import click
from tokbench.command import (
    TOKENIZER, common_options, examples, json_option, print_json, print_numbers, say, texts_by_group,
)  # fmt: skip


@click.command(epilog=examples("tokbench tally utf8_bytes", "tokbench tally utf8_bytes texts --json"))
@click.argument("name", metavar="TOKENIZER")
@click.argument("texts", default="sample")
@json_option
@common_options
def tally(name, texts, *, as_json):
    """Count the tokens of TEXTS by language: a file, a folder, a pattern, or the sample that ships with tokbench."""
    import tokbench  # when the command runs: `tokbench --help` stays fast
    from tokbench.plugin import InputError

    tokenizer = tokbench.load(name)
    groups = texts_by_group(texts)
    tokens = {group: sum(len(tokenizer.encode(text)) for text in some) for group, some in groups.items()}
    if not sum(tokens.values()):
        raise InputError(
            f"{texts}: no text; give {TOKENIZER} first, and then texts"
        )  # exit code 2, without a traceback
    if as_json:
        print_json(tokens)
    else:
        most = max(tokens, key=lambda group: tokens[group])
        say(f"{name} needs the most tokens for {most}.")
        print_numbers(["group", "tokens"], [(group, f"{n:,}") for group, n in tokens.items()])
