"""The family ``curve``: counts ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tokbench.measuring.encoded_shard import EncodedShard
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.metric import Measured, NotApplicable, Role
from tokbench.measuring.sums import SummedMetric
from tokbench.measuring.token_counts import TokenCounts


class CountTokens(SummedMetric):
    """Counts ids, by jackknife group."""

    def map(self, encoded: EncodedShard) -> TokenCounts:
        return TokenCounts.of(encoded)

    def finish(self, state: TokenCounts) -> Mapping[str, Measured | NotApplicable]:
        """The run computes values from the merges."""
        del state
        return {}


SPEC: Final = MetricFamily(
    name="curve",
    summary="how often each id occurs: the basis of 'study: vocabulary'",
    text=CountTokens,
    from_counts=True,
    values=(),
    role=Role.ID_COUNTS,
)
