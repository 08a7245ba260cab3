"""The command ``tokbench compare``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tokbench.terminal.options import common_options, json_option, page_option, print_json, print_markdown, say


@click.command()
@click.argument("runs", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option(
    "--baseline", type=click.Path(path_type=Path), help="The run to compare with [default: the first of RUNS]."
)
@click.option(
    "--fail-on",
    "rules",
    multiple=True,
    metavar="RULE",
    help="A change that fails the comparison, such as 'fertility[hi] > +2%', 'roundtrip_exact < 0' or "
    "'mine: encode_mb_per_s < -10% significantly'. In brackets: a group, CORPUS/GROUP, or 'each' for every group; "
    "without them the whole corpus. With 'significantly' only if chance does not explain it: p is at most 0.05 after "
    "Holm's correction over all numbers of the rule, where there is an interval. May be repeated.",
)
@page_option("comparison")
@click.option("--other-machine", is_flag=True, help="Compare speeds of different machines or versions, too.")
@json_option
@common_options
def compare(
    runs: tuple[Path, ...],
    baseline: Path | None,
    rules: tuple[str, ...],
    files: tuple[Path, ...],
    *,
    other_machine: bool,
    as_json: bool,
) -> None:
    """Compare RUNS with a baseline: folders of runs, or results.json files.

    Each number of the text metrics has a paired interval where the documents are the same. Numbers that cannot be
    compared are named with the reason.

    Exit codes: 0 no rule is broken, 1 a rule is broken, 2 bad input.
    """
    from tokbench.comparison import render
    from tokbench.comparison.compare import compare as compare_runs
    from tokbench.comparison.gate import GateRule, check_rules
    from tokbench.foundation.files import write_atomically
    from tokbench.results.model import NamedRun

    paths = [baseline, *runs] if baseline else list(runs)
    if len(paths) < 2:  # noqa: PLR2004 - one run has nothing to be compared with
        raise click.UsageError("give two runs, or one and --baseline RUN")
    parsed = [GateRule.parse(rule) for rule in rules]
    first, *others = map(NamedRun.read, paths)
    pages = []
    for other in others:
        comparison = compare_runs(first, other, other_machine=other_machine)
        pages.append(render.ComparisonPage(comparison, check_rules(parsed, comparison), len(parsed)))
    for file in files:
        written = {".md": render.markdown, ".html": render.html, ".json": render.as_json}[file.suffix]
        for number, page in enumerate(pages, 1):
            path = file if len(pages) == 1 else file.with_stem(f"{file.stem}-{number}")
            write_atomically(path, written(page).encode())
            say(f"written: {path}", err=True)
    if as_json:
        print_json({"comparisons": [render.as_mapping(page) for page in pages]})
    elif not files:
        for page in pages:
            print_markdown(render.markdown(page))
    sys.exit(int(any(page.failed for page in pages)))
