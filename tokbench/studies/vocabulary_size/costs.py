"""The cost of each size for a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.studies.vocabulary_size.block import ScalingLaw, SizeCost, SizeRow
from tokbench.studies.vocabulary_size.compute import (
    context_bytes,
    flops_per_byte,
    forward_flops,
    kv_cache_per_byte,
    logits_per_token,
    training_flops,
    training_tokens,
)
from tokbench.studies.vocabulary_size.lines import Line, Place
from tokbench.studies.vocabulary_size.options import Model
from tokbench.studies.vocabulary_size.scaling import SOURCE, VALIDITY, optimal_sizes
from tokbench.studies.vocabulary_size.trainable import trainable

_FLOPS_PER_PARAMETER = 6
"""FLOPs of training per parameter and token in the law."""


def costs(model: Model, place: Place, line: Line, rows: Sequence[SizeRow]) -> list[SizeCost]:
    """Return the costs of a line's sizes on a whole corpus."""
    sizes = [row.vocab_size for row in rows]
    ratio = [row.compression_ratio for row in rows]
    flops = forward_flops(model, sizes)
    columns: dict[str, NDArray[np.number]] = {
        "parameters": model.vocabulary_parameters(sizes),
        "share": model.vocabulary_share(sizes),
        "memory_bytes": model.vocabulary_bytes(sizes),
        "flops_per_byte": flops_per_byte(model, sizes, ratio),
        "output_share": flops.output / flops.total,
        "cache_per_byte": kv_cache_per_byte(model, ratio),
        "context_bytes": context_bytes(model, ratio),
        "logits_per_token": logits_per_token(sizes),
    }
    total, tokens = training_flops(model, sizes, ratio), training_tokens(model, ratio)
    if total is not None and tokens is not None:
        columns |= {"training_flops": total, "training_tokens": tokens}
    table = []
    for k, row in enumerate(rows):
        numbers: dict[str, Any] = {name: float(values[k]) for name, values in columns.items()}
        numbers |= place._asdict()
        cost = SizeCost(vocab_size=row.vocab_size, compression_ratio=row.compression_ratio, **numbers)
        table.append(cost if cost.training_tokens is None else _trained(cost, line, cost.training_tokens))
    return table


def _trained(cost: SizeCost, line: Line, tokens: float) -> SizeCost:
    counts = line.counts(line.at(cost.vocab_size))
    seen = np.zeros(cost.vocab_size, dtype=np.int64)
    met = counts[counts > 0]
    seen[: len(met)] = met[: cost.vocab_size]
    rarity = trainable(seen, cost.vocab_size, tokens)
    return replace(
        cost,
        unseen=int(rarity.unseen),
        never=int(rarity.never),
        few=int(rarity.few),
        some=int(rarity.some),
        enough=int(rarity.enough),
        bound=float(rarity.bound),
    )


def describe_model(model: Model) -> dict[str, object]:
    """Return the model's options, and its parameters without vocabulary."""
    return {
        **model.model_dump(mode="json", exclude_none=True),
        "parameters_without_vocabulary": model.parameters_without_vocabulary,
    }


def law(model: Model) -> ScalingLaw:
    """Return the optimal sizes for a model by the published law."""
    parameters, width = model.parameters_without_vocabulary, model.width
    optima = optimal_sizes(parameters, width)
    if model.training_tokens:
        budget = _FLOPS_PER_PARAMETER * parameters * model.training_tokens
        optima += optimal_sizes(parameters, width, budget)
    return ScalingLaw(source=SOURCE, validity=VALIDITY, optima=optima)
