"""Metrics, probes and corpora of studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from tokbench.plugin import Encoded, Tokenizer, check_encoded, encode_batch

Counts = Mapping[str, NDArray[Any]]
"""By name, a number for each document of a shard."""


def encoded_again(tokenizer: Tokenizer, texts: Sequence[str]) -> Encoded:
    """Encode texts that a metric made; a ContractError names what is wrong with the ids."""
    arrays = encode_batch(tokenizer, texts)
    check_encoded(arrays, len(texts), tokenizer.vocab_size)
    return arrays
