"""The family ``usage``: shares of the vocabulary that a text uses, rarely uses, only builds, or never."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.foundation.errors import ContractError
from tokbench.inspect.usage import Usage, usage_classes
from tokbench.measuring.token_counts import DEPENDS_ON_AMOUNT, CountTable, add_tables
from tokbench.plugin import HasMerges, Tokenizer, vocab_size_of
from tokbench.plugin.metrics import EncodedShard, Measured, Metric, MetricFamily, NotApplicable, SummedMetric
from tokbench.tokenizers.curve import Curve
from tokbench.tokenizers.merges import MergeOrder, merge_order

Tables = tuple[CountTable, ...]


class UsageState(NamedTuple):
    """Counts in the output, and while merging (``None`` without listed merges)."""

    vocab_size: int
    documents: int
    emitted: Tables
    built: Tables | None

    def __add__(self, other: UsageState) -> UsageState:  # type: ignore[override]
        built = add_tables(self.built, other.built) if self.built and other.built else None
        documents = self.documents + other.documents
        return UsageState(self.vocab_size, documents, add_tables(self.emitted, other.emitted), built)


class UsageClasses(SummedMetric):
    """The text metric: classifies the ids of a vocabulary by their use in a text."""

    def map(self, encoded: EncodedShard) -> UsageState:
        vocab_size, order = vocab_size_of(encoded.tokenizer), encoded.loaded.cached("order of merges", _order)
        emitted = (CountTable.of(*encoded.id_counts),)
        state = UsageState(vocab_size, len(encoded.shard), emitted, None)
        if order is None:
            return state
        built = Curve(order, _dense(vocab_size, emitted)).built
        ids = np.flatnonzero(built)
        return state._replace(built=(CountTable.of(ids, built[ids]),))

    def finish(self, state: UsageState) -> Mapping[str, Measured | NotApplicable]:
        built = None if state.built is None else _dense(state.vocab_size, state.built)
        classes = usage_classes(_dense(state.vocab_size, state.emitted), built)
        values: dict[str, Measured | NotApplicable] = {
            f"usage_{usage}": Measured(len(ids) / state.vocab_size, state.documents) for usage, ids in classes.items()
        }
        if built is None:
            values[f"usage_{Usage.SCAFFOLD}"] = NotApplicable("the tokenizer does not list its merges in rank order")
        return values


def _order(tokenizer: Tokenizer) -> MergeOrder | None:
    try:
        return merge_order(tokenizer)
    except ContractError:
        return None


def _dense(vocab_size: int, tables: Tables) -> NDArray[np.int64]:
    dense = np.zeros(vocab_size, dtype=np.int64)
    for table in tables:
        dense[table.keys] += table.counts
    return dense


_VALUES: Final = {
    Usage.ACTIVE: (
        "ids with at least 5 of a million tokens",
        "Share of the vocabulary that the text really uses.",
    ),
    Usage.RARE: (
        "ids that occur less often and are no scaffold",
        "Share of the vocabulary that the text seldom uses.",
    ),
    Usage.SCAFFOLD: (
        "ids with fewer than 5 of a million tokens, emitted in less than 1/10 of the times that merges build them",
        "Share of the vocabulary that only serves to build longer tokens: candidates for under-trained tokens.",
    ),
    Usage.UNSEEN: (
        "ids that are not even built by a merge (without listed merges: that do not occur)",
        "Share of the vocabulary that the text never needs; special tokens and unused ids are among them.",
    ),
}


def _metric(usage: Usage, formula: str, definition: str) -> Metric:
    needs = (HasMerges,) if usage == Usage.SCAFFOLD else ()
    return Metric(f"usage_{usage}", "share of ids", "none", no_interval=DEPENDS_ON_AMOUNT, needs=needs).means(
        f"{formula} / vocab_size",
        f"{definition} It depends on the amount of text; the four classes add up to 1.",
    )


SPEC: Final = MetricFamily(
    name="usage",
    summary="usage classes: share of the vocabulary that is active, rare, scaffold or unseen",
    version=2,
    text=UsageClasses,
    values=tuple(_metric(usage, *says) for usage, says in _VALUES.items()),
)
