"""The family ``fairness``: the cost of the same text in different languages, on corpora of translations."""

from tokbench.metrics.fairness.fairness import SPEC as SPEC
