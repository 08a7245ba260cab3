"""Comparison of runs: what changed from one to the next, how sure that is, and whether it may pass."""
