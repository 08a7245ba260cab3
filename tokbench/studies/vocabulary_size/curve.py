"""The family ``curve``: counts ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tokbench.plugin import EncodedShard, Measured, MetricFamily, NotApplicable, Role, SummedMetric, TokenCounts


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
    values=(),
    companion="curve",
    comes_with="a study: write 'study: {vocabulary: {}}'",
    role=Role.ID_COUNTS,
)
