"""The family ``curve``: counts each id, from which the tokens at every vocabulary size are computed later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from tokbench.plugin import EncodedShard, Measured, MetricFamily, NotApplicable, Options, Role, TokenCounts


class CountTokens:
    """Counts ids, by jackknife group."""

    def __init__(self, _: Options) -> None: ...

    def map(self, encoded: EncodedShard) -> TokenCounts:
        """Count the ids of one shard."""
        return TokenCounts.of(encoded)

    def merge(self, one: TokenCounts, other: TokenCounts) -> TokenCounts:
        """Add the counts of both."""
        return one.merged(other)

    def finish(self, state: TokenCounts) -> Mapping[str, Measured | NotApplicable]:
        """Return no values: the run computes them, because they need the merges of the tokenizer."""
        del state
        return {}

    def raw(self, state: TokenCounts) -> Any:
        """Return how many documents there are, and how many different ids."""
        ids = [table.ids() for table in state.tables]
        return {"documents": state.documents, "distinct": len(np.unique(np.concatenate(ids)))}


SPEC: Final = MetricFamily(
    name="curve",
    summary="how often each id occurs: the basis of 'study: vocabulary'",
    text=CountTokens,
    values=(),
    companion="curve",
    role=Role.ID_COUNTS,
)
