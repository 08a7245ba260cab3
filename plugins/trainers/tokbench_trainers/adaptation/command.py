"""The command ``tokbench adapt``: fit a published vocabulary to texts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from tokbench.command import common_options, examples, log_option, say

if TYPE_CHECKING:
    from tokbench.command import Cut, Log
    from tokbench_trainers.adaptation.job import AdaptedTokenizer

_UNUSED: Final = "unused"


def _removed(_context: click.Context, _option: click.Parameter, value: str) -> int | None:
    if value == _UNUSED:
        return None
    if not value.isdecimal():
        raise click.BadParameter(f"{value!r} is not a number of tokens; give one, or {_UNUSED}")
    return int(value)


@click.command(
    epilog=examples(
        'tokbench adapt gpt-4o --text "texts/*.txt" --add 100',
        'tokbench adapt tokbench_bpe:cl100k_base --text "texts/*.txt" --remove unused',
        'tokbench adapt tokenizer.json --text "texts/*.txt" --format tiktoken',
    )
)
@click.argument("tokenizer")
@click.option("--text", required=True, metavar="PATH", help="Texts: a file, a folder or a glob pattern.")
@click.option(
    "--document",
    type=click.Choice(["file", "line", "paragraph"]),
    default="file",
    show_default=True,
    help="What one document of text is; of rows each is one.",
)
@click.option("--add", type=click.IntRange(0), default=1000, show_default=True, help="Tokens to add.")
@click.option(
    "--remove",
    default="0",
    show_default=True,
    metavar="N",
    callback=_removed,
    help="Tokens to remove first, least used by the text; unused removes all that it does not need.",
)
@click.option(
    "--format",
    "formats",
    multiple=True,
    default=("huggingface",),
    show_default=True,
    metavar="FORMAT",
    help="What to write: huggingface, tiktoken, gpt2 or gguf; may be repeated.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("artefacts"), show_default=True)
@log_option
@common_options
def adapt(
    tokenizer: str,
    text: str,
    document: Cut,
    add: int,
    remove: int | None,
    formats: tuple[str, ...],
    output: Path,
    log: Log,
) -> None:
    """Fit the vocabulary of TOKENIZER to texts, as if training had gone on.

    TOKENIZER is a published name such as gpt-4o, backend:value, or a file such as tokenizer.json.
    Every token that stays keeps its id. Every fifth document is held out.
    A map has the ids that each new id was before. A table of every step says what each row of the embedding is worth.

    Exit codes: 0 written, 1 adapting failed, 2 bad input, such as a tokenizer that is not byte-level BPE.
    """
    from tokbench import plugin
    from tokbench.command import texts_by_group
    from tokbench_trainers.adaptation.job import Adaptation, adapt_to_texts

    texts = [one for documents in texts_by_group(text, document).values() for one in documents]
    adapted = adapt_to_texts(tokenizer, texts, output, Adaptation(add, remove, formats), log)
    if isinstance(adapted, plugin.Failure):
        error = plugin.BackendError(adapted.reason)
        error.add_note(adapted.traceback)
        raise error
    _print(adapted, add)
    if not adapted.held_out_bytes:
        advice = "" if document == "line" else "; --document line makes each line one"
        say(f"nothing was held out, as the texts have fewer than five documents{advice}")


def _print(adapted: AdaptedTokenizer, asked: int) -> None:
    from tokbench.command import print_numbers

    rows = []
    gone = len(adapted.removed)
    for number, (step, more, tokens, value) in enumerate(adapted.steps()):
        if number in adapted.held_out:
            words = {"before": "as it is", "remove": f"{gone:,} removed", "add": f"{number - gone:,} added"}
            left_out = adapted.held_out[number]
            held_out = f"{adapted.held_out_bytes / left_out:.3f}" if left_out else "none"
            rows.append([words[step], f"{adapted.vocab_size + more:,}", f"{value:.3f}", held_out, f"{tokens:,}"])
    print_numbers([adapted.name, "rows", "bytes/token fitted", "held out", "tokens fitted"], rows)
    if adapted.same_ids is not None:
        say(f"without the unused tokens, the ids are the same on all {adapted.same_ids:,} fitted documents")
    if adapted.added < asked:
        say(f"{adapted.added:,} of {asked:,} tokens were added: no pair is left to merge")
    for path in adapted.files:
        say(f"written: {path}")
