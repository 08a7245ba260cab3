"""The family ``curve``: how often each id occurs, from which a study knows the tokens at every vocabulary size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tokbench.plugin import EncodedShard, Measured, MetricFamily, NotApplicable, Options, Role, TokenCounts

__all__ = ["SPEC"]


class CountTokens:
    """Counts ids, by jackknife group."""

    def __init__(self, _: Options) -> None:
        pass

    def map(self, encoded: EncodedShard) -> TokenCounts:
        """Count the ids of one shard."""
        return TokenCounts.of(encoded)

    def merge(self, one: TokenCounts, other: TokenCounts) -> TokenCounts:
        """Add the counts of both."""
        return one.merged(other)

    def finish(self, state: TokenCounts) -> Mapping[str, Measured | NotApplicable]:
        """Return nothing: the values are made by the study, which knows the merges."""
        del state
        return {}

    def raw(self, state: TokenCounts) -> Any:
        """Return the number of documents and of different ids."""
        return {"documents": state.documents, "distinct": state.distinct()}


SPEC: Final = MetricFamily(
    name="curve",
    summary="how often each id occurs: what 'study: vocabulary' rests on",
    text=CountTokens,
    values=(),
    companion="curve",
    role=Role.ID_COUNTS,
)
