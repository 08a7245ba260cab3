"""The family ``roundtrip``: texts that are decoded as they were, and the causes of losses.

``causes`` lists the causes, ``folds`` finds the rewritings that explain a change, ``compare`` finds the causes for one
document, ``losses`` counts them over a corpus, and ``roundtrip`` is the family.
"""

from tokbench.metrics.roundtrip.roundtrip import SPEC as SPEC
