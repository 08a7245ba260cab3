"""The family ``code``: a file for each theme, and ``code`` to join them."""

from tokbench.metrics.code.code import SPEC as SPEC
