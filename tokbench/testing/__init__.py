"""The conformance suite: it checks a backend against every sentence of :mod:`tokbench.contracts.tokenizer`.

In a plugin's own tests, with pytest, two lines are a test file::

    import tokbench.testing
    test_conformance = tokbench.testing.conformance("my_backend", size=1)

Anywhere else :func:`check_backend` returns a report, and ``tokbench check --backend my_backend`` prints one.
"""

from __future__ import annotations

from tokbench.testing.report import ConformanceReport, Outcome, State, Verdict
from tokbench.testing.run import check_backend, conformance

__all__ = ["ConformanceReport", "Outcome", "State", "Verdict", "check_backend", "conformance"]
