"""The theme of names: tokens of a name, by naming style."""

from __future__ import annotations

import re
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.words.find import Spans
from tokbench.measuring.counted import TOKEN_PLACES, Counts
from tokbench.measuring.encoded_shard import EncodedShard
from tokbench.measuring.metric import Metric
from tokbench.measuring.spans import cuts
from tokbench.plugin.metrics import Shard, find_spans, sum_by_document

_NAME: Final = re.compile(rb"(?<![\w\x80-\xff])[A-Za-z_][A-Za-z0-9_]*(?![\w\x80-\xff])")

STYLES: Final = {
    "snake": ("snake_case", re.compile(rb"_*[a-z][a-z0-9]*(?:_+[a-z0-9]+)+_*")),
    "screaming": ("SCREAMING_CASE", re.compile(rb"_*[A-Z][A-Z0-9]*(?:_+[A-Z0-9]+)*_*(?<=..)")),
    "camel": ("camelCase", re.compile(rb"_*[a-z][a-z0-9]*[A-Z][A-Za-z0-9]*_*")),
    "pascal": ("PascalCase", re.compile(rb"_*[A-Z]+[a-z0-9]+[A-Z][A-Za-z0-9]*_*")),
    "plain": ("plain", re.compile(rb"_*(?:[A-Za-z]|[A-Za-z]?[a-z0-9]+)_*")),
}
"""Name and pattern; the first that matches counts."""


def style_of(name: bytes) -> int:
    """Return the place of a name's style in :data:`STYLES`; ``len(STYLES)`` for any other style.

    >>> names = [b"max_size", b"MAX_SIZE", b"maxSize", b"MaxSize", b"size", b"Size", b"X", b"__init__", b"Max_size"]
    >>> [style_of(name) for name in names]
    [0, 1, 2, 3, 4, 4, 4, 4, 5]
    """
    fits = (number for number, (_, pattern) in enumerate(STYLES.values()) if pattern.fullmatch(name))
    return next(fits, len(STYLES))


def _find(shard: Shard) -> tuple[Spans, NDArray[np.int64]]:
    spans = find_spans(shard, _NAME)
    text = "".join(shard.texts).encode()
    names = [text[start:end] for start, end in zip(spans.starts.tolist(), spans.ends.tolist(), strict=True)]
    styles = {name: style_of(name) for name in set(names)}
    return spans, np.fromiter((styles[name] for name in names), dtype=np.int64, count=len(names))


def count(encoded: EncodedShard) -> Counts:
    """Count names and the tokens that they touch."""
    spans, styles = encoded.shard.cached("identifiers", lambda: _find(encoded.shard))
    tokens = cuts(encoded, spans) + 1
    columns = {
        "identifiers": sum_by_document(encoded, spans),
        "identifier tokens": sum_by_document(encoded, spans, tokens),
        "whole identifiers": sum_by_document(encoded, spans, tokens == 1),
    }
    for number, name in enumerate(STYLES):
        columns[f"{name} names"] = sum_by_document(encoded, spans, styles == number)
        columns[f"{name} tokens"] = sum_by_document(encoded, spans, tokens * (styles == number))
    return columns


_IS: Final = (
    "An identifier is a run of ASCII letters, digits and underscores that does not begin with a digit. "
    "Keywords count, and so do words in strings and comments. Tokens are counted in the running text, by bytes."
)
_STYLES: Final = {
    "snake": "small letters, and an underscore inside",
    "screaming": "capitals only, at least two characters",
    "camel": "begins with a small letter and has a capital",
    "pascal": "begins with a capital, and has another after a small letter",
    "plain": "one word, its first letter large or small, or one letter",
}

_TOUCHED: Final = "Σ tokens that an identifier touches / Σ identifiers"
_tokens = partial(Metric, unit="tokens/identifier", direction="lower", needs=TOKEN_PLACES)

METRICS: Final = (
    _tokens("identifier_tokens", of=("identifier tokens", "identifiers"), headline=True).means(
        _TOUCHED, f"Tokens per name. {_IS}"
    ),
    _tokens(
        "identifiers_whole", unit="share of identifiers", direction="higher", of=("whole identifiers", "identifiers")
    ).means("identifiers without a token boundary inside / identifiers", f"Share of names that are not cut. {_IS}"),
    *(
        _tokens(f"identifier_tokens_{name}", of=(f"{name} tokens", f"{name} names")).means(
            f"{_TOUCHED}, those in {style} ({_STYLES[name]})",
            "The same for one naming style; underscores at the ends of a name do not matter for its style.",
        )
        for name, (style, _) in STYLES.items()
    ),
)
