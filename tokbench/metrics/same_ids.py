"""The family ``same_ids``: whether two engines of one vocabulary agree; the runner measures it."""

from __future__ import annotations

from typing import Final

from tokbench.measuring.family import MetricFamily
from tokbench.measuring.metric import Metric, Role

SPEC: Final = MetricFamily(
    name="same_ids",
    summary="whether two engines of one vocabulary give the same ids",
    values=(
        Metric("same_ids", "share of documents", "higher", role=Role.SAME_IDS).means(
            "documents with equal ids / documents",
            "Share of documents of which the ids are those of the tokenizer that 'same_as' names. Where it is not "
            "1, the two do not do the same work, and the tokenizer is not timed.",
        ),
        Metric("same_counts", "share of documents", "higher", role=Role.SAME_COUNTS).means(
            "documents with as many tokens / documents",
            "Share of documents of which a tokenizer that gives no ids counts as many tokens as the one that "
            "'same_as' names. Where it is not 1, the tokenizer is not timed. Equal counts do not prove equal ids.",
        ),
    ),
)
"""Runs when a tokenizer has ``same_as``; cannot be listed under ``metrics``."""
