"""Baselines: backends with a very simple vocabulary, or none."""
