"""Counts of pre-tokens: all that byte-level BPE with a split learns from text, small enough to keep and to add up.

``tokbench count`` makes a table of a corpus of any size, ``train: {counts: …}`` trains from it.
"""
