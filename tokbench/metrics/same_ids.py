"""The family ``same_ids``: whether two engines of one vocabulary agree; the runner measures it."""

from __future__ import annotations

from typing import Final

from tokbench.measuring.family import MetricFamily
from tokbench.measuring.metric import Metric, Role

SPEC: Final = MetricFamily(
    name="same_ids",
    summary="whether two engines of one vocabulary produce the same ids",
    values=(
        Metric("same_ids", "share of documents", "higher", role=Role.SAME_IDS).means(
            "documents with equal ids / documents",
            "Share of documents with exactly the ids of the tokenizer that 'same_as' names. Below 1, the two do "
            "different work, and the tokenizer is not timed.",
        ),
        Metric("same_counts", "share of documents", "higher", role=Role.SAME_COUNTS).means(
            "documents with as many tokens / documents",
            "For a tokenizer without ids: the share of documents with the token count of the tokenizer that 'same_as' "
            "names. Below 1, the tokenizer is not timed. Equal counts do not prove equal ids.",
        ),
    ),
)
"""Runs when a tokenizer has ``same_as``; cannot be listed under ``metrics``."""
