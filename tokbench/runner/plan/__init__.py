"""From a configuration to the plan of a run; everything that is wrong is told at once."""

from tokbench.runner.plan.make import READING, make_plan
from tokbench.runner.plan.model import Plan, PlannedTokenizer, reading_order

__all__ = ["READING", "Plan", "PlannedTokenizer", "make_plan", "reading_order"]
