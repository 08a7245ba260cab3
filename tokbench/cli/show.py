"""The command ``tokbench show``: texts as tokens."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from tokbench.engine.workers.one_thread import use_one_thread
from tokbench.terminal.number_table import console
from tokbench.terminal.options import (
    STDIN,
    TOKENIZER,
    common_options,
    emit,
    examples,
    print_json,
    say,
    tokenizer_options,
)

if TYPE_CHECKING:
    from tokbench.segmentation.segmented_text import SegmentedText


class _Tokenizers(NamedTuple):
    names: Sequence[str]
    config: Path | None


@click.command(
    epilog=examples(
        'tokbench show "an Egg" -t gpt-4o -t llama-3',
        'tokbench show "an Egg" -t tokbench_bpe:cl100k_base --merges',
        "tokbench show -f texts/mine.txt -t tokenizer.json",
        "tokbench show --exactly 512 -t gpt-4o",
    )
)
@click.argument("texts", nargs=-1, metavar="[TEXT]...")
@tokenizer_options(
    f"A tokenizer of the configuration, or {TOKENIZER}; several have commas between them [default: all of the "
    "configuration]."
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
@click.option("--exactly", type=click.IntRange(1), metavar="N", help="Write a text of N tokens, from TEXT or a sample.")
@click.option("--template", default="", metavar="NAME", help="For --exactly: count this chat template, too.")
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
    exactly: int | None,
    template: str,
    no_store: bool,
) -> None:
    """Show how tokenizers split TEXTs, or standard input, into tokens.

    Exit codes: 0 all shown, 1 a tokenizer failed, 2 bad input.
    """
    use_one_thread()
    if exactly or template:
        from tokbench.command import texts_by_group

        if not exactly or merges or form == "html":
            raise click.UsageError("--template goes with --exactly, and that without --merges and --html")
        given = _given(texts, files) if texts or files else [("", text) for text in texts_by_group("sample")["en"]]
        text = "\n".join(text for _, text in given)
        sys.exit(_write_exactly(exactly, text, template, _Tokenizers(names, config), as_json=form == "json"))
    from tokbench.api import show as show_texts
    from tokbench.segmentation import token_view

    given = _given(texts, files or (() if texts else (STDIN,)))
    shown = show_texts(given, names, config=config, merges=merges, store=not no_store)
    if form:
        emit({"json": token_view.as_json, "html": token_view.html}[form](shown))
    else:
        _print(shown)
    failed = [cut for text in shown for cut in text.segmentations if cut.reason and not cut.ids]
    sys.exit(int(any(not cut.round_trip for cut in failed)))


def _given(texts: Sequence[str], files: Sequence[str]) -> list[tuple[str, str]]:
    """Return the texts with their labels."""
    from tokbench.text.read import read_texts

    given = [("", text) for text in texts]
    if files:
        read = read_texts(files)
        for line in read.found.notes():
            say(line, err=True)
        for path, documents in read.documents.items():
            label = "" if files == (STDIN,) else path
            given += [(f"{label}:{one.line}" if len(documents) > 1 else label, one.text) for one in documents]
    return given


def _write_exactly(wanted: int, text: str, template: str, of: _Tokenizers, *, as_json: bool) -> int:
    """Write a text of so many tokens, with no line end behind it, and return the exit code."""
    from tokbench.foundation.failures import Failure
    from tokbench.segmentation.conversations import check_template
    from tokbench.segmentation.exactly import ExactText
    from tokbench.terminal.session import session

    if template:
        check_template(template)
    with session(of.names, of.config, n_bytes=len(text.encode()), named=True) as ready:
        if len(ready.names) > 1 and not as_json:
            raise click.UsageError("--exactly writes the text of one tokenizer: give one -t, or --json")
        made = {name: ready.ask(ExactText(wanted, text, template, name), names=[name])[name] for name in ready.names}
    failed = {name: answer.reason for name, answer in made.items() if isinstance(answer, Failure)}
    if as_json:
        texts = [{"tokenizer": name, "text": answer} for name, answer in made.items() if name not in failed]
        print_json({"tokens": wanted, "template": template, "texts": texts, "failed": failed})
    else:
        for answer in made.values():
            sys.stdout.write("" if isinstance(answer, Failure) else answer)
        for name, reason in failed.items():
            say(f"{name}: {reason}", err=True)
    return int(bool(failed))


def _print(shown: Sequence[SegmentedText]) -> None:
    from tokbench.segmentation.token_view import terminal

    with console(highlight=False, soft_wrap=True) as printed:
        for line in terminal(shown, colours=printed.is_terminal and not printed.no_color):
            printed.print(line)
