"""Vocabularies: their merges, the curve over all sizes, ``inspect`` and ``size``."""
