"""Fidelity: whether texts come back, and why where they do not.

``causes`` says what can happen to a text and how each is told from the others, ``folds`` which
rewritings explain a change, ``align`` where two texts differ, ``compare`` puts these together for one
document, ``losses`` counts them over a corpus, and ``roundtrip`` makes a metric family of it.
"""
