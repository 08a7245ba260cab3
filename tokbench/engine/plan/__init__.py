"""From a configuration to the plan of a run; everything that is wrong is told at once."""

from tokbench.engine.plan.make import READING, complete_plan, make_plan, plan_tokenizers
from tokbench.engine.plan.model import Plan, PlannedTokenizer, reading_order

__all__ = ["READING", "Plan", "PlannedTokenizer", "complete_plan", "make_plan", "plan_tokenizers", "reading_order"]
