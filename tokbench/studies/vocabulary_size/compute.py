"""The cost of a token and of a byte in a model."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tokbench.studies.vocabulary_size.options import Model

Floats = NDArray[np.float64]


def flops_per_token(model: Model, vocab_size: ArrayLike) -> Floats:
    """Return the FLOPs of the forward pass of one token in training, with a full context.

    A multiplication and an addition are two: 2 for each weight of a product, and 2 x layers x context x attention width
    for attention, as both its products see context / 2 tokens on average (Kaplan et al. 2020, "Scaling Laws for Neural
    Language Models", table 1). Embedding, norms, biases and softmax are not counted.

    >>> gpt2 = Model(width=768, layers=12, context=1024, positions=1024, biases=True, tied=True)
    >>> flops_per_token(gpt2, [8192, 50257]).tolist()
    [201326592.0, 265938432.0]
    """
    layer = model.attention_weights + model.context * model.attention_width + model.feed_forward_weights
    return 2.0 * model.layers * layer + 2.0 * model.width * np.asarray(vocab_size, dtype=np.float64)


def flops_per_byte(model: Model, vocab_size: ArrayLike, bytes_per_token: ArrayLike) -> Floats:
    """Return float64[s], the forward FLOPs of a byte of text at full context: FLOPs of a token / bytes per token.

    >>> gpt2 = Model(width=768, layers=12, context=1024, positions=1024, biases=True, tied=True)
    >>> (flops_per_byte(gpt2, [8192, 50257], [3.6, 4.4]) / 1e6).round(1).tolist()
    [55.9, 60.4]
    """
    return np.asarray(flops_per_token(model, vocab_size) / np.asarray(bytes_per_token))
