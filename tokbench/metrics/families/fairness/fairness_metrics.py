"""What the family ``fairness`` tells, with its definitions."""

from __future__ import annotations

from typing import Final

from tokbench.plugin import Metric, Role

__all__ = ["VALUES"]

VALUES: Final = (
    Metric(
        id="premium",
        unit="times the reference",
        direction="lower",
        role=Role.PREMIUM,
        formula="Σ tokens / Σ tokens of the same documents in the reference language",
        definition=(
            "What a text costs in this language, the same text in the corpus's reference language being 1: where "
            "tokens are paid for, the relative price; where they come one after the other, the relative time. "
            "Documents that do not come back, or have unknown tokens, in either language are left out in both; where "
            "that is more than half of them, there is no premium. Of the whole corpus and of slices (script, family, "
            "resource class of the languages): the mean over all languages but the reference."
        ),
    ),
    Metric(
        id="median_premium",
        unit="times the reference",
        direction="lower",
        formula="median over documents of tokens / tokens in the reference language",
        definition=(
            "The premium document by document: half of them cost more than this. Of several languages together it "
            "has no interval, as translations of one document are not independent."
        ),
    ),
    Metric(
        id="relative_context",
        unit="share of the reference's",
        direction="higher",
        label="context",
        role=Role.RELATIVE_CONTEXT,
        formula="1 / premium",
        definition="How much of what fits into a context window in the reference language fits in this language.",
    ),
    Metric(
        id="left_out",
        unit="documents",
        direction="lower",
        label="left out of premiums",
        formula="documents that do not come back in the language or in the reference",
        definition="Documents that the premium leaves out; lost text must not pass for cheap text.",
    ),
    Metric(
        id="gini",
        unit="Gini coefficient",
        direction="lower",
        label="Gini",
        role=Role.INEQUALITY,
        formula="Σᵢ Σⱼ |pᵢ - pⱼ| / (2 n Σ p), p the premiums of n languages",
        definition=(
            "How unevenly the cost is spread over the languages, each counted once and the reference among them: 0 if "
            "all have the same premium, near 1 if one of many bears it all."
        ),
        whole=True,
    ),
    Metric(
        id="max_min",
        unit="times the cheapest",
        direction="lower",
        label="max/min premium",
        role=Role.PREMIUM_RANGE,
        formula="highest premium / lowest premium",
        definition="What the dearest language costs, the cheapest being 1; the reference is among them.",
        whole=True,
    ),
)
