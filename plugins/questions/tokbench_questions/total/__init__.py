"""The tokens of a corpus, from a sample of it."""

from tokbench_questions.total.estimate import CorpusTotal, Stratum, total

__all__ = ["CorpusTotal", "Stratum", "total"]
