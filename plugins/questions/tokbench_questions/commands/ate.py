"""``tokbench ate``: which texts a vocabulary was trained on."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from tokbench.command import (
    common_options,
    examples,
    json_option,
    print_json,
    print_numbers,
    say,
    session,
    texts_by_group,
)


@click.command("ate", epilog=examples("tokbench ate gpt-4 sample", "tokbench ate gpt-4o web.counts code.counts"))
@click.argument("vocabulary")
@click.argument("candidates", nargs=-1, required=True)
@click.option("--split", default="", help="gpt2, gpt4, o200k or an expression [default: the vocabulary's own].")
@click.option("--sum", "sums", multiple=True, metavar="NAME,NAME", help="Show the sum of these, too, such as all code.")
@json_option
@common_options
def ate(vocabulary: str, candidates: tuple[str, ...], split: str, sums: tuple[str, ...], *, as_json: bool) -> None:
    """Estimate the shares of languages and code in the text that VOCABULARY was trained on.

    The merges of a byte-level BPE took the most frequent pair each time. CANDIDATES are texts that it may have been
    trained on: a file, a folder or a pattern, by language and programming language; "sample", the text that ships with
    tokbench; or tables of tokbench count, one for each candidate or with groups. A few hundred kB of each are enough.

    Exit codes: 0 estimated, 2 bad input.
    """
    from functools import partial

    from tokbench_questions.ate import ate as answer_of
    from tokbench_questions.ate import is_table

    tables = [name for name in candidates if is_table(Path(name))]
    if tables and len(tables) < len(candidates):
        raise click.UsageError("tables and texts cannot be mixed; count the texts with tokbench count")
    step = partial(answer_of, candidates=tables or _texts(candidates), split=split, name=vocabulary)
    with session([vocabulary]) as ready:
        answer = ready.together(step, [vocabulary], "reading merges")
    totals = [answer.total(names.split(",")) for names in sums]
    if as_json:
        print_json(asdict(answer) | {"sums": [asdict(one) for one in totals], "sentence": answer.sentence})
        return
    say(answer.sentence)
    rows = [
        [one.name, f"{one.share:.1%}", f"{100 * one.low:.1f}–{100 * one.high:.1f}", f"{one.n_bytes / 1000:,.0f}"]
        for one in (*answer.shares, *totals)
    ]
    print_numbers(["candidate", "share", "interval", "kB of text"], rows)
    say("\n".join(answer.limits))


def _texts(places: tuple[str, ...]) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {}
    for where in places:
        for name, documents in texts_by_group(where).items():
            if not name.startswith("hostile-"):
                texts.setdefault(name, []).extend(documents)
    return texts
