"""The sizes and training costs of small transformers; needs no JAX."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

LEARNING_RATES: Final = (2e-3, 4e-3, 8e-3, 1.6e-2, 3.2e-2)

SHARES: Final = (0.0625, 0.125, 0.25, 0.5, 1.0)
"""Parts of the training text after which a model is scored."""

LOGITS_AT_ONCE: Final = 1 << 22
"""Logits in memory at once: 16 MB."""


@dataclass(frozen=True)
class TransformerShape:
    """The shape of a transformer without embeddings, and its training, in mean bytes of text per window and step.

    ``width`` is a multiple of ``2 * heads``.
    """

    width: int
    layers: int
    heads: int
    context_bytes: int
    step_bytes: int

    @property
    def parameters(self) -> int:
        """The number without embeddings.

        >>> TransformerShape(64, 2, 2, 256, 4096).parameters  # 2 * (12 * 64 * 64 + 2 * 64) + 64
        98624
        """
        return self.layers * (12 * self.width**2 + 2 * self.width) + self.width

    @property
    def windows(self) -> int:
        return max(1, self.step_bytes // self.context_bytes)

    def flops(self, tokens: int, window: int, n_ids: int) -> int:
        """Return the floating-point operations of training on some tokens, forward and backward.

        6 for each parameter that multiplies (with the output's table) and token, and 6 * layers * window * width for
        the causal attention (Kaplan and others 2020; Hoffmann and others 2022, appendix F).

        >>> TransformerShape(64, 2, 2, 256, 4096).flops(tokens=1000, window=64, n_ids=4096)
        2212224000
        """
        table = (n_ids + 1) * self.width
        multiplied = 12 * self.layers * self.width**2
        return 6 * tokens * (multiplied + table + self.layers * window * self.width)


PRESETS: Final[Mapping[str, TransformerShape]] = MappingProxyType(
    {
        "tiny": TransformerShape(width=64, layers=2, heads=2, context_bytes=256, step_bytes=1024),
        "small": TransformerShape(width=256, layers=6, heads=4, context_bytes=1024, step_bytes=16384),
        "gpu": TransformerShape(width=512, layers=12, heads=8, context_bytes=4096, step_bytes=131072),
    }
)


class Point(NamedTuple):
    """A model after some of the training text; ``bits`` are float64[d], of each scored document, EOS included."""

    n_bytes: int
    tokens: int
    flops: int
    seconds: float
    bits: NDArray[np.float64]


def memory_bytes(n_ids: int, body: TransformerShape, window: int) -> int:
    """Return bytes of a training: parameters, gradients, two moments, a copy, activations and logits.

    >>> memory_bytes(4096, PRESETS["tiny"], 64) // 10**6
    25
    """
    parameters = (n_ids + 2) * body.width + body.parameters
    tokens = body.windows * window
    activations = tokens * (body.layers * (16 * body.width + 3 * body.heads * window) + 4 * body.width)
    logits = min(tokens * (n_ids + 1), LOGITS_AT_ONCE)
    return 4 * (7 * parameters + activations + 3 * logits)
