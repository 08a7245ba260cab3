"""The family ``code``: a file for each theme."""

from tokbench.metrics.code.code import SPEC as SPEC
