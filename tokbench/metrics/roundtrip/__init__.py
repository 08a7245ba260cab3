"""The family ``roundtrip``: texts that round-trip, and the causes of losses."""

from tokbench.metrics.roundtrip.roundtrip import SPEC as SPEC
