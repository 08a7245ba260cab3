"""The command ``tokbench superwords``: counts of a corpus of any size that superwords are learned from."""

from __future__ import annotations

import shlex
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from tokbench.command import common_options, examples, json_option, log_option, print_json, say
from tokbench_plugins.counts.command import notes, task_of, text_options

if TYPE_CHECKING:
    from tokbench.command import Log
    from tokbench_plugins.counts.local import Task
    from tokbench_plugins.counts.read import TableRows
    from tokbench_trainers.superwords.tables import Progress
    from tokbench_trainers.superwords.wanted import SuperwordTraining


@click.command(
    epilog=examples(
        "tokbench superwords texts/ --vocab-size 32768 -o super.counts",
        "tokbench superwords texts/ --counts words.counts --vocab-size 32768 --stage-one 26000 -o super.counts",
        "tokbench superwords texts/ --backend boundless_bpe --vocab-size 32768 -o boundless.counts",
        "tokbench train --backend superbpe:gpt4 --counts super.counts --vocab-size 32768",
    )
)
@click.argument("texts", nargs=-1, required=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The table to write.")
@click.option(
    "--backend",
    type=click.Choice(["superbpe", "boundless_bpe"]),
    default="superbpe",
    show_default=True,
    help="What will be trained.",
)
@click.option("--vocab-size", type=click.IntRange(256), required=True, help="Of the tokenizer, or of the largest one.")
@click.option("--counts", help="A table of the same texts that tokbench count made, or its address.")
@click.option("--pattern", default="gpt4", show_default=True, help="The split of words: gpt2, gpt4 or o200k.")
@click.option("--tie", type=click.Choice(["first", "smallest"]), default="first", show_default=True)
@click.option("--stage-one", type=float, help="Of superbpe: where stage two begins [default: 0.8 of --vocab-size].")
@click.option("--most-words", type=click.IntRange(1), help="Of superbpe: the words of a token [default: 4].")
@click.option("--least", type=click.IntRange(1), help="Leave out what is rarer than that [default: by the text].")
@text_options
@json_option
@log_option
@common_options
def superwords(texts: tuple[str, ...], *, output: Path, as_json: bool, log: Log, **given: Any) -> None:
    """Count what superwords of TEXTS are learned from: files, folders, patterns or addresses.

    The tokenizer that is trained on the table is the one that the texts give. The texts are read twice, and once more
    without --counts.
    """
    from tokbench.foundation.display import progress_shown
    from tokbench.report.number_format import byte_size
    from tokbench_trainers.superwords.tables import make_table

    task, wanted = task_of(texts, output, given["pattern"], given), _wanted(given)
    total = sum(path.stat().st_size for path in task.files if path.is_file()) / 1e6
    with progress_shown(log) as progress:

        def report(step: str, read: int) -> None:
            progress(step, read / 1e6, total or None)

        counted = make_table(task, _words(task, wanted, given["counts"], report), wanted, report, given["least"])
    facts, said = counted.merged.facts, notes(counted.amount)
    least = dict(facts.superwords or {})["least"]
    if as_json:
        numbers = {"different": counted.merged.different, "different_bytes": counted.merged.chunk_bytes}
        print_json({"table": str(output), "bytes": facts.bytes, "least": least, **numbers, "notes": said})
        return
    say(
        f"{output}: {byte_size(facts.bytes)}, {facts.documents:,} documents, {counted.merged.different:,} different "
        f"pieces. It gives all merges that are done {least:,} times or more."
    )
    for note in said:
        say(note)
    backend = shlex.quote(f"{given['backend']}:{given['pattern']}")
    say(f"Next: tokbench train --backend {backend} --counts {output} --vocab-size {given['vocab_size']}")


def _wanted(given: dict[str, Any]) -> SuperwordTraining:
    from tokbench_trainers.superwords.wanted import wanted_of

    options = {name: given[name] for name in ("pattern", "tie", "stage_one", "most_words") if given[name] is not None}
    if given["backend"] == "boundless_bpe" and (unknown := {"stage_one", "most_words"} & options.keys()):
        raise click.UsageError(f"boundless_bpe has no --{min(unknown).replace('_', '-')}; leave it out")
    if (number := options.get("stage_one", 0.5)).is_integer():
        options["stage_one"] = int(number)
    return wanted_of(given["backend"], given["vocab_size"], **options)


def _words(task: Task, wanted: SuperwordTraining, table: str | None, progress: Progress) -> TableRows:
    from dataclasses import replace

    from tokbench_plugins.counts.local import count
    from tokbench_plugins.counts.source import table_at
    from tokbench_trainers.superwords.tables import words_of

    with TemporaryDirectory(dir=task.output.parent, prefix=f".{task.output.name}.") as folder:
        path = Path(folder, "words.counts") if table is None else table_at(table)
        if table is None:
            count(replace(task, output=path), lambda read: progress("counting words (MB)", read))
        return words_of(path, wanted, Path(folder))
