"""Adapts a vocabulary to texts: adds merges, and removes tokens that no text uses."""
