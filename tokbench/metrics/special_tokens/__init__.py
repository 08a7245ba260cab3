"""The family ``special_tokens``: special tokens that a user types, and what chat templates cost."""

from __future__ import annotations

from typing import Final

from tokbench.metrics.special_tokens.chat import CHAT
from tokbench.metrics.special_tokens.typed import TYPED
from tokbench.plugin import MetricFamily

__all__ = ["SPEC"]

SPEC: Final = MetricFamily(
    name="special_tokens",
    summary="what a text that spells special tokens becomes, and the tokens that chat templates add to a message",
    probes=lambda _: (TYPED, CHAT),
    values=(*TYPED.values, *CHAT.values),
)
