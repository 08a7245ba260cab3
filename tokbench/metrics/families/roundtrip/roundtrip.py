"""The family ``roundtrip``: whether the text comes back, and what is lost where it does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from tokbench.metrics.families.roundtrip.align import edits
from tokbench.metrics.families.roundtrip.causes import CELLS
from tokbench.metrics.families.roundtrip.losses import Losses, find_losses
from tokbench.metrics.families.roundtrip.roundtrip_metrics import VALUES
from tokbench.plugin import EncodedShard, HasUnknown, LossSummary, Measured, MetricFamily, NotApplicable, Options, Sums

__all__ = ["SPEC", "RoundTripState"]


class RoundTripState(NamedTuple):
    """Sums, whether there is an unknown token at all, and the losses."""

    sums: Sums
    has_unknown: bool
    losses: Losses


class RoundTrip:
    """Compares every document with what comes back."""

    def __init__(self, _: Options) -> None: ...

    def map(self, encoded: EncodedShard) -> RoundTripState:
        """The sums of one shard; distances and causes are looked for in lossy documents only."""
        shard = encoded.shard
        distances = np.zeros(len(shard), dtype=np.int64)
        lossy = np.flatnonzero(~encoded.exact).tolist()
        for k in lossy:
            distances[k] = edits(shard.texts[k], encoded.decoded[k])
        losses, lost_spaces = find_losses(encoded, lossy)
        unk_id = encoded.tokenizer.unk_id if isinstance(encoded.tokenizer, HasUnknown) else None
        unknown = np.zeros(len(shard), dtype=np.int64) if unk_id is None else encoded.count_ids(unk_id)
        sums = Sums.of(
            shard,
            documents=np.ones(len(shard), dtype=np.int64),
            exact=encoded.exact.astype(np.int64),
            edits=distances,
            characters=shard.n_chars,
            tokens=encoded.tokens,
            unknown=unknown,
            **{"white-space characters": shard.n_spaces, "white space kept": shard.n_spaces - lost_spaces},
        )
        return RoundTripState(sums, unk_id is not None, losses)

    def merge(self, one: RoundTripState, other: RoundTripState) -> RoundTripState:
        """The sums of both, and the losses of both."""
        return RoundTripState(one.sums + other.sums, one.has_unknown or other.has_unknown, one.losses + other.losses)

    def finish(self, state: RoundTripState) -> Mapping[str, Measured | NotApplicable]:
        """Ratios of sums, and documents by cause."""
        values: dict[str, Measured | NotApplicable] = {
            "roundtrip_exact": state.sums.share("exact", "documents"),
            "cer": state.sums.ratio("edits", "characters"),
            "whitespace_fidelity": state.sums.share("white space kept", "white-space characters"),
            "unk_rate": NotApplicable("this vocabulary has no unknown token"),
        }
        if state.has_unknown:
            values["unk_rate"] = state.sums.share("unknown", "tokens")
        for cell, causes in CELLS.items():
            lost = sum(state.losses.by_cause[cause] for cause in causes)
            values[cell] = Measured(lost, state.sums.documents)
        return values

    def raw(self, state: RoundTripState) -> Any:
        """The sums; the losses have a place of their own."""
        return state.sums.raw()

    def loss(self, state: RoundTripState) -> LossSummary | None:
        """Return the number of lossy documents, by cause, and the first of each."""
        return state.losses.summary()


SPEC: Final = MetricFamily(
    name="roundtrip",
    summary="share of documents that come back exactly, character error rate, unknown tokens, losses by cause",
    text=RoundTrip,
    values=VALUES,
)
