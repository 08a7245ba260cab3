"""The command ``tokbench cost``: what texts cost under many vocabularies."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import click

from tokbench.engine.workers.one_thread import use_one_thread
from tokbench.terminal.options import TOKENIZER, common_options, examples, json_option, print_json, say, split_names

if TYPE_CHECKING:
    from tokbench.cost.text_cost import CostTable, TextCost

_BAR = 24
"""The width of the longest bar."""

_ALONE: Final[dict[str, tuple[set[str], set[str], str]]] = {
    "chat": (set(), {"files", "names", "template"}, "--chat goes with FILE, -t and --template alone"),
    "template": ({"chat"}, {"files", "names"}, "--template goes with --chat"),
    "budget": (
        {"files", "names", "reference"},
        set(),
        "--budget goes with FILE, -t and --reference, and needs all three",
    ),
    "groups": (set(), {"names", "reference"}, "give either files, maybe with --sample, or --for"),
}
"""Options that go with few others: what each needs, and what it may have."""


def _share(_context: click.Context, _option: click.Parameter, value: str | None) -> float | None:
    number, percent, _ = (value or "").strip().partition("%")
    try:
        return None if value is None else float(number) / (100 if percent else 1)
    except ValueError as error:
        raise click.BadParameter(f"{value!r} is not a share; write it as 1%") from error


@click.command(
    epilog=examples(
        "tokbench cost texts",
        "tokbench cost --for de,hi,code",
        "tokbench cost texts -t gpt-4o --sample 10%",
        "tokbench cost texts/mine.txt -t gpt-4o,llama-3,tokenizer.json --reference gpt-4o",
        "tokbench cost chats.jsonl --chat -t gpt-4o,qwen-3",
        "tokbench cost texts -t gpt-4o --reference modernbert --budget 510",
    )
)
@click.argument("files", nargs=-1, metavar="[FILE|FOLDER]...")
@click.option(
    *("-t", "--tokenizers", "names"),
    multiple=True,
    metavar="NAMES",
    callback=split_names,
    help=f"Tokenizers, with commas between them: each {TOKENIZER}. May be repeated [default: all published names that "
    "are installed].",
)
@click.option(
    "--reference",
    default="",
    metavar="NAME",
    help="Compare with this one [default: the cheapest that is ranked].",
)
@click.option("--for", "groups", default="", metavar="GROUPS", help="Count shipped texts instead, such as de,hi,code.")
@click.option("--sample", callback=_share, help="Read a share of the text alone, such as 1%, and estimate the tokens.")
@click.option("--seed", default=0, show_default=True, help="Decides the sample.")
@click.option("--chat", is_flag=True, help="Count conversations of JSON messages as they are billed, reply by reply.")
@click.option(
    "--budget",
    type=click.IntRange(1),
    metavar="N",
    help="Find how many tokens of each tokenizer a chunk may have to fit into N tokens of --reference, by language.",
)
@click.option("--template", default="", metavar="NAME", help="A chat template for --chat [default: the model's own].")
@json_option
@common_options
def cost(
    files: tuple[str, ...],
    names: tuple[str, ...],
    reference: str,
    groups: str,
    *,
    sample: float | None,
    seed: int,
    chat: bool,
    budget: int | None,
    template: str,
    as_json: bool,
) -> None:
    """Show what texts cost under the published vocabularies: tokens, the cheapest first.

    A FILE is text, rows (JSON Lines, CSV, Parquet) or CoNLL-U, packed or not, and - is standard input, which is also
    read if there is no FILE. Of a FOLDER every file with text is read. A text is counted as a whole, of rows the text
    of each. Tokenizers with the same ids have one row. A tie differs from the cheapest by less than 1%, or not
    significantly from file to file (of a sample: from block to block). Lossy tokenizers are below the ranking. Ids of
    unverified names were compared with no other source.

    Exit codes: 0 all counted, 1 a tokenizer failed, 2 bad input.
    """
    use_one_thread()
    from tokbench.cost.sample import draw
    from tokbench.cost.text_cost import cost_of
    from tokbench.engine.workers.executor import default_workers
    from tokbench.registry.plugins import load_registry

    chosen = list(names)
    _refuse_mixed(click.get_current_context().params)
    if budget:
        from tokbench.cost.budget import show_budget

        show_budget(files, chosen, reference, budget, as_json=as_json)
        return
    if chat:
        from tokbench.cost.chat_table import count_chats

        sys.exit(count_chats(files or ("-",), chosen, template, as_json=as_json))
    blocks = None if sample is None else draw(files or ("-",), sample, seed)
    if blocks:
        texts = {str(number): block.texts for number, block in enumerate(blocks.blocks)}
        for line in blocks.left_out:
            say(line, err=True)
    else:
        texts = _shipped(groups.split(",")) if groups else _texts(files or ("-",))
    paths = tuple(texts)
    if reference and chosen and reference not in chosen:
        chosen.append(reference)
    registry, workers = load_registry(), default_workers()
    table = cost_of([*texts.values()], registry, chosen, reference=reference, workers=workers, sample=blocks)
    if as_json:
        print_json(_facts(paths, table) | ({"bytes": blocks.n_bytes, "read": blocks.read} if blocks else {}))
    else:
        _show(paths, table)
    if blocks and not as_json:
        say(f"{blocks.read:,} of {blocks.n_bytes:,} bytes were read; ± is half of the 95 % interval")
    sys.exit(int(any(row.reason for row in table.costs)))


def _refuse_mixed(params: Mapping[str, object]) -> None:
    given = {name for name, value in params.items() if value} - {"seed", "as_json"}
    for option, (needed, possible, message) in _ALONE.items():
        if option in given and not needed <= given - {option} <= needed | possible:
            raise click.UsageError(message)


def _texts(files: Sequence[str]) -> dict[str, list[str]]:
    """Return the documents of each file."""
    from tokbench.text.read import read_texts

    read = read_texts(files)
    for line in read.found.notes():
        say(line, err=True)
    return {path: [one.text for one in documents] for path, documents in read.documents.items()}


def _shipped(groups: list[str]) -> dict[str, list[str]]:
    """Return the shipped texts of some languages and programming languages, and of all code for ``code``."""
    from tokbench.terminal.folder_texts import opened

    read = {}
    for group in groups:
        keys = {"part": "code"} if group == "code" else {"part": "all", "groups": (group,)}
        read[group] = [document.text for document in opened("sample", keys).documents()]
    return read


def _facts(paths: tuple[str, ...], table: CostTable) -> dict[str, object]:
    return {
        "files": [{"file": path, "bytes": size} for path, size in zip(paths, table.sizes, strict=True)],
        "reference": table.base.tokenizer if table.base else None,
        "tokenizers": [
            {
                "tokenizer": row.tokenizer,
                "same_ids": list(row.also),
                "vocab_size": row.vocab_size,
                "tokens": row.total,
                "interval": row.estimate and [row.estimate.low, row.estimate.high],
                "bytes_per_token": table.bytes_per_token(row),
                "relative": table.relative(row),
                "tie": row.tokenizer in table.ties,
                "round_trip": row.round_trip.value,
                "characters_lost": row.lost_characters,
                "tokens_of_files": list(row.tokens),
                "unverified": row.tokenizer in table.unverified,
                "reason": row.reason,
                "cautions": list(row.cautions),
            }
            for row in table.costs
        ],
        "missing": [{"reason": reason, "names": names} for reason, names in table.left_out.items()],
    }


def _show(paths: tuple[str, ...], table: CostTable) -> None:
    from tokbench.registry.local_names import DOWNLOAD
    from tokbench.report.cells import LEGENDS, MARKS
    from tokbench.terminal.number_table import print_numbers

    counted = [row for row in table.costs if not row.reason]
    base = table.base.tokenizer if table.base else "none"
    what = "block" if any(row.estimate for row in table.costs) else "file"
    size = f"{sum(table.sizes):,} bytes in {len(paths)} {what}{'s' if len(paths) > 1 else ''}"
    if counted:
        heads = ["tokenizer", "vocabulary", "tokens", "B/token", "relative", "lost"]
        most = max(row.total for row in counted) if sys.stdout.isatty() else 0
        bars = ["█" * round(_BAR * row.total / most) for row in counted] if most else []
        print_numbers(heads, [_cells(row, table) for row in counted], f"{size}; 1.00 is {base}", bars)
        for line in {LEGENDS[mark]: None for row in counted if (mark := MARKS[row.round_trip])}:
            say(line)
        if len(paths) > 1 and not counted[0].estimate:
            say("the tokens of each file: --json")
    for row in table.costs:
        for line in filter(None, (row.reason, *row.cautions)):
            say(f"{row.tokenizer}: {line}", err=True)
    for reason, names in table.left_out.items():
        if reason != DOWNLOAD:
            say(f"left out: {', '.join(names)}: {reason}", err=True)


def _cells(row: TextCost, table: CostTable) -> list[str]:
    from tokbench.report.answer.words import percent
    from tokbench.report.cells import MARKS

    per, relative = table.bytes_per_token(row), table.relative(row)
    lost = "?" if row.lost_characters is None else percent(row.lost_characters) if row.lost_characters else "0"
    numbers = ["-" if value is None else f"{value:.2f}" for value in (per, relative)]
    notes = ["unverified"] * table.unverified.issuperset([row.tokenizer, *row.also])
    notes += ["tie"] * (row.tokenizer in table.ties and len(table.ties.difference(row.also)) > 1)
    notes += [f"also {', '.join(row.also)}"] * bool(row.also)
    name = row.tokenizer + (f" ({'; '.join(notes)})" if notes else "")
    lost += MARKS[row.round_trip]
    reach = f" ± {(row.estimate.high - row.estimate.tokens) / max(row.total, 1):.1%}" if row.estimate else ""
    return [name, f"{row.vocab_size:,}", f"{row.total:,}{reach}", *numbers, lost]
