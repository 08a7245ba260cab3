"""The family ``curve``: counts each id, from which the tokens at every vocabulary size follow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tokbench.plugin import EncodedShard, Measured, MetricFamily, NotApplicable, Role, SummedMetric, TokenCounts


class CountTokens(SummedMetric):
    """Counts ids, by jackknife group."""

    def map(self, encoded: EncodedShard) -> TokenCounts:
        return TokenCounts.of(encoded)

    def finish(self, state: TokenCounts) -> Mapping[str, Measured | NotApplicable]:
        """Return no values: the run computes them from the merges of the tokenizer."""
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
