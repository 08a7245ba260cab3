"""Lists ids that a model hardly trained, by its own weights (Land and Bartolo 2024, "Fishing for Magikarp").

The indicator of an id that is never input nor target is small:

- Untied: the norm of its input row, which only weight decay changes.
- Tied: the cosine distance to the mean row of unused ids, as each step moves all their rows the same way.

The threshold comes from ids that are known to be unused; with too few, the lowest 2% are candidates.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench.foundation.errors import InputError, Problem
from tokbench.inspect.examine import InspectedToken, Inspection, token_of
from tokbench.inspect.glitch import Never, sort_unseen
from tokbench.inspect.matrices import Matrices, blocks, find_matrices
from tokbench.inspect.tokens import TokenKind, TokenListing, list_tokens
from tokbench.tokenizers.contract import Tokenizer

LEAST_UNUSED: Final = 5
"""Fewer give no threshold."""

_SHARE: Final = 0.02
"""Listed without a threshold."""

_UNUSED_QUANTILE: Final = 0.9
"""Some unused ids may have been used after all."""

_UNUSED_NAME: Final = re.compile("unused|reserved", re.IGNORECASE)
_NEVER_UTF8: Final = "never UTF-8"


@dataclass(frozen=True, slots=True)
class UnderTrained:
    """Ids that a model hardly trained."""

    tensor: str
    tied: bool
    """Whether it is the output, too."""
    unused: int
    """Rows that are known to be unused."""
    threshold: float
    """The largest indicator."""
    origin: str
    """Of the threshold."""
    candidates: list[InspectedToken]
    """Whole tokens, smallest indicator first."""
    apart: dict[str, list[InspectedToken]]
    """Others, by :class:`~tokbench.inspect.glitch.Never`."""
    indicators: list[float]
    """By id."""


def under_trained(
    tokenizer: Tokenizer, health: Inspection, weights: Path, tensor: str | None = None, output: str | None = None
) -> UnderTrained:
    """Look for ids that a model hardly trained, in a safetensors file or the index of several.

    ``tensor`` and ``output`` name the embedding and the output matrix; by default their usual names are looked for.

    Raises:
        InputError: the weights cannot be read or belong to another tokenizer, or a tied model has no unused id.
    """
    listing = list_tokens(tokenizer)
    matrices = find_matrices(weights, len(listing.data), tensor, output)
    unused = _unused(listing, health, matrices.embedding.shape[0])
    if matrices.tied:
        rows = matrices.embedding.rows(unused)
        unused = [row for row, numbers in zip(unused, rows, strict=True) if numbers.any()]
        if not unused:
            message = (
                f"the embedding {matrices.name!r} is the output, too, and no id is known to be unused to compare its "
                "row with; if the model has an output matrix, name it with --output-tensor"
            )
            raise InputError([Problem(str(weights), message)])
    indicators = _distances(matrices, unused) if matrices.tied else _norms(matrices)
    reference = _leave_one_out(matrices, unused) if matrices.tied else indicators[unused]
    known = len(reference) >= LEAST_UNUSED
    origin = "nine in ten of the unused ids have less" if known else "the lowest 2% of ids, as too few are unused"
    threshold = float(np.quantile(reference, _UNUSED_QUANTILE) if known else np.quantile(indicators, _SHARE))
    of_ids = indicators[: len(listing.data)]
    kinds = _sorted_kinds(listing, of_ids, threshold, health.unreachable)
    candidates = kinds.pop(Never.CANDIDATE.value, [])
    numbers = [float(f"{value:.6g}") for value in of_ids]
    return UnderTrained(matrices.name, matrices.tied, len(unused), threshold, origin, candidates, kinds, numbers)


def _unused(listing: TokenListing, health: Inspection, rows: int) -> list[int]:
    """Return rows of no id, no bytes, bytes that are never UTF-8, or unused by name."""
    never = {token.id for finding in health.findings if finding.rule == _NEVER_UTF8 for token in finding.tokens}
    gaps = {i for i, kind in enumerate(listing.kinds) if kind == TokenKind.GAP}
    named = {i for name, i in listing.special.items() if _UNUSED_NAME.search(name)}
    return sorted(never | gaps | named | set(range(len(listing.data), rows)))


def _norms(matrices: Matrices) -> NDArray[np.float64]:
    norms = [np.linalg.norm(block.astype(np.float64), axis=1) for block in blocks(matrices.embedding)]
    return np.concatenate(norms)


def _distances(matrices: Matrices, unused: list[int]) -> NDArray[np.float64]:
    mean = matrices.embedding.rows(unused).astype(np.float64).mean(axis=0)
    distances = [_cosine_distance(block.astype(np.float64), mean) for block in blocks(matrices.embedding)]
    return np.concatenate(distances)


def _leave_one_out(matrices: Matrices, unused: list[int]) -> NDArray[np.float64]:
    rows = matrices.embedding.rows(unused).astype(np.float64)
    others = (rows.sum(axis=0) - rows) / max(1, len(rows) - 1)
    return _cosine_distance(rows, others)


def _cosine_distance(rows: NDArray[np.float64], to: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cosine distance of rows to one row, or to a row for each; 0 for a row of zeros."""
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(to, axis=-1)
    cosine = np.divide((rows * to).sum(axis=1), lengths, out=np.ones(len(rows)), where=lengths > 0)
    return np.asarray(1 - cosine)


def _sorted_kinds(
    listing: TokenListing, indicators: NDArray[np.float64], threshold: float, unreachable: Collection[int]
) -> dict[str, list[InspectedToken]]:
    """Return ids up to the threshold by kind, smallest first."""
    low = np.flatnonzero(indicators <= threshold)
    low = low[np.argsort(indicators[low], kind="stable")]
    kinds = sort_unseen(listing, low, unreachable)
    return {
        kind.value: [token_of(listing, i, f"{indicators[i]:.3g}") for i in ids] for kind, ids in kinds.items() if ids
    }
