"""The command ``tokbench inspect``: show what one vocabulary holds."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from tokbench.terminal.options import (
    backend_options,
    common_options,
    examples,
    json_option,
    parse_options,
    print_json,
    say,
)

if TYPE_CHECKING:
    from tokbench.inspect.byte_table import ByteTable
    from tokbench.inspect.examine import InspectedToken, Inspection
    from tokbench.inspect.undertrained import UnderTrained
    from tokbench.inspect.usage import CorpusUse
    from tokbench.tokenizers.contract import Tokenizer

_EXAMPLES = 8
_CANDIDATES = 20
_WIDEST = 32


@click.command(
    epilog=examples(
        "tokbench inspect gpt-4o",
        'tokbench inspect tiktoken:gpt2 --text "texts/*.txt"',
        "tokbench inspect tokenizer.json --json",
        "tokbench inspect llama-2 --bytes table.npy",
        "tokbench inspect tokbench_bpe:cl100k_base -O vocab_size=4096",
    )
)
@click.argument("tokenizer")
@backend_options
@click.option("--text", metavar="WHERE", help="A file, folder or pattern of text: show how it uses the vocabulary.")
@click.option(
    "--bytes",
    "sizes",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write how many bytes of text each id has to a NumPy file such as table.npy, and check them on --text "
    "[default: the sample].",
)
@click.option(
    "--weights",
    type=click.Path(path_type=Path),
    help="A safetensors file, or an index, of a model with it.",
)
@click.option("--tensor", metavar="NAME", help="The embedding in the weights [default: the one with a usual name].")
@click.option("--output-tensor", metavar="NAME", help="The output matrix in the weights [default: likewise].")
@json_option
@common_options
def inspect(
    tokenizer: str,
    options: Sequence[str],
    text: str | None,
    sizes: Path | None,
    weights: Path | None,
    *,
    tensor: str | None,
    output_tensor: str | None,
    as_json: bool,
) -> None:
    """Show what is in the vocabulary of TOKENIZER, and find tokens that no text gives, or a model hardly trained.

    TOKENIZER is a published name such as gpt-4o, backend:value, a file such as tokenizer.json, or a backend with -O.

    Exit codes: 0 nothing found that is an error, 1 errors found (tokens that no text gives, special tokens that
    ordinary text gives, bytes of ids that differ from those of a text), 2 bad input.
    """
    from tokbench.command import texts_by_group
    from tokbench.terminal.session import session

    if sizes and (sizes.suffix != ".npy" or not sizes.parent.is_dir()):
        raise click.UsageError(f"--bytes {sizes}: give a name that ends in .npy, in a folder that exists")
    groups = texts_by_group(text or "sample") if text or sizes else {}
    texts = [one for group in groups.values() for one in group] if text else None
    matrices = None if weights is None else (weights, tensor, output_tensor)
    look = partial(_look, texts=texts, matrices=matrices, groups=groups if sizes else None)
    n_bytes = sum(len(one) for group in groups.values() for one in group)
    with session([tokenizer], n_bytes=n_bytes, options=parse_options(options)) as ready:
        health, use, trained, table, known = ready.together(look, ready.names, "inspecting")
    if sizes and table:
        _write(sizes, table)
    if as_json:
        further = {"corpus": asdict(use)} if use else {}
        further |= {"undertrained": asdict(trained)} if trained else {}
        longest = {"longest": int(table.sizes.max()), "sizes": sizes, "exact": table.exact} if table else {}
        further |= {"bytes": asdict(table) | longest} if table else {}
        print_json(asdict(health) | {"failed": health.failed, "cautions": known} | further)
    else:
        _show(health)
        for caution in known:
            say(caution)
        if use:
            _show_use(use, health.vocab_size)
        if trained:
            _show_undertrained(trained, health.vocab_size)
        if table:
            from tokbench.inspect.byte_table import show_byte_table

            show_byte_table(table)
            say(f"wrote {sizes}: int32, one number for each id")
    sys.exit(int(health.failed or (table is not None and not table.exact)))


class _Seen(NamedTuple):
    health: Inspection
    use: CorpusUse | None
    trained: UnderTrained | None
    table: ByteTable | None
    cautions: list[str]


def _look(
    tokenizer: Tokenizer,
    *,
    texts: list[str] | None,
    matrices: tuple[Path, str | None, str | None] | None,
    groups: Mapping[str, Sequence[str]] | None,
) -> _Seen:
    from tokbench.inspect.byte_table import byte_table
    from tokbench.inspect.examine import examine
    from tokbench.inspect.undertrained import under_trained
    from tokbench.inspect.usage import corpus_use
    from tokbench.tokenizers.facts import cautions

    health = examine(tokenizer)
    use = None if texts is None else corpus_use(tokenizer, texts, health.unreachable)
    trained = under_trained(tokenizer, health, *matrices) if matrices else None
    table = None if groups is None else byte_table(tokenizer, groups)
    return _Seen(health, use, trained, table, cautions(getattr(tokenizer, "notes", ())))


def _write(path: Path, table: ByteTable) -> None:
    import numpy as np

    from tokbench.foundation.files import write_atomically

    content = io.BytesIO()
    np.save(content, table.sizes)
    write_atomically(path, content.getvalue())


def _show(health: Inspection) -> None:
    say(f"{health.vocab_size:,} tokens")
    say(f"  by kind: {_counts(health.kinds)}")
    say(f"  by script: {_counts(health.scripts)}")
    say(f"  longest: {_some(health.longest)}")
    for finding in health.findings:
        count = len(finding.tokens)
        say(f"{finding.severity}: {finding.rule}: {count:,} id{'s' if count > 1 else ''}: {finding.message}")
        say(f"  {_some(finding.tokens)}")
    if not health.failed:
        say("no errors")


def _show_use(use: CorpusUse, vocab_size: int) -> None:
    say(f"in {use.documents:,} documents, {use.tokens:,} tokens")
    shares = {name: f"{count:,} ({count / vocab_size:.1%})" for name, count in use.classes.items()}
    say("  by use: " + ", ".join(f"{name} {share}" for name, share in shares.items()))
    if "scaffold" not in use.classes:
        say("  this tokenizer does not list its merges: tokens that only serve to build others count as unseen")
    which = "are whole tokens that these texts never make; the most surprising first"
    _show_candidates("candidates for glitch tokens", which, use.candidates, use.apart, vocab_size)


def _show_undertrained(trained: UnderTrained, vocab_size: int) -> None:
    measure = "cosine distance to the mean row of unused ids" if trained.tied else "norm of the input row"
    kind = "which is the output, too" if trained.tied else "with a separate output matrix"
    say(f"in the embedding {trained.tensor}, {kind}: {measure}; {trained.unused:,} rows are known to be unused")
    say(f"  under-trained: {trained.threshold:.3g} and less ({trained.origin})")
    which = "are whole tokens that the model hardly trained; the smallest first"
    _show_candidates("under-trained", which, trained.candidates, trained.apart, vocab_size)


def _show_candidates(
    what: str,
    which: str,
    candidates: Sequence[InspectedToken],
    apart: Mapping[str, Sequence[InspectedToken]],
    vocab_size: int,
) -> None:
    if candidates:
        say(f"  {what}: {len(candidates):,} ({len(candidates) / vocab_size:.1%}) {which}:")
        for token in candidates[:_CANDIDATES]:
            say(f"    {_shown(token)}")
    for kind, tokens in apart.items():
        say(f"  no candidates, {kind}: {len(tokens):,}: {_some(tokens)}")


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


def _some(tokens: Sequence[InspectedToken]) -> str:
    more = f" and {len(tokens) - _EXAMPLES:,} more" if len(tokens) > _EXAMPLES else ""
    return ", ".join(map(_shown, tokens[:_EXAMPLES])) + more


def _shown(token: InspectedToken) -> str:
    from tokbench.foundation.visible_text import visible
    from tokbench.report.escaping import cut

    text = cut(visible(token.text, spaces=True), _WIDEST) or "nothing"
    return f"{token.id} {text}" + (f" ({visible(token.remark)})" if token.remark else "")
