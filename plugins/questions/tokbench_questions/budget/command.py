"""The command ``tokbench budget``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from tokbench.plugin.command import TOKENIZER, common_options, examples, json_option, print_json, print_numbers, say

if TYPE_CHECKING:
    from tokbench_questions.budget.chunks import Budget, GroupOverflow

_SHARE = 0.05


@click.command(
    epilog=examples(
        "tokbench budget gpt-4o modernbert --limit 512 --texts texts",
        "tokbench budget gpt-4o modernbert --limit 64 --tokens 40 --json",
    )
)
@click.argument("cut_by", metavar="A")
@click.argument("embed_by", metavar="B")
@click.option("--limit", default=512, show_default=True, help="The most tokens of B.")
@click.option("--special", default=2, show_default=True, help="How many of them are special, such as [CLS] and [SEP].")
@click.option("--texts", default="sample", show_default=True, metavar="WHERE", help="A file, folder or pattern.")
@click.option("--tokens", type=click.IntRange(min=1), help="Check chunks of so many tokens of A instead.")
@json_option
@common_options
def budget(  # noqa: PLR0913 - as click calls it
    cut_by: str, embed_by: str, limit: int, special: int, texts: str, *, tokens: int | None, as_json: bool
) -> None:
    """Find how many tokens of A a chunk may have to fit into the limit of B, by language.

    For chunks that one tokenizer cuts and a model with another one embeds. Safe means: with 95 % confidence, at most 5 %
    (or 0.1 %) of the chunks of this length are too long.

    Exit codes: 0 found, 1 more than 5 % of the chunks of a group overflow (--tokens), 2 bad input.
    """
    from tokbench.plugin.command import texts_by_group
    from tokbench_questions.budget.chunks import budget as find
    from tokbench_questions.budget.chunks import overflow

    groups = texts_by_group(texts)
    facts = {"cut_by": cut_by, "embed_by": embed_by, "limit": limit, "special": special}
    if tokens:
        over = overflow(cut_by, embed_by, groups, tokens=tokens, limit=limit, special=special)
        if as_json:
            print_json({**facts, "tokens": tokens, "groups": [one._asdict() for one in over]})
        else:
            _show_overflow(f"chunks of {tokens:,} tokens of {cut_by}", f"{embed_by}'s limit of {limit:,}", over)
        sys.exit(int(any(one.share > _SHARE for one in over)))
    found = find(cut_by, embed_by, groups, limit=limit, special=special)
    if as_json:
        print_json({**facts, "groups": [group._asdict() for group in found.groups]})
    else:
        _show(cut_by, embed_by, found)


def _show(cut_by: str, embed_by: str, found: Budget) -> None:
    into = f"into {embed_by}'s limit of {found.limit:,} tokens ({found.special} special)"
    claimed = [group for group in found.groups if group.safe[0] is not None]
    if claimed:
        least = min(claimed, key=lambda group: group.safe[0] or 0)
        say(
            f"Cut at most {least.safe[0]:,} tokens of {cut_by}: {least.group} is the tightest of {len(claimed)} groups; at "
            f"most 5 % of its chunks do not fit {into}, with 95 % confidence."
        )
    else:
        say(f"The texts are too short to say how many tokens of {cut_by} fit {into}: no group has 59 chunks.")
    rows = [
        [
            *(group.group, f"{group.chunks:,}", f"{group.mean:,.0f}" if group.chunks else "-"),
            *(f"{safe:,}" if safe else "-" for safe in group.safe),
            f"{group.safe[0] / found.limit:.2f}" if group.safe[0] else "-",
            *(f"{size:,}" for size in group.estimate),
            f"{group.unknown:.1%}",
        ]
        for group in found.groups
    ]
    print_numbers(["group", "chunks", "mean", "95 %", "99.9 %", "factor", "~95 %", "~99.9 %", "unknown"], rows)
    say("mean: of the longest chunks that fit; 95 %, 99.9 %: safe, - if the text is too short (59 and 2,995 chunks)")
    say("~: an estimate as if documents were independent, no claim; factor: safe tokens of A per token of B's limit")
    if any(group.unknown for group in found.groups):
        say(f"unknown: tokens that {embed_by} does not know; their text fits because it is lost")


def _show_overflow(chunks: str, limit: str, found: tuple[GroupOverflow, ...]) -> None:
    measured = [one for one in found if one.chunks]
    worst = max(measured, key=lambda one: one.share, default=None)
    if worst is None:
        say(f"The texts are too short for {chunks}.")
        return
    total, over = sum(one.chunks for one in measured), sum(one.over for one in measured)
    say(f"Of {total:,} {chunks}, {over:,} overflow {limit}; most in {worst.group}: {worst.share:.1%}.")
    print_numbers(["group", "chunks", "overflow", "share"], [[*_row(one)] for one in measured])


def _row(one: GroupOverflow) -> tuple[str, ...]:
    return one.group, f"{one.chunks:,}", f"{one.over:,}", f"{one.share:.1%}"
