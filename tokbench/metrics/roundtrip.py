"""The family ``roundtrip``: whether the text comes back, and what is lost where it does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from tokbench.metrics.contract import Measured, MetricSpec, NotApplicable, ValueSpec
from tokbench.metrics.sums import Sums
from tokbench.metrics.view import View
from tokbench.protocol import HasUnknown, Options

__all__ = ["SPEC", "Loss", "RoundTripState"]

_BEFORE, _AFTER = 12, 24


class Loss(NamedTuple):
    """The first difference in a document that does not come back; losses compare by place in the corpus.

    Attributes:
        group: the document's group.
        number: how many documents of the group come before it.
        origin: where a person finds the document.
        position: characters before the first difference.
        expected, got: what stands there in the text and in what came back, with a little context.
    """

    group: str
    number: int
    origin: str
    position: int
    expected: str
    got: str


class RoundTripState(NamedTuple):
    """Sums, whether there is an unknown token at all, and the first loss."""

    sums: Sums
    has_unknown: bool
    loss: Loss | None


class RoundTrip:
    """Compares every document with what comes back."""

    def __init__(self, _: Options) -> None: ...

    def map(self, view: View) -> RoundTripState:
        """The sums of one shard; distances are computed for lossy documents only."""
        from rapidfuzz.distance import Levenshtein

        shard, decoded = view.shard, view.decoded
        edits = np.zeros(len(shard), dtype=np.int64)
        lossy = np.flatnonzero(~view.exact).tolist()
        for k in lossy:
            edits[k] = Levenshtein.distance(shard.texts[k], decoded[k])
        unk_id = view.tokenizer.unk_id if isinstance(view.tokenizer, HasUnknown) else None
        unknown = np.zeros(len(shard), dtype=np.int64) if unk_id is None else view.count_ids(unk_id)
        sums = Sums.of(
            shard,
            documents=np.ones(len(shard), dtype=np.int64),
            exact=view.exact.astype(np.int64),
            edits=edits,
            characters=shard.n_chars,
            tokens=view.tokens,
            unknown=unknown,
        )
        return RoundTripState(sums, unk_id is not None, _first_loss(view, lossy[0]) if lossy else None)

    def merge(self, one: RoundTripState, other: RoundTripState) -> RoundTripState:
        """The sums of both, and the loss that comes first."""
        losses = [state.loss for state in (one, other) if state.loss]
        return RoundTripState(one.sums + other.sums, one.has_unknown or other.has_unknown, min(losses, default=None))

    def finish(self, state: RoundTripState) -> Mapping[str, Measured | NotApplicable]:
        """Ratios of sums."""
        values = {
            "roundtrip_exact": state.sums.share("exact", "documents"),
            "cer": state.sums.ratio("edits", "characters"),
            "unk_rate": NotApplicable("this vocabulary has no unknown token"),
        }
        if state.has_unknown:
            values["unk_rate"] = state.sums.share("unknown", "tokens")
        return values

    def raw(self, state: RoundTripState) -> Any:
        """The sums."""
        return state.sums.raw()

    def loss(self, state: RoundTripState) -> Mapping[str, Any] | None:
        """The first loss, and how many documents are lossy."""
        if state.loss is None:
            return None
        lossy = state.sums.columns["documents"].sum() - state.sums.columns["exact"].sum()
        excerpt = {name: getattr(state.loss, name) for name in ("origin", "position", "expected", "got")}
        return {"documents": int(lossy), **excerpt}


def _first_loss(view: View, k: int) -> Loss:
    text, back = view.shard.texts[k], view.decoded[k]
    position = next((i for i, (a, b) in enumerate(zip(text, back, strict=False)) if a != b), min(len(text), len(back)))
    start = max(0, position - _BEFORE)
    return Loss(
        group=view.shard.group,
        number=view.shard.first + k,
        origin=view.shard.origins[k],
        position=position,
        expected=text[start : position + _AFTER],
        got=back[start : position + _AFTER],
    )


SPEC: Final = MetricSpec(
    name="roundtrip",
    summary="share of documents that come back exactly, character error rate, unknown tokens",
    text=RoundTrip,
    values=(
        ValueSpec(
            id="roundtrip_exact",
            unit="share of documents",
            direction="higher",
            formula="documents with decode(encode(x)) = x / documents",
            definition="Share of documents that come back exactly, every document tested.",
        ),
        ValueSpec(
            id="cer",
            unit="edits/char",
            direction="lower",
            formula="Σ edit distance(x, decode(encode(x))) / Σ code points of x",
            definition="Character error rate: Levenshtein distance in code points, over the whole text.",
        ),
        ValueSpec(
            id="unk_rate",
            unit="share of tokens",
            direction="lower",
            formula="unknown tokens / tokens",
            definition="Share of tokens that are the unknown token. A low token count is not good where this is high.",
            needs=(HasUnknown,),
        ),
    ),
)
