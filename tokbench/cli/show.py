"""The command ``tokbench show``: texts as tokens."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tokbench.engine.workers.one_thread import use_one_thread
from tokbench.terminal.number_table import console
from tokbench.terminal.options import STDIN, TOKENIZER, common_options, emit, examples, say, tokenizer_options

if TYPE_CHECKING:
    from tokbench.segmentation.segmented_text import SegmentedText


@click.command(
    epilog=examples(
        'tokbench show "an Egg" -t gpt-4o -t llama-3',
        'tokbench show "an Egg" -t tokbench_bpe:cl100k_base --merges',
        "tokbench show -f texts/mine.txt -t tokenizer.json",
    )
)
@click.argument("texts", nargs=-1, metavar="[TEXT]...")
@tokenizer_options(
    f"A tokenizer of the configuration, or {TOKENIZER}. May be given several times [default: all of the configuration]."
)
@click.option(
    "-f",
    "--file",
    "files",
    multiple=True,
    metavar="PATH",
    help="A file or folder of text; - is standard input. May be repeated.",
)
@click.option("--merges", is_flag=True, help="Show the merges by which BPE makes each token, in order.")
@click.option("--json", "form", flag_value="json", help="Print one JSON object, and nothing else.")
@click.option("--html", "form", flag_value="html", help="Print a page.")
@click.option("--no-store", is_flag=True, help="Train again: read nothing from the cache, and keep nothing.")
@common_options
def show(
    texts: tuple[str, ...],
    names: tuple[str, ...],
    config: Path | None,
    files: tuple[str, ...],
    form: str | None,
    *,
    merges: bool,
    no_store: bool,
) -> None:
    """Show how tokenizers split TEXTs, or standard input, into tokens.

    Exit codes: 0 all shown, 1 a tokenizer failed, 2 bad input.
    """
    use_one_thread()
    from tokbench.api import show as show_texts
    from tokbench.segmentation import token_view
    from tokbench.text.read import read_texts

    given = [("", text) for text in texts]
    if names_of_files := files or (() if texts else (STDIN,)):
        read = read_texts(names_of_files)
        for line in read.found.notes():
            say(line, err=True)
        for path, documents in read.documents.items():
            label = "" if files == () else path
            given += [(f"{label}:{one.line}" if len(documents) > 1 else label, one.text) for one in documents]
    shown = show_texts(given, names, config=config, merges=merges, store=not no_store)
    if form:
        emit({"json": token_view.as_json, "html": token_view.html}[form](shown))
    else:
        _print(shown)
    failed = [cut for text in shown for cut in text.segmentations if cut.reason and not cut.ids]
    sys.exit(int(any(not cut.round_trip for cut in failed)))


def _print(shown: Sequence[SegmentedText]) -> None:
    from tokbench.segmentation.token_view import terminal

    with console(highlight=False, soft_wrap=True) as printed:
        for line in terminal(shown, colours=printed.is_terminal and not printed.no_color):
            printed.print(line)
