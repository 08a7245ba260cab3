"""From a configuration to what a run will do, with everything that is wrong told at once."""

from tokbench.runner.plan.make import make_plan
from tokbench.runner.plan.model import CURVE, Plan, PlannedTokenizer, reading_order

__all__ = ["CURVE", "Plan", "PlannedTokenizer", "make_plan", "reading_order"]
