"""Tokenizers as users name them, and their texts."""

from __future__ import annotations

import tokbench
from tokbench.plugin import Tokenizer


def loaded(tokenizer: Tokenizer | str) -> Tokenizer:
    """Return a tokenizer, which may be a name for :func:`tokbench.load`.

    >>> loaded("utf8_bytes").encode("né")
    [110, 195, 169]
    """
    return tokbench.load(tokenizer) if isinstance(tokenizer, str) else tokenizer
