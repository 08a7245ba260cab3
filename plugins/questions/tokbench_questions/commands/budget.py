"""The command ``tokbench budget``."""

from __future__ import annotations

from dataclasses import asdict

import click

from tokbench.command import common_options, examples, json_option, print_json, print_numbers, say, texts_by_group


@click.command(epilog=examples("tokbench budget gpt-4o modernbert --texts texts", "tokbench budget gpt-4o gpt-2"))
@click.argument("cut_by", metavar="A")
@click.argument("embed_by", metavar="B")
@click.option("--limit", default=512, show_default=True, help="The most tokens of B.")
@click.option("--special", default=2, type=click.IntRange(0), show_default=True, help="Those for [CLS] and the like.")
@click.option("--texts", default="sample", show_default=True, metavar="WHERE", help="A file, folder or pattern.")
@json_option
@common_options
def budget(cut_by: str, embed_by: str, limit: int, special: int, texts: str, *, as_json: bool) -> None:
    """Find how many tokens of A a chunk may have to fit into the limit of B, by language.

    For chunks that one tokenizer cuts and a model with another one embeds. Safe means: with 95 % confidence, at most
    5 % (or 0.1 %) of the chunks of this length are too long.

    Exit codes: 0 found, or the texts are too short, 2 bad input.
    """
    from tokbench_questions.budget import budget as find

    groups = find(cut_by, embed_by, texts_by_group(texts), limit=limit, special=special)
    if as_json:
        facts = {"cut_by": cut_by, "embed_by": embed_by, "limit": limit, "special": special}
        print_json({**facts, "groups": [asdict(one) for one in groups]})
        return
    into = f"{embed_by}'s limit of {limit:,} tokens ({special} special)"
    claims = [(one.safe[0], one.group, one.unknown) for one in groups if one.safe[0] is not None]
    if claims:
        least, group, unknown = min(claims)
        overflow = f"with 95 % confidence, at most 5 % of such chunks of {group} are too long for {into}"
        if least:
            say(f"Make chunks of at most {least:,} tokens of {cut_by}: {overflow} (least of {len(claims)} groups).")
        else:
            say(f"No chunk of {group} is sure to fit into {into}: even single tokens of {cut_by} are too long.")
        if unknown:
            say(f"but {unknown:.1%} of the tokens of {group} are unknown to {embed_by}: they fit because text is lost")
    else:
        say(f"The texts are too short to say how many tokens of {cut_by} fit into {into}: no group has 59 chunks.")
    rows = []
    for one in groups:
        safe = [
            cell for size in one.safe for cell in ((f"{size:,}", f"{size / limit:.2f}") if size is not None else "--")
        ]
        mean = f"{one.mean:,.0f}" if one.chunks else "-"
        rows.append([one.group, f"{one.chunks:,}", mean, *safe, f"{one.unknown:.1%}"])
    print_numbers(["group", "chunks", "mean", "95 %", "factor", "99.9 %", "factor", "unknown"], rows)
    say("mean: tokens of A in the longest chunks that fit; 95 %, 99.9 %: safe lengths, - for too few chunks")
    say("factor: safe tokens of A per token of the limit; unknown: tokens of B whose text is lost, so that it fits")
