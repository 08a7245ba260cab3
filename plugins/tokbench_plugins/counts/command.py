"""The command ``tokbench count``: the counts of pre-tokens of a corpus of any size."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict
from math import log2
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from tokbench.foundation.errors import InputError
from tokbench.foundation.parsing import parse_size
from tokbench.terminal.options import common_options, examples, json_option, log_option, print_json, say

if TYPE_CHECKING:
    from tokbench.foundation.display import Log
    from tokbench_plugins.counts.local import Counted, Task
    from tokbench_plugins.counts.merge import Merged
    from tokbench_plugins.counts.pieces import Amount


def _size(value: str | None) -> int | None:
    try:
        return None if value is None else parse_size(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


_HOW_TO_READ: Final = (
    click.option(
        "--document",
        type=click.Choice(["file", "line"]),
        default="file",
        show_default=True,
        help="What a document of a text file is; a row of JSONL, CSV or Parquet is always one.",
    ),
    click.option("--field", default="", help="The field of a row that holds the text [default: text, content, …]."),
    click.option("--group", default="", help='Count by group, such as "{parent}" of files, or "{lang}" of rows.'),
    click.option(
        "--errors",
        type=click.Choice(["strict", "replace", "skip"]),
        default="strict",
        show_default=True,
        help="What to do with bytes that are not UTF-8.",
    ),
    click.option(
        "--nulls",
        type=click.Choice(["error", "skip"]),
        default="error",
        show_default=True,
        help="What to do with rows whose text is null.",
    ),
    click.option(
        "--memory",
        metavar="SIZE",
        callback=lambda _context, _option, value: _size(value),
        help="Such as 8GB [default: half of what is free].",
    ),
    click.option("--processes", type=click.IntRange(1), help="[default: all cores]"),
)


def text_options(command: Any) -> Any:
    """Add the options that say how texts are read; :func:`task_of` takes them."""
    for option in reversed(_HOW_TO_READ):
        command = option(command)
    return command


@click.command(
    epilog=examples(
        "tokbench count texts/ -o news.counts",
        'tokbench count "web/*.jsonl.zst" --group "{lang}" --memory 8GB -o web.counts',
        "tokbench count texts/ --pattern gpt2 --pattern gpt4 -o news.counts",
        "tokbench count --add monday.counts tuesday.counts -o week.counts",
        "tokbench train --backend regex_bpe:gpt4 --counts news.counts --vocab-size 32768",
    )
)
@click.argument("texts", nargs=-1, required=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The table to write.")
@click.option(
    "--pattern",
    "patterns",
    multiple=True,
    default=("gpt4",),
    show_default=True,
    help="The split: gpt2, gpt4, o200k, tekken, kimi, deepseek, gemma or an expression; several write a table each.",
)
@click.option("--intervals", is_flag=True, help="Count 16 parts of the text, for intervals: about twice the rows.")
@click.option("--min-count", type=click.IntRange(1), default=1, help="Leave rarer pre-tokens out; training differs.")
@text_options
@click.option("--add", is_flag=True, help="TEXTS are tables, or folders of tables: add them.")
@click.option("--gaps", is_flag=True, help="With --add: numbers of parts may be missing.")
@json_option
@log_option
@common_options
def count(
    texts: tuple[str, ...], *, output: Path, add: bool, gaps: bool, as_json: bool, log: Log, **given: Any
) -> None:
    """Count the pre-tokens of TEXTS: files, folders, patterns, addresses, or - for standard input.

    A tokenizer that is trained on the table is the one that the texts give. A count that was stopped goes on when the
    command is run again.
    """
    from tokbench.text.find import find_files
    from tokbench_plugins.counts.merge import add_tables, available_memory

    counted = None
    if add:
        tables = [path for name in texts for path in find_files(_in_folder(name))]
        memory = given["memory"] or available_memory()
        made = {output: add_tables(tables, output, memory, given["min_count"], gaps=gaps)}
    else:
        counted = _count(texts, output, log, given)
        made = counted.tables
    facts = [_facts(merged, counted, path) for path, merged in made.items()]
    if as_json:
        print_json(facts[0] if len(facts) == 1 else {"tables": facts})
        return
    for of_table in facts:
        _summary(of_table)


def _in_folder(name: str) -> str:
    """Return the pattern of the tables in a folder, of which an address ends with a slash; hidden ones are left out."""
    return f"{name.rstrip('/')}/[!._]*" if name.endswith("/") or Path(name).is_dir() else name


def _count(texts: tuple[str, ...], output: Path, log: Log, given: dict[str, Any]) -> Counted:
    from dataclasses import replace

    from tokbench.foundation.display import progress_shown
    from tokbench_plugins.bpe.patterns import NAMED, resolve_pattern
    from tokbench_plugins.counts.local import count

    patterns = dict.fromkeys(given["patterns"])
    task = task_of(texts, output, next(iter(patterns)), given)
    outputs = {pattern: output.with_suffix(f".{pattern}{output.suffix}") for pattern in patterns}
    if len(outputs) > 1:
        if unknown := [pattern for pattern in patterns if pattern not in NAMED]:
            raise InputError(f"--pattern {unknown[0]!r} has no name for its table: count it by itself")
        others = {resolve_pattern(pattern): path for pattern, path in outputs.items()}
        task = replace(task, output=others.pop(task.reading.pattern), others=others)
    total = sum(path.stat().st_size for path in task.files if path.is_file())
    with progress_shown(log) as progress:
        return count(
            replace(task, parts=given["intervals"], least=given["min_count"]),
            lambda read: progress("counting (MB)", read / 1e6, total / 1e6 if total else None),
        )


def task_of(texts: tuple[str, ...], output: Path, pattern: str, given: dict[str, Any]) -> Task:
    """Return the count of texts that options ask for; those of :func:`text_options` are in ``given``.

    Raises:
        InputError: there is no such text, or no such split.
    """
    from tokbench.engine.workers.executor import usable_cores
    from tokbench.text.find import find_texts
    from tokbench.text.templates import template_at
    from tokbench_plugins.bpe.patterns import resolve_pattern
    from tokbench_plugins.counts.local import Task
    from tokbench_plugins.counts.merge import available_memory
    from tokbench_plugins.counts.pieces import Reading

    try:
        resolved = resolve_pattern(pattern)
    except ValueError as error:
        raise InputError(f"--pattern: {error}") from error
    template_at(given["group"], "--group")
    found = find_texts(texts, complete=True)
    for line in found.notes():
        say(line, err=True)
    reading = Reading(resolved, *(given[name] for name in ("document", "field", "group", "errors", "nulls")))
    memory, processes = given["memory"] or available_memory(), given["processes"] or usable_cores()
    return Task(tuple(found.files), reading, output, memory, processes)


def notes(amount: Amount) -> list[str]:
    """Return what was replaced or left out, a sentence for each kind."""
    return [met.note(kind) for kind, met in amount.faults.met.items()]


def _facts(merged: Merged, counted: Counted | None, output: Path) -> dict[str, Any]:
    """Return all that is said of a table."""
    from tokbench_plugins.bpe.compiled.train import MOST_SLOTS
    from tokbench_plugins.counts.facts import LeftOut, named_span
    from tokbench_plugins.counts.merge import too_large

    facts, spans, late, power = merged.facts, merged.facts.spans, None, None
    if merged.before and 0 < merged.before[0] <= merged.before[1]:
        late, power = 1 - merged.before[1] / merged.different, log2(merged.different / merged.before[0])
    return {
        "table": str(output),
        "pattern": facts.pattern_name,
        "bytes": facts.bytes,
        "documents": facts.documents,
        "pretokens": merged.pretokens,
        "different": merged.different,
        "different_bytes": merged.chunk_bytes,
        "new_in_last_tenth": late,
        "growth": power,
        "training_memory": merged.training_memory,
        "fitting_min_count": merged.fitting,
        "too_large": too_large(output, merged.slots, merged.fitting) if merged.slots > MOST_SLOTS else "",
        "added": named_span(spans[0][0], spans[-1][1]) if spans else "",
        "gaps": [named_span(*gap) for gap in facts.gaps],
        "left_out": asdict(facts.left_out or LeftOut(1)),
        "resumed": counted.resumed if counted else 0,
        "notes": notes(counted.amount) if counted else [],
    }


def _summary(facts: Mapping[str, Any]) -> None:
    from tokbench.report.number_format import byte_size
    from tokbench_plugins.counts.facts import LeftOut

    table, split, different = facts["table"], facts["pattern"], facts["different"]
    if facts["resumed"]:
        say(f"{byte_size(facts['resumed'])} were counted by an earlier call.")
    say(
        f"{table}: {byte_size(facts['bytes'])}, {facts['documents']:,} documents, {facts['pretokens']:,} pre-tokens, "
        f"{different:,} different (split {split})"
    )
    if facts["added"]:
        missing = f", {len(facts['gaps']):,} gaps" if facts["gaps"] else ""
        say(f"Added: {facts['added']}{missing}.")
    if facts["growth"] is not None:
        say(
            f"The last tenth of the text brought {facts['new_in_last_tenth']:.1%} of them. They grow as "
            f"text^{facts['growth']:.2f} in its second half: ten times the text may have "
            f"{different * 10 ** facts['growth']:,.0f}."
        )
    if facts["left_out"]["different"]:
        say(f"{LeftOut(**facts['left_out'])}")
    for note in facts["notes"]:
        say(note)
    if facts["too_large"]:
        say(f"It cannot be trained on: {facts['too_large']}")
        return
    train = f"tokbench train --backend {shlex.quote(f'regex_bpe:{split}')} --counts {shlex.quote(table)}"
    say(f"Training on it takes about {byte_size(facts['training_memory'])}. Next: {train} --vocab-size 32768")
