"""The family ``compression``: text per token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tokbench.plugin import EncodedShard, Measured, Metric, MetricFamily, NotApplicable, Role, SummedMetric, Sums


class Compression(SummedMetric):
    """Sums of tokens, bytes and characters."""

    def map(self, encoded: EncodedShard) -> Sums:
        return Sums.of(
            encoded.shard, tokens=encoded.tokens, bytes=encoded.shard.n_bytes, characters=encoded.shard.n_chars
        )

    def finish(self, state: Sums) -> Mapping[str, Measured | NotApplicable]:
        return {
            "tokens": state.total("tokens"),
            "bytes": state.total("bytes"),
            "chars": state.total("characters"),
            "compression_ratio": state.ratio("bytes", "tokens"),
            "chars_per_token": state.ratio("characters", "tokens"),
        }


SPEC: Final = MetricFamily(
    name="compression",
    summary="bytes and characters per token",
    text=Compression,
    values=(
        Metric(
            id="compression_ratio",
            unit="bytes/token",
            direction="higher",
            label="compression",
            headline=True,
            role=Role.TEXT_PER_TOKEN,
            formula="Σ bytes / Σ tokens",
            definition=(
                "UTF-8 bytes of text that one token holds on average. Comparable between tokenizers on the "
                "same text; not between languages, because scripts differ in bytes per character."
            ),
        ),
        Metric(
            id="chars_per_token",
            unit="chars/token",
            direction="higher",
            label="chars/token",
            formula="Σ code points / Σ tokens",
            definition="Unicode code points that one token holds on average.",
        ),
        Metric(
            id="tokens",
            unit="tokens",
            direction="lower",
            formula="Σ tokens",
            definition="Tokens of the text, documents encoded one by one, no special token added.",
        ),
        Metric(
            id="bytes",
            unit="bytes",
            direction="none",
            loss_cannot_help="it is counted on the text alone",
            formula="Σ bytes",
            definition="Size of the text in UTF-8.",
        ),
        Metric(
            id="chars",
            unit="chars",
            direction="none",
            loss_cannot_help="it is counted on the text alone",
            formula="Σ code points",
            definition="Size of the text in Unicode code points.",
        ),
    ),
)
