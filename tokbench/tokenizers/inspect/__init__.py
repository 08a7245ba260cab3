"""Inspection of vocabularies: the kinds of their ids, and ids that no text can give."""
