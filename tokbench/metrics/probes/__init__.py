"""The family ``probes``: the classic questions to a tokenizer, in the order in which a report shows them."""

from __future__ import annotations

from typing import Final

from tokbench.metrics.probes.figures import ARITHMETIC, DATES
from tokbench.metrics.probes.formats import EMOJI, FORMATS, URLS
from tokbench.metrics.probes.glitch import GLITCH
from tokbench.metrics.probes.spelling import CASE, SPACES, SPELLING
from tokbench.plugin import MetricFamily

__all__ = ["PROBES", "SPEC"]

PROBES: Final = (CASE, SPACES, SPELLING, ARITHMETIC, DATES, FORMATS, URLS, EMOJI, GLITCH)

SPEC: Final = MetricFamily(
    name="probes",
    summary="the classic probes: case, spaces, spelling, sums, dates, formats, addresses, emoji, glitch tokens",
    probes=lambda _: PROBES,
    values=tuple(value for probe in PROBES for value in probe.values),
)
