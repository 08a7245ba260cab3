"""The family ``compression``: text per token."""

from __future__ import annotations

from functools import partial
from typing import Final

from tokbench.measuring.counted import Counts, counted
from tokbench.measuring.encoded_shard import EncodedShard
from tokbench.measuring.metric import Metric, Role


def _count(encoded: EncodedShard, _: object) -> Counts:
    return {"tokens": encoded.tokens, "bytes": encoded.shard.n_bytes, "characters": encoded.shard.n_chars}


_of_text = partial(Metric, direction="none", loss_cannot_help="it is counted on the text alone")

SPEC: Final = counted(
    "compression",
    "bytes and characters per token",
    _count,
    Metric(
        "compression_ratio",
        "bytes/token",
        "higher",
        label="compression",
        of=("bytes", "tokens"),
        headline=True,
        role=Role.TEXT_PER_TOKEN,
    ).means(
        "Σ bytes / Σ tokens",
        "UTF-8 bytes of text that one token holds on average. Comparable between tokenizers on the "
        "same text; not between languages, because scripts differ in bytes per character.",
    ),
    Metric("chars_per_token", "chars/token", "higher", of=("characters", "tokens"), label="chars/token").means(
        "Σ code points / Σ tokens", "Unicode code points that one token holds on average."
    ),
    Metric("tokens", "tokens", "lower", of=("tokens",)).means(
        "Σ tokens", "Tokens of the text, documents encoded one by one, no special token added."
    ),
    _of_text("bytes", "bytes", of=("bytes",)).means("Σ bytes", "Size of the text in UTF-8."),
    _of_text("chars", "chars", of=("characters",)).means("Σ code points", "Size of the text in Unicode code points."),
    from_counts=True,
)
