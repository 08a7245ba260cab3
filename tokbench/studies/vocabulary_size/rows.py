"""The numbers of each size on some text, with intervals."""

from __future__ import annotations

import base64
import zlib
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.measuring.metric import Measured, NotApplicable
from tokbench.measuring.sums import Sums
from tokbench.measuring.token_counts import renyi_entropy
from tokbench.studies.vocabulary_size.block import PackedCurve, SizeRow
from tokbench.studies.vocabulary_size.lines import Line, Place
from tokbench.tokenizers.curve import Curve


class TextTotals(NamedTuple):
    """The size of a text, the same for every tokenizer: float64[BUCKETS], UTF-8 bytes and words by jackknife group.

    ``words`` are ``None`` where groups have different units.
    """

    documents: int
    n_bytes: NDArray[np.float64]
    words: NDArray[np.float64] | None
    unit: str


def rows(place: Place, line: Line, text: TextTotals, sizes: list[int]) -> list[SizeRow]:
    """Return a row for each size with tokens of the text."""
    kept: list[SizeRow] = []
    for size in sizes:
        row = _row(place, line, text, size)
        if row is None:
            continue
        if kept:
            gained = row.compression_ratio - kept[-1].compression_ratio
            row = replace(row, gain=1000 * gained / (size - kept[-1].vocab_size))
        kept.append(row)
    return kept


def _row(place: Place, line: Line, text: TextTotals, size: int) -> SizeRow | None:
    k = line.at(size)
    tokens, counts = line.tokens[k], line.counts(k)
    columns = {"tokens": tokens, "bytes": text.n_bytes}
    columns |= {} if text.words is None else {"words": text.words}
    sums = Sums(text.documents, columns)
    ratio = sums.ratio("bytes", "tokens")
    if isinstance(ratio, NotApplicable):
        return None
    row = SizeRow(
        **place._asdict(),
        vocab_size=size,
        tokens=int(tokens.sum()),
        compression_ratio=ratio.value,
        ci_low=ratio.ci_low,
        ci_high=ratio.ci_high,
        entropy=renyi_entropy(counts[counts > 0], 1.0),
        used=int(np.count_nonzero(counts)),
        unit=text.unit,
    )
    fertility = sums.ratio("tokens", "words") if text.words is not None else None
    if not isinstance(fertility, Measured):
        return row
    low, high = fertility.ci_low, fertility.ci_high
    return replace(row, fertility=fertility.value, fertility_low=low, fertility_high=high)


def pack_curve(place: Place, curve: Curve, text: TextTotals) -> PackedCurve:
    """Return the packed curve of every size."""
    saved = base64.b64encode(zlib.compress((-np.diff(curve.tokens)).astype("<i8").tobytes(), 6)).decode()
    return PackedCurve(
        **place._asdict(),
        bytes=int(text.n_bytes.sum()),
        base=curve.order.base,
        units=int(curve.tokens[0]),
        saved=saved,
    )
