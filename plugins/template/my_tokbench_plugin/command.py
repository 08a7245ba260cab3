"""A command: how many tokens a tokenizer needs for each language of some texts."""

import click
from tokbench.command import (
    TOKENIZER, common_options, examples, json_option, local_names, print_json, print_numbers, say, texts_by_group,
)  # fmt: skip


@click.command(epilog=examples("tokbench tally", "tokbench tally texts -t utf8_bytes --json"))
@click.argument("texts", default="sample")
@click.option("-t", "--tokenizer", "name", help=f"The tokenizer: {TOKENIZER} [default: a published name].")
@json_option
@common_options
def tally(texts, name, *, as_json):
    """Count the tokens of TEXTS by language: a file, a folder, a pattern, or the sample that ships with tokbench."""
    import tokbench  # when the command runs: `tokbench --help` stays fast
    from tokbench.plugin import InputError

    name = name or local_names()[0]  # those that need no network
    tokenizer = tokbench.load(name)
    groups = texts_by_group(texts)
    tokens = {group: sum(len(tokenizer.encode(text)) for text in some) for group, some in groups.items()}
    if not sum(tokens.values()):
        raise InputError(f"{texts}: no text; give a file or a folder of text")  # exit code 2, no traceback
    if as_json:
        print_json(tokens)
    else:
        most = max(tokens, key=lambda group: tokens[group])
        say(f"{name} needs the most tokens for {most}.")
        print_numbers(["group", "tokens"], [(group, f"{n:,}") for group, n in tokens.items()])
