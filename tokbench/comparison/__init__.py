"""Compares runs: what changed, how sure that is, and whether it may pass."""
