"""The command ``tokbench inspect``: show what one vocabulary holds."""

from __future__ import annotations

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
        "tokbench inspect tokbench_bpe:cl100k_base -O vocab_size=4096",
    )
)
@click.argument("tokenizer")
@backend_options
@click.option("--text", metavar="PATH", help="Text files, a path or a glob pattern: show how they use the vocabulary.")
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
    weights: Path | None,
    *,
    tensor: str | None,
    output_tensor: str | None,
    as_json: bool,
) -> None:
    """Show what is in the vocabulary of TOKENIZER, and find tokens that no text gives, or a model hardly trained.

    TOKENIZER is a published name such as gpt-4o, backend:value, a file such as tokenizer.json, or a backend with -O.

    Exit codes: 0 nothing found that is an error, 1 errors found (tokens that no text gives, special tokens that
    ordinary text gives), 2 bad input.
    """
    from tokbench.terminal.session import session

    texts = _texts(text) if text else None
    look = partial(_look, texts=texts, weights=weights, tensor=tensor, output_tensor=output_tensor)
    n_bytes = sum(map(len, texts or ()))
    with session([tokenizer], n_bytes=n_bytes, options=parse_options(options)) as ready:
        health, use, trained, known = ready.together(look, ready.names, "inspecting")
    if as_json:
        further = {"corpus": asdict(use)} if use else {}
        further |= {"undertrained": asdict(trained)} if trained else {}
        print_json(asdict(health) | {"failed": health.failed, "cautions": known} | further)
    else:
        _show(health)
        for caution in known:
            say(caution)
        if use:
            _show_use(use, health.vocab_size)
        if trained:
            _show_undertrained(trained, health.vocab_size)
    sys.exit(int(health.failed))


class _Seen(NamedTuple):
    health: Inspection
    use: CorpusUse | None
    trained: UnderTrained | None
    cautions: list[str]


def _look(
    tokenizer: Tokenizer,
    *,
    texts: list[str] | None,
    weights: Path | None,
    tensor: str | None,
    output_tensor: str | None,
) -> _Seen:
    from tokbench.inspect.examine import examine
    from tokbench.inspect.undertrained import under_trained
    from tokbench.inspect.usage import corpus_use
    from tokbench.tokenizers.facts import cautions

    health = examine(tokenizer)
    use = None if texts is None else corpus_use(tokenizer, texts, health.unreachable)
    trained = under_trained(tokenizer, health, weights, tensor, output_tensor) if weights else None
    return _Seen(health, use, trained, cautions(getattr(tokenizer, "notes", ())))


def _texts(path: str) -> list[str]:
    from tokbench.registry.plugins import load_registry

    spec = load_registry().corpora.get("text")
    options = spec.options.model_validate({"path": Path(path), "document": "line"})
    return [document.text for document in spec.open(options).documents()]


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
