"""Inspection of vocabularies: the kinds of their ids, and ids that no text can give.

``tokens`` asks a tokenizer for the bytes of every id and sorts them by kind and script, ``fragments`` completes bytes
that are not UTF-8 by themselves, ``reach`` searches a text that gives an id, ``examine`` makes findings of these,
``usage`` classifies ids by their use in some texts, and ``glitch`` lists those that the texts never make.
"""
