"""Trainers of byte-level BPE beyond plain BPE, and adaptation of published vocabularies."""
