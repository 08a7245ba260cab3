"""Lossy documents by cause, with the first of each."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.measuring.encoded_shard import EncodedShard
from tokbench.measuring.metric import LossSummary
from tokbench.metrics.roundtrip.causes import LossContext, LossKind
from tokbench.metrics.roundtrip.compare import LossFinding, compare
from tokbench.results.blocks import LossCause, LossExample
from tokbench.tokenizers.contract import HasDummyPrefix, HasSpecialTokens, HasTokenBytes, HasUnknown

_BEFORE, _AFTER = 12, 24


class Example(NamedTuple):
    """The first difference in a lossy document; compared by place in the corpus."""

    group: str
    number: int
    origin: str
    position: int
    expected: str
    got: str

    def shown(self) -> LossExample:
        return LossExample(origin=self.origin, position=self.position, expected=self.expected, got=self.got)


class Losses(NamedTuple):
    """Lossy documents."""

    by_cause: Counter[LossKind]
    """By the first difference."""
    taking_part: Counter[LossKind]
    """By each cause in a document."""
    first: dict[LossKind, Example]

    def __add__(self, other: Losses) -> Losses:  # type: ignore[override]
        first = dict(self.first)
        for cause, example in other.first.items():
            first[cause] = min(first.get(cause, example), example)
        return Losses(self.by_cause + other.by_cause, self.taking_part + other.taking_part, first)

    def summary(self) -> LossSummary | None:
        if not self.by_cause:
            return None
        causes = [
            LossCause(
                cause=cause.value,
                documents=self.by_cause[cause],
                taking_part=self.taking_part[cause],
                first=self.first[cause].shown() if cause in self.first else None,
            )
            for cause in LossKind
            if self.taking_part[cause]
        ]
        return LossSummary(self.by_cause.total(), min(self.first.values()).shown(), causes)


def find_losses(encoded: EncodedShard, lossy: list[int]) -> tuple[Losses, NDArray[np.int64]]:
    """Return losses, and int64[d], the white-space code points that each document lost."""
    losses = Losses(Counter(), Counter(), {})
    lost_spaces = np.zeros(len(encoded.shard), dtype=np.int64)
    if not lossy:
        return losses, lost_spaces
    tokenizer = encoded.tokenizer
    unk_id = tokenizer.unk_id if isinstance(tokenizer, HasUnknown) else None
    surface = None if unk_id is None else tokenizer.decode([unk_id])
    special = tuple(tokenizer.special_ids) if isinstance(tokenizer, HasSpecialTokens) else ()
    for k in lossy:
        ids = encoded.ids[encoded.offsets[k] : encoded.offsets[k + 1]]
        unknown = unk_id is not None and bool((ids == unk_id).any())
        context = LossContext(surface if unknown else None, special, _data(encoded, k, ids))
        difference = compare(encoded.shard.texts[k], encoded.decoded[k], context)
        lost_spaces[k] = difference.lost_spaces
        losses.by_cause[difference.cause] += 1
        losses.taking_part.update(difference.causes)
        if difference.cause not in losses.first:
            losses.first[difference.cause] = _example(encoded, k, difference)
    return losses, lost_spaces


def _data(encoded: EncodedShard, k: int, ids: NDArray[np.uint32]) -> bytes | None:
    """Return ``None`` if unknown, or not the text's."""
    tokenizer = encoded.tokenizer
    if not isinstance(tokenizer, HasTokenBytes):
        return None
    prefix = tokenizer.dummy_prefix if isinstance(tokenizer, HasDummyPrefix) else b""
    length = int(encoded.loaded.byte_lengths(ids).sum())
    if length - int(encoded.shard.n_bytes[k]) not in {0, len(prefix)}:
        return None
    return b"".join(map(tokenizer.token_bytes, ids.tolist())).removeprefix(prefix)


def _example(encoded: EncodedShard, k: int, difference: LossFinding) -> Example:
    start, end = max(0, difference.position - _BEFORE), difference.position + _AFTER
    return Example(
        group=encoded.shard.group,
        number=encoded.shard.first + k,
        origin=encoded.shard.origins[k],
        position=difference.position,
        expected=encoded.shard.texts[k][start:end],
        got=encoded.decoded[k][start:end],
    )
