"""The conformance suite: it checks a backend against every sentence of :mod:`tokbench.tokenizers.contract`.

With pytest, two lines are a test file::

    import tokbench.testing
    test_conformance = tokbench.testing.conformance("my_backend", size=1)

Other assertions are :func:`assert_same_ids`, :func:`assert_lossless` and :func:`assert_not_worse`. Elsewhere,
:func:`check_backend` returns a report, and ``tokbench check --backend my_backend`` prints one.
"""

from __future__ import annotations

from tokbench.testing.assertions import assert_lossless, assert_not_worse, assert_same_ids
from tokbench.testing.report import ConformanceReport, RuleOutcome, State
from tokbench.testing.run import check_backend, conformance

__all__ = [
    "ConformanceReport",
    "RuleOutcome",
    "State",
    "assert_lossless",
    "assert_not_worse",
    "assert_same_ids",
    "check_backend",
    "conformance",
]
