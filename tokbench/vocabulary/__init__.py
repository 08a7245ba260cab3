"""Vocabularies: merges, the curve over all sizes, inspection (``inspect``) and the choice of a size (``size``)."""
