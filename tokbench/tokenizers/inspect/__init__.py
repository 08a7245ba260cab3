"""Inspection of vocabularies."""
