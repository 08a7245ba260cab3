"""The family ``drift``: ids that change while a conversation grows, a text is appended to, or ids are shown."""

from tokbench_research.metrics.drift.drift import SPEC as SPEC
