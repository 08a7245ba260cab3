"""Backends that need no vocabulary, or a very simple one: what the others are measured against."""
