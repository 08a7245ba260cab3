"""Backends that need no vocabulary, or a very simple one: baselines for the others."""
