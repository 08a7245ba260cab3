"""Rows -> what each size costs a model, which of its ids can be trained, and which size to take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tokbench.runner.vocabulary_size.lines import Line
from tokbench.vocabulary.size.compute import (
    context_bytes,
    flops_per_byte,
    forward_flops,
    kv_cache_per_byte,
    logits_per_token,
    training_flops,
    training_tokens,
)
from tokbench.vocabulary.size.extend import extend
from tokbench.vocabulary.size.front import SizeCandidate, recommend
from tokbench.vocabulary.size.model import Model
from tokbench.vocabulary.size.scaling import SOURCE, VALIDITY, optimal_sizes
from tokbench.vocabulary.size.trainable import trainable

__all__ = ["advice", "costs", "describe_model", "extensions", "law"]

_EXTENSIONS = (16, 256, 1_000, 10_000)
_FLOPS_PER_PARAMETER = 6
"""Of training, for a token; what the law reckons with."""


def costs(model: Model, line: Line, found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What the sizes of a line cost a model.

    Args:
        model: the model.
        line: the line on a whole corpus.
        found: its rows.
    """
    sizes = [row["vocab_size"] for row in found]
    ratio = [row["compression_ratio"] for row in found]
    flops = forward_flops(model, sizes)
    columns = {
        "parameters": model.vocabulary_parameters(sizes),
        "share": model.vocabulary_share(sizes),
        "memory_bytes": model.vocabulary_bytes(sizes),
        "flops_per_byte": flops_per_byte(model, sizes, ratio),
        "output_share": flops.output / flops.total,
        "cache_per_byte": kv_cache_per_byte(model, ratio),
        "context_bytes": context_bytes(model, ratio),
        "logits_per_token": logits_per_token(sizes),
        "training_flops": training_flops(model, sizes, ratio),
    }
    table = [
        {"vocab_size": size} | {name: None if each is None else float(each[k]) for name, each in columns.items()}
        for k, size in enumerate(sizes)
    ]
    tokens = training_tokens(model, ratio)
    if tokens is None:
        return table
    return [row | _trained(line, sizes[k], float(tokens[k])) for k, row in enumerate(table)]


def _trained(line: Line, size: int, tokens: float) -> dict[str, Any]:
    """The ids of a size by how often a training set of so many tokens will hold them."""
    counts = line.counts(line.at(size))
    seen = np.zeros(size, dtype=np.int64)
    met = counts[counts > 0]
    seen[: len(met)] = met[:size]
    found = trainable(seen, size, tokens)
    classes = {name: int(getattr(found, name)) for name in ("unseen", "never", "few", "some", "enough")}
    return classes | {"bound": float(found.bound), "too_rare": float(found.too_rare), "training_tokens": tokens}


def advice(table: Sequence[Mapping[str, Any]], worst: Mapping[tuple[str, int], tuple[str, float]]) -> dict[str, Any]:
    """The front and the size to take on one corpus.

    Args:
        table: the costs of all lines, with ``line`` and ``compression_ratio``.
        worst: by line and size, the group that is compressed least and its bytes per token.
    """
    candidates = [
        SizeCandidate(
            row["line"],
            row["vocab_size"],
            row["flops_per_byte"],
            row["compression_ratio"],
            worst[row["line"], row["vocab_size"]][1],
            worst[row["line"], row["vocab_size"]][0],
        )
        for row in table
    ]
    taken = recommend(candidates)
    return {
        "front": [[each.name, each.vocab_size] for each in taken.front],
        "take": [taken.candidate.name, taken.candidate.vocab_size],
        "sentence": taken.sentence,
    }


def describe_model(model: Model) -> dict[str, Any]:
    """The model as it was given, and its parameters without vocabulary."""
    return {
        **model.model_dump(mode="json", exclude_none=True),
        "parameters_without_vocabulary": model.parameters_without_vocabulary,
    }


def extensions(model: Model, size: int) -> list[dict[str, Any]]:
    """What further rows cost a finished vocabulary, special tokens and merges alike."""
    return [{"further": further} | extend(model, size, further, multiple=64)._asdict() for further in _EXTENSIONS]


def law(model: Model) -> dict[str, Any]:
    """What the published law calls optimal for a model."""
    parameters, width = model.parameters_without_vocabulary, model.width
    found = {"source": SOURCE, "validity": VALIDITY}
    optima = [each._asdict() | {"budget": None} for each in optimal_sizes(parameters, width)]
    if model.training_tokens:
        budget = _FLOPS_PER_PARAMETER * parameters * model.training_tokens
        optima += [each._asdict() | {"budget": budget} for each in optimal_sizes(parameters, width, budget)]
    return found | {"optima": optima}
