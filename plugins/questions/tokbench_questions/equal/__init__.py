"""Whether two tokenizers are the same function."""

from tokbench_questions.equal.equal import Counterexample, Equality, equal

__all__ = ["Counterexample", "Equality", "equal"]
