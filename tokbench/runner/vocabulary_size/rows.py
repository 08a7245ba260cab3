"""Lines -> rows of a table: what each size gives on some text, with intervals, and where the line bends."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.contracts.metric import Measured, NotApplicable
from tokbench.metrics.jackknife import student_t
from tokbench.metrics.sums import Sums
from tokbench.metrics.token_counts import renyi_entropy
from tokbench.runner.vocabulary_size.lines import Line
from tokbench.vocabulary.size.knee import knee

__all__ = ["Text", "find_knee", "rows"]


class Text(NamedTuple):
    """The side of the text, the same for every tokenizer.

    Attributes:
        documents: how many there are.
        n_bytes: float64[BUCKETS], UTF-8 bytes of each jackknife group.
        words: float64[BUCKETS], words; ``None`` where groups are counted in different units.
        unit: what a word is.
    """

    documents: int
    n_bytes: NDArray[np.float64]
    words: NDArray[np.float64] | None
    unit: str


def rows(line: Line, text: Text, sizes: list[int]) -> list[dict[str, Any]]:
    """What the sizes give; ``gain`` is against the size before, in bytes per token for 1,000 further tokens."""
    found: list[dict[str, Any]] = []
    for size in sizes:
        k = line.at(size)
        tokens = line.tokens[k]
        columns = {"tokens": tokens, "bytes": text.n_bytes}
        columns |= {} if text.words is None else {"words": text.words}
        sums = Sums(text.documents, columns)
        ratio = sums.ratio("bytes", "tokens")
        if isinstance(ratio, NotApplicable):
            continue
        counts = line.counts(k)
        row: dict[str, Any] = {
            "vocab_size": size,
            "tokens": int(tokens.sum()),
            "compression_ratio": ratio.value,
            "ci_low": ratio.ci_low,
            "ci_high": ratio.ci_high,
            "entropy": renyi_entropy(counts[counts > 0], 1.0),
            "used": int(np.count_nonzero(counts)),
            "gain": None,
            "fertility": None,
            "fertility_low": None,
            "fertility_high": None,
            "unit": text.unit,
        }
        fertility = sums.ratio("tokens", "words") if text.words is not None else None
        if isinstance(fertility, Measured):
            row |= {
                "fertility": fertility.value,
                "fertility_low": fertility.ci_low,
                "fertility_high": fertility.ci_high,
            }
        if found:
            before = found[-1]
            gained = row["compression_ratio"] - before["compression_ratio"]
            row["gain"] = 1000 * gained / (size - before["vocab_size"])
        found.append(row)
    return found


def find_knee(line: Line, text: Text) -> dict[str, Any] | None:
    """Where bytes per token turn from steep to flat over the logarithm of the size; ``None`` if nowhere.

    The replicates of its interval leave out each group of documents in turn.
    """
    tokens, n_bytes = line.tokens.sum(axis=1), text.n_bytes.sum()
    kept = np.flatnonzero((text.n_bytes > 0) & (text.n_bytes < n_bytes))
    curve = n_bytes / np.maximum(tokens, 1)
    if len(line.sizes) < 3 or not (np.diff(curve) >= 0).all() or curve[0] == curve[-1]:  # noqa: PLR2004 - a bend needs three
        return None
    replicates = (n_bytes - text.n_bytes[kept])[:, None] / np.maximum(tokens - line.tokens[:, kept].T, 1)
    enough = len(kept) > 1 and bool((np.diff(replicates, axis=1).max(axis=1) > 0).all())
    quantile = student_t(len(kept) - 1) if enough else 0.0
    found = knee(line.sizes, curve, replicates if enough else None, quantile=quantile)
    return None if found is None else found._asdict()
