"""The family ``roundtrip``: texts that come back, and the causes of losses.

``causes`` lists the causes, ``folds`` finds the rewritings that explain a change, ``align`` finds the changed
stretches, ``compare`` finds the causes for one document, ``losses`` counts them over a corpus, and ``roundtrip`` is
the family.
"""

from tokbench.metrics.roundtrip.roundtrip import SPEC as SPEC
