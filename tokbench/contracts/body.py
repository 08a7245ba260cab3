"""The bodies of the small transformer: all of it but the table of embeddings. Nothing here needs JAX."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

LEARNING_RATES: Final = (2e-3, 4e-3, 8e-3, 1.6e-2, 3.2e-2)
"""The learning rates of a sweep."""


@dataclass(frozen=True)
class Body:
    """All of a transformer but the table of embeddings, and how it is trained.

    Attributes:
        width: numbers of a position; a multiple of ``2 * heads``.
        layers: how many.
        heads: of attention.
        context_bytes: bytes of text that a window has, on average.
        step_bytes: bytes of text of one step of training.
    """

    width: int
    layers: int
    heads: int
    context_bytes: int
    step_bytes: int

    @property
    def parameters(self) -> int:
        """The number of parameters, without the embeddings.

        >>> Body(64, 2, 2, 256, 4096).parameters  # 2 * (12 * 64 * 64 + 2 * 64) + 64
        98624
        """
        return self.layers * (12 * self.width**2 + 2 * self.width) + self.width

    @property
    def windows(self) -> int:
        """The number of windows of one step of training."""
        return max(1, self.step_bytes // self.context_bytes)

    def flops(self, tokens: int, window: int, n_ids: int) -> int:
        """Return the floating-point operations of training on some tokens, forward and backward.

        6 for each parameter that multiplies and each token, the output's table included, and 6 * layers * window *
        width for the attention, of which a causal one needs half (Kaplan and others 2020; Hoffmann and others 2022,
        appendix F).

        >>> Body(64, 2, 2, 256, 4096).flops(tokens=1000, window=64, n_ids=4096)
        2212224000
        """
        table = (n_ids + 1) * self.width
        multiplied = 12 * self.layers * self.width**2
        return 6 * tokens * (multiplied + table + self.layers * window * self.width)


PRESETS: Final[Mapping[str, Body]] = MappingProxyType(
    {
        "tiny": Body(width=64, layers=2, heads=2, context_bytes=256, step_bytes=4096),
        "small": Body(width=256, layers=6, heads=4, context_bytes=1024, step_bytes=16384),
        "gpu": Body(width=512, layers=12, heads=8, context_bytes=4096, step_bytes=131072),
    }
)
