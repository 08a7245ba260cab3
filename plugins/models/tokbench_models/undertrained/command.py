"""The command ``tokbench undertrained``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from tokbench.command import common_options, json_option, print_json, say
from tokbench.terminal.options import backend_options, parse_options


@click.command()
@click.argument("tokenizer")
@click.argument("weights", type=click.Path(path_type=Path))
@backend_options
@click.option("--tensor", metavar="NAME", help="The embedding in these weights [default: the one with a usual name].")
@click.option("--output-tensor", metavar="NAME", help="The output matrix in these weights [default: likewise].")
@json_option
@common_options
def undertrained(
    tokenizer: str,
    weights: Path,
    options: Sequence[str],
    *,
    tensor: str | None,
    output_tensor: str | None,
    as_json: bool,
) -> None:
    """List the tokens of TOKENIZER that a model hardly trained, by its WEIGHTS.

    TOKENIZER is a published name such as gpt-2, backend:value, or a file such as tokenizer.json. WEIGHTS belong to a
    model with this vocabulary: a safetensors file or the index of several.
    """
    from tokbench.api import load
    from tokbench.inspect.command import show_candidates
    from tokbench.inspect.examine import examine
    from tokbench_models.undertrained.undertrained import under_trained

    loaded = load(tokenizer, **parse_options(options))
    health = examine(loaded)
    trained = under_trained(loaded, health, weights, tensor, output_tensor)
    if as_json:
        print_json(asdict(trained))
        return
    measure = "cosine distance to the mean row of unused ids" if trained.tied else "norm of the input row"
    kind = "which is the output, too" if trained.tied else "with a separate output matrix"
    say(f"in the embedding {trained.tensor}, {kind}: {measure}; {trained.unused:,} rows are known to be unused")
    say(f"  under-trained: {trained.threshold:.3g} and less ({trained.origin})")
    which = "are whole tokens that the model hardly trained; the smallest first"
    show_candidates("under-trained", which, trained.candidates, trained.apart, health.vocab_size)
