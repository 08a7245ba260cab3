"""How many tokens of one tokenizer fit into the limit of another."""

from tokbench_questions.budget.chunks import GroupBudget, budget

__all__ = ["GroupBudget", "budget"]
