"""The cost of a model without a tokenizer: one that reads bytes, fixed patches of bytes, or patches cut by entropy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.studies.vocabulary_size.block import ByteCost
from tokbench.studies.vocabulary_size.compute import forward_flops, kv_cache_per_token
from tokbench.studies.vocabulary_size.options import Model

BYTE_VALUES: Final = 256
_PATCHES: Final = (4, 8)
_MEAN_PATCH: Final = 4.5
"""Bytes of a patch cut by entropy, on average; Pagnoni et al. 2024 compare their models at this length."""


class EntropyPatches(NamedTuple):
    """Patches that begin where the next byte is uncertain, measured on texts.

    Attributes:
        threshold: bits; a patch begins before a byte whose entropy is above it, and with each document.
        mean: bytes of a patch, over all texts.
        by_corpus: by corpus, bytes of a patch there.
    """

    threshold: float
    mean: float
    by_corpus: Mapping[str, float]


def cut_by_entropy(entropies: NDArray[np.float64], begins: NDArray[np.bool_], mean: float = _MEAN_PATCH) -> float:
    """Return the threshold above which a byte begins a patch, such that patches have ``mean`` bytes on average.

    This is the global threshold of the Byte Latent Transformer (Pagnoni et al. 2024, "Byte Latent Transformer: Patches
    Scale Better Than Tokens", section 2.3).

    Args:
        entropies: float64[n], before each byte the entropy of what comes next, bits.
        begins: bool[n], ``True`` for the first byte of a document, which begins a patch in any case.
        mean: bytes of a patch. Patches are longer where many bytes have the very same entropy, and shorter where
            documents are shorter.

    Raises:
        ValueError: there is no byte.

    Eight bytes in two documents: four patches of two bytes, two of which the documents begin.

    >>> entropies = np.array([3.0, 0.5, 2.0, 0.1, 3.0, 1.0, 0.2, 1.5])
    >>> begins = np.array([True, False, False, False, True, False, False, False])
    >>> threshold = cut_by_entropy(entropies, begins, mean=2)
    >>> threshold, np.flatnonzero(patch_starts(entropies, begins, threshold)).tolist()
    (1.0, [0, 2, 4, 7])
    """
    if not len(entropies):
        raise ValueError("there is no byte to cut")
    inside = np.sort(entropies[~begins])[::-1]
    if not len(inside):
        return float(entropies.max())
    further = round(len(entropies) / mean) - int(begins.sum())
    return float(inside[min(max(further, 0), len(inside) - 1)])


def patch_starts(entropies: NDArray[np.float64], begins: NDArray[np.bool_], threshold: float) -> NDArray[np.bool_]:
    """Return bool[n], ``True`` for each byte that begins a patch; see :func:`cut_by_entropy`.

    >>> patch_starts(np.array([0.0, 2.0, 1.0]), np.array([True, False, False]), 1.0).tolist()
    [True, True, False]
    """
    return begins | (entropies > threshold)


def without_tokenizer(model: Model, entropy: EntropyPatches | None = None) -> list[ByteCost]:
    """Return the costs of the same model over bytes, over patches of 4 and of 8 bytes, and over patches by entropy.

    Patches by entropy cost what fixed patches of their mean length cost. The model that finds them is not counted.

    Args:
        model: the model; its context is counted in patches.
        entropy: the patches by entropy; ``None`` to leave them out.

    >>> gpt2 = Model(width=768, layers=12, context=1024, positions=1024, biases=True, tied=True)
    >>> costs = without_tokenizer(gpt2, EntropyPatches(1.5, 4.5, {}))
    >>> [(cost.patch, round(cost.flops_per_byte / 1e6, 1), cost.context_bytes) for cost in costs]
    [(1.0, 189.1, 1024.0), (4.0, 90.0, 4096.0), (8.0, 66.4, 8192.0), (4.5, 84.8, 4608.0)]
    """
    costs = [byte_cost(model), *(patch_cost(model, patch) for patch in _PATCHES)]
    if entropy:
        cost = patch_cost(model, entropy.mean)
        costs.append(replace(cost, threshold=entropy.threshold, by_corpus=dict(entropy.by_corpus)))
    return costs


def byte_cost(model: Model) -> ByteCost:
    """Return the costs of a model whose tokens are bytes.

    >>> byte_cost(Model(width=768, layers=12, context=1024, tied=True)).parameters
    196608.0
    """
    return ByteCost(
        patch=1.0,
        parameters=float(model.vocabulary_parameters(BYTE_VALUES)),
        flops_per_byte=float(forward_flops(model, BYTE_VALUES).total),
        local_share=0.0,
        cache_per_byte=float(kv_cache_per_token(model)),
        context_bytes=float(model.context),
    )


def patch_cost(model: Model, patch: float) -> ByteCost:
    """Return the costs of a model over fixed patches of bytes (Yu et al. 2023, "MEGABYTE").

    The model itself takes one step a patch and has no output layer. The embeddings of the bytes of a patch, width /
    patch each, are its input. A local model then writes the bytes of the patch one after the other: for each byte it
    takes width / patch numbers of the large model, projected to its own width, and it sees the patch alone. It is
    taken to have half the width and as many layers. Its cache is as long as a patch, and not counted.

    FLOPs per byte: those of a step / patch + those of a byte in the local model + 2 x width / patch x local width.

    Args:
        model: the large model; its context is counted in patches.
        patch: bytes of a patch, 2 or more; of patches that differ, the mean.

    >>> cost = patch_cost(Model(width=768, layers=12, context=1024), 4)
    >>> round(cost.flops_per_byte), round(cost.local_share, 3), cost.cache_per_byte
    (90034176, 0.476, 9216.0)
    """
    local = local_model(model, patch)
    step = forward_flops(model, BYTE_VALUES)
    bridge = model.width / patch * local.width
    inside = float(forward_flops(local, BYTE_VALUES).total) + 2 * bridge
    total = float(step.total - step.output) / patch + inside
    embedding = BYTE_VALUES * model.width / patch
    return ByteCost(
        patch=float(patch),
        parameters=embedding + bridge + float(local.parameters(BYTE_VALUES)),
        flops_per_byte=total,
        local_share=inside / total,
        cache_per_byte=kv_cache_per_token(model) / patch,
        context_bytes=float(model.context * patch),
    )


def local_model(model: Model, patch: float) -> Model:
    """Return the model that writes the bytes of a patch: half the width, as many layers, a patch of context.

    >>> local_model(Model(width=768, layers=12, context=1024, heads=12, kv_heads=4), 8).width
    384
    """
    inner = model.feed_forward and max(1, model.feed_forward // 2)
    width = max(1, model.width // 2)
    own: dict[str, object] = {"width": width, "feed_forward": inner, "context": patch, "positions": 0, "tied": False}
    return model.model_copy(update=own | dict.fromkeys(("heads", "kv_heads", "head_width")))
