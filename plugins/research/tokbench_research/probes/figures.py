"""Probes of digits: arithmetic and dates."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

import numpy as np

from tokbench.measuring.spans import cut_patterns, find_spans
from tokbench.plugin.metrics import EncodedShard, Measured, NotApplicable
from tokbench_research.probes.text_probe import LAID, TextProbe, Values, probe_value, tokens_each

_SUMS: Final = (
    "327 + 614 = 941",
    "1234 + 5678 = 6912",
    "1000 + 2047 = 3047",
    "4096 + 7381 = 11477",
    "31415 + 27182 = 58597",
    "1048576 + 3141593 = 4190169",
)
_DIGITS: Final = re.compile(rb"[0-9]+")
_ISO_DATES: Final = ("1887-10-05", "1969-07-20", "1999-12-31", "2000-01-01", "2024-02-29", "2031-11-17")
_OTHER_DATES: Final = ("29/02/2024", "Feb 29, 2024", "2024-02-29T23:59:07Z")
_NOT_LAID: Final = NotApplicable("the tokens of a text could not be laid onto its bytes")


def _arithmetic(encoded: EncodedShard) -> Values:
    if not isinstance(encoded.tokenizer, LAID):
        return {}
    if not encoded.token_ends.aligned.all():
        return {"probe_operands_alike": _NOT_LAID}
    runs = find_spans(encoded.shard, _DIGITS)
    cut = cut_patterns(encoded, runs).reshape(-1, 3)
    return {"probe_operands_alike": Measured(float((cut[:, 0] == cut[:, 1]).mean()), len(encoded.shard))}


def _dates(encoded: EncodedShard) -> Values:
    values: dict[str, Measured | NotApplicable] = {"probe_dates": tokens_each(encoded)}
    if not isinstance(encoded.tokenizer, LAID):
        return values
    if not encoded.token_ends.aligned.all():
        return values | {"probe_dates_alike": _NOT_LAID}
    documents = np.searchsorted(encoded.shard.byte_offsets, encoded.boundaries, side="right") - 1
    inside = encoded.boundaries - encoded.shard.byte_offsets[np.minimum(documents, len(encoded.shard) - 1)]
    ways = Counter(tuple(inside[documents == k].tolist()) for k in range(len(_ISO_DATES)))
    return values | {"probe_dates_alike": Measured(max(ways.values()) / len(_ISO_DATES), len(_ISO_DATES))}


ARITHMETIC: Final = TextProbe(
    name="arithmetic",
    title="Arithmetic",
    explanation=(
        "Written sums are learnt column by column: units with units, tens with tens. That is easy where both operands "
        "are cut at the same places, as single digits or in threes from the right, and hard where 1234 is 123|4 or one "
        "token and 5678 is 56|78. Both operands of each sum have the same number of digits."
    ),
    texts=tuple((text, text) for text in _SUMS),
    values=(
        probe_value(
            "probe_operands_alike",
            "share of sums",
            "higher",
            "sums with both operands cut at the same places / sums",
            "How often two numbers of the same length that are added are cut alike.",
            LAID,
        ),
    ),
    measure=_arithmetic,
)

DATES: Final = TextProbe(
    name="dates",
    title="Dates",
    explanation=(
        "A date has three parts. Where years or days are cut now here, now there, a model cannot read the parts off "
        "the tokens; the first six dates have one format, so there is no reason to cut them differently."
    ),
    texts=tuple((text, text) for text in (*_ISO_DATES, *_OTHER_DATES)),
    values=(
        probe_value("probe_dates", "tokens/date", "lower", "Σ tokens / dates", "Tokens of a date, in four formats."),
        probe_value(
            "probe_dates_alike",
            "share of dates",
            "higher",
            "dates such as 2024-02-29 cut in the most frequent way / such dates",
            "Share of the dates of one format that are cut in the most frequent way.",
            LAID,
        ),
    ),
    measure=_dates,
)
