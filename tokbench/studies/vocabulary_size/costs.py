"""From rows to the cost of each size for a model, its ids that can be trained, and patches of bytes beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin import Corpus, Encoded
from tokbench.studies.language_models.contract import ModelTexts
from tokbench.studies.language_models.ngram_model import next_entropies
from tokbench.studies.language_models.texts import text_parts
from tokbench.studies.vocabulary_size.block import ExtensionCost, ScalingLaw, SizeCost, SizeRow
from tokbench.studies.vocabulary_size.compute import (
    context_bytes,
    flops_per_byte,
    forward_flops,
    kv_cache_per_byte,
    logits_per_token,
    training_flops,
    training_tokens,
)
from tokbench.studies.vocabulary_size.extend import extend
from tokbench.studies.vocabulary_size.lines import Line, Place
from tokbench.studies.vocabulary_size.options import Model
from tokbench.studies.vocabulary_size.patches import BYTE_VALUES, EntropyPatches, cut_by_entropy, patch_starts
from tokbench.studies.vocabulary_size.scaling import SOURCE, VALIDITY, optimal_sizes
from tokbench.studies.vocabulary_size.trainable import trainable

_EXTENSIONS = (3, 16, 256, 1_000, 10_000)
_FLOPS_PER_PARAMETER = 6
"""FLOPs of training for a parameter and a token, as the law counts them."""

_BYTE_ORDER = 5
"""The order of the model of bytes that finds patches: it sees four bytes."""

_REMEDY = "leave it out of 'weights' of the study"

_TRAINED_BYTES, _CUT_BYTES, _LONGEST_CUT = 1 << 20, 1 << 18, 1 << 14
"""Bytes of text that train the model of bytes, bytes that are cut into patches, and of one document at most."""


def costs(model: Model, place: Place, line: Line, rows: Sequence[SizeRow]) -> list[SizeCost]:
    """Return what the sizes of a line, which is on a whole corpus, cost a model."""
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
    """Add the ids of a size by how often a training set of the given tokens will hold them."""
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
    """Return the model as it was given, and its parameters without vocabulary."""
    return {
        **model.model_dump(mode="json", exclude_none=True),
        "parameters_without_vocabulary": model.parameters_without_vocabulary,
    }


def extensions(model: Model, size: int) -> list[ExtensionCost]:
    """Return what further rows cost a finished vocabulary, special tokens and merges alike."""
    return [extend(model, size, further, multiple=64) for further in _EXTENSIONS]


def law(model: Model) -> ScalingLaw:
    """Return what the published law calls optimal for a model."""
    parameters, width = model.parameters_without_vocabulary, model.width
    optima = optimal_sizes(parameters, width)
    if model.training_tokens:
        budget = _FLOPS_PER_PARAMETER * parameters * model.training_tokens
        optima += optimal_sizes(parameters, width, budget)
    return ScalingLaw(source=SOURCE, validity=VALIDITY, optima=optima)


def entropy_patches(corpora: Sequence[Corpus]) -> EntropyPatches:
    """Cut documents of each corpus into patches, by the entropy of the next byte under a model of other documents.

    The model is that of :func:`~tokbench.studies.language_models.ngram_model.next_entropies`, over bytes. All corpora
    train one model and have one threshold; each gives as much text as the others, if it has it.

    Raises:
        InputError: a corpus leaves no document to train on, or none to cut; or it cannot be read.
    """
    share = 1 / max(len(corpora), 1)
    wanted = ModelTexts("", 0.2, int(_TRAINED_BYTES * share), int(_CUT_BYTES * share), _LONGEST_CUT)
    parts = {corpus.name: text_parts(corpus, corpus, wanted, _REMEDY) for corpus in corpora}
    cut = {name: _as_bytes(part.scored) for name, part in parts.items()}
    scored = _as_bytes([text for part in parts.values() for text in part.scored])
    training = _as_bytes([text for part in parts.values() for text in part.training])
    entropies = next_entropies(training, scored, BYTE_VALUES, _BYTE_ORDER)
    begins = np.zeros(len(scored.ids), dtype=np.bool_)
    begins[scored.offsets[:-1][np.diff(scored.offsets) > 0]] = True
    threshold = cut_by_entropy(entropies, begins)
    starts = patch_starts(entropies, begins, threshold)
    ends = np.cumsum([len(encoded.ids) for encoded in cut.values()])
    pieces = np.split(starts, ends[:-1])
    by_corpus = {name: len(some) / int(some.sum()) for name, some in zip(cut, pieces, strict=True) if len(some)}
    return EntropyPatches(threshold, len(starts) / int(starts.sum()), by_corpus)


def _as_bytes(texts: Sequence[str]) -> Encoded:
    """Return the UTF-8 bytes of texts as ids."""
    data = [text.encode() for text in texts]
    ids = np.frombuffer(b"".join(data), dtype=np.uint8).astype(np.uint32)
    return Encoded(ids, np.cumsum([0, *map(len, data)]))
