"""How many tokens of one tokenizer fit into the limit of another."""

from tokbench_questions.budget.chunks import Budget, GroupBudget, GroupOverflow, budget, overflow

__all__ = ["Budget", "GroupBudget", "GroupOverflow", "budget", "overflow"]
