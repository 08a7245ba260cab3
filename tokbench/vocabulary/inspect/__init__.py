"""Vocabulary health: what a vocabulary holds, and what of it no text can use.

``tokens`` asks a tokenizer for the bytes of every id and sorts them by kind and script, ``fragments``
completes bytes that are not UTF-8 alone, ``reach`` looks for a text that gives an id, ``examine`` puts
these together into findings, and ``usage`` says what a corpus makes of a vocabulary.
"""
